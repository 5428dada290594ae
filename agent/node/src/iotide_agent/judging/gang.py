"""GANG: nodes of one program over several nodes lost contact for seconds, or its launcher hung after the results."""

from collections.abc import Mapping
from typing import Any, Final

from iotide_agent.mpi.groups import LINGER_SECONDS
from iotide_agent.workloads.quality import marked, rejected
from iotide_wire.measured import Answer, FlagCode
from iotide_wire.units import format_seconds

SILENCE_LIMIT_SECONDS: Final = 3.0
"""Nodes say something each second, and lose each other after five seconds of silence."""


def judge_gang(ended: Mapping[str, Any]) -> list[Answer]:
    """Reject a run whose nodes lost contact for seconds, which looks slow, and mark one whose launcher was killed."""
    seen = ended.get("gang") or {}
    silent_seconds = seen.get("longest_silence_seconds", 0.0)
    found: list[Answer] = []
    if silent_seconds > SILENCE_LIMIT_SECONDS:
        measured = f"another node of the program was silent for {format_seconds(silent_seconds)}"
        found.append(rejected(FlagCode.GANG, measured, f"at most {format_seconds(SILENCE_LIMIT_SECONDS)}"))
    if hung := seen.get("hung_steps"):
        measured = f"{', '.join(hung)}: the launcher ran on after the whole output and was killed"
        found.append(marked(FlagCode.GANG, measured, f"at most {format_seconds(LINGER_SECONDS)}"))
    return found
