"""DEGRADED, ERRORS and TIME_SET: problems of the storage or the node's clock during the run."""

from collections.abc import Mapping
from typing import Any, Final

from iotide_agent.probes.condition import Condition
from iotide_agent.workloads.quality import marked, rejected
from iotide_wire.measured import Answer, Check, FlagCode, NotJudged
from iotide_wire.units import format_percent, format_seconds

STEP_RATIO: Final = 0.01
STEP_SECONDS: Final = 1.0
_READ_SECONDS: Final = 0.01
"""Maximum usual delay of a process between reading two clocks."""


def judge_condition(before: Condition | None, after: Condition | None) -> list[Answer]:
    """Return DEGRADED by conditions at start or end, and ERRORS by kernel counters that rose.

    ioerr_cnt of SCSI disks is not used, because monitoring raises it with unknown inquiries.
    """
    found: list[Answer] = []
    limit = "no degradation, rebuild or scrub"
    for condition, when in ((before, "start"), (after, "end")):
        if condition is not None and condition.troubles:
            measured = f"at the {when} of the run: {'; '.join(condition.troubles)}"
            found.append(marked(FlagCode.DEGRADED, measured, limit))
    unread = _unread(before, after)
    if not found and unread:
        found.append(NotJudged(check=Check.STORAGE_CONDITION, because=unread))
    return [*found, *_judge_errors(before, after)]


def _judge_errors(before: Condition | None, after: Condition | None) -> list[Answer]:
    if before is None or after is None:
        return [NotJudged(check=Check.STORAGE_ERRORS, because=_unread(before, after))]
    rises = _rises(before.errors, after.errors)
    if rises:
        return [rejected(FlagCode.ERRORS, "; ".join(rises), "no errors in the whole run")]
    once = sorted(before.errors.keys() ^ after.errors.keys())
    return [NotJudged(check=Check.STORAGE_ERRORS, because=f"read only once: {', '.join(once)}"[:4000])] if once else []


def _unread(before: Condition | None, after: Condition | None) -> str:
    missing = [when for condition, when in ((before, "before"), (after, "after")) if condition is None]
    if missing:
        return f"it was not read {' and '.join(missing)} the run"
    unread = dict.fromkeys(name for condition in (before, after) if condition for name in condition.unread)
    return "; ".join(unread)[:4000]


def judge_clock(ended: Mapping[str, Any]) -> list[Answer]:
    """Return TIME_SET if the time of day was set during the run, which falsifies tools that use it. NTP only slews."""
    names = [f"{which}_at_{clock}_seconds" for clock in ("epoch", "boottime") for which in ("started", "ended")]
    started, ended_, boot_started, boot_ended = (ended.get(name) for name in names)
    if started is None or ended_ is None or boot_started is None or boot_ended is None:
        return [NotJudged(check=Check.CLOCK, because="the runner recorded no start or end")]
    lasted = boot_ended - boot_started
    step = (ended_ - started) - lasted
    limit = min(STEP_SECONDS, max(STEP_RATIO * lasted, _READ_SECONDS))
    if lasted < 0 or abs(step) <= limit:
        return []
    measured = (
        f"the time of day was set by {'-' if step < 0 else '+'}{format_seconds(abs(step))} within "
        f"{format_seconds(lasted)}"
    )
    limit = f"{format_seconds(STEP_SECONDS)}, or {format_percent(STEP_RATIO)} of the run"
    return [marked(FlagCode.TIME_SET, measured, limit)]


def _rises(before: Mapping[str, int], after: Mapping[str, int]) -> list[str]:
    both = sorted(before.keys() & after.keys())
    return [f"{name} rose from {before[name]} to {after[name]}" for name in both if after[name] > before[name]]
