"""CUT: a run that something other than the storage ended early."""

from collections.abc import Sequence
from typing import Final

from iotide_agent.workloads.base import Step
from iotide_agent.workloads.quality import rejected
from iotide_wire.measured import Flag, FlagCode
from iotide_wire.messages import Outcome
from iotide_wire.units import format_bytes

TIME_LIMIT: Final = "time_limit"
_FROM_OUTSIDE: Final = frozenset({TIME_LIMIT, "node_shut_down", "agent_stopped", "batch_ended"})
"""Codes of ends that neither the tool nor the target caused."""


def judge_cut(outcome: Outcome, code: str | None, reason: str | None, *, is_killed: bool) -> list[Flag]:
    """Return CUT for a run that was ended from outside, also by another program's signal; otherwise ERRORS."""
    if outcome is Outcome.CANCELLED or code in _FROM_OUTSIDE or is_killed:
        return [rejected(FlagCode.CUT, reason or "the run was ended before its work was done", "the complete work")]
    return [rejected(FlagCode.ERRORS, reason or "the run failed", "no errors in the whole run")]


def limit_reason(reason: str | None, reached: str) -> str:
    came = f" {reached}" if reached else ""
    return f"{reason or 'ended by its time limit'}{came}; raise the limit or reduce the size"


def how_far(group: Sequence[Step], written_bytes: int, read_bytes: int) -> str:
    moved = written_bytes + read_bytes
    planned = sum(step.bytes_moved or 0 for step in group)
    if not moved or not planned or not all(step.bytes_moved for step in group):
        return f"while {', '.join(dict.fromkeys(step.phase for step in group))}" if group else ""
    verb = "writing" if written_bytes >= read_bytes else "reading"
    return f"after {verb} {format_bytes(min(moved, planned))} of {format_bytes(planned)}"
