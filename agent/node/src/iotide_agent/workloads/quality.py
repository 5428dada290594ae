"""Quality flags that a workload decides from its own steps, with the measured value and the limit."""

from collections.abc import Mapping
from itertools import islice
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from iotide_agent.workloads.base import IN_MEMORY, AnyLabels, Before, Place, StepOutcome
from iotide_wire.expressions import MEMORY, MEMORY_FACTOR
from iotide_wire.measured import Answer, Check, Flag, FlagCode, FlagEffect, NotJudged
from iotide_wire.plan import CachePolicy
from iotide_wire.units import format_bytes, format_percent, format_seconds

SHORT_SECONDS: Final = 30.0
"""A shorter data phase does not show the steady state."""
PUBLISHABLE_SECONDS: Final = 300.0
"""Minimum data phase of the IO500 list."""
SHORT_METADATA_SECONDS: Final = 1.0
CLOCK_TICKS: Final = 1000
"""A figure from fewer clock ticks has an error above one per mille and is rejected."""
CLOCK_RATIO: Final = 0.01
CLOCK_SLACK_SECONDS: Final = 0.01
"""Some tools count milliseconds and round up."""
_OWN_CACHES: Final = {"gpfs": "the pagepool of GPFS", "zfs": "the ARC of ZFS, which only shrinks"}
"""File systems with a cache of their own, in addition to those of FUSE. A drop of the kernel's caches leaves it."""
_DIRECT_ON_ZFS: Final = frozenset({"standard", "always"})
"""Values of the property `direct`, which ZFS has from 2.3 on. Older releases accept O_DIRECT and use the ARC."""
MOST_TEXT: Final = 4000
"""Maximum characters of one text in a message to the server."""
AnswerT = TypeVar("AnswerT", Flag, Answer)
SOURCE_BUSY_RATIO: Final = 0.8
"""A data source that was busy for more of the time was about as slow as the program that it feeds."""


class SourceReport(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    wall_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    user_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    system_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    source_busy_ratio: Annotated[float, Field(le=1, allow_inf_nan=False)]


def marked(
    code: FlagCode, measured: str, limit: str, labels: AnyLabels | None = None, target_id: int | None = None
) -> Flag:
    flag = Flag(code=code, effect=FlagEffect.MARKED, measured=measured[:MOST_TEXT], limit=limit, target_id=target_id)
    return flag.model_copy(update={"labels": dict(labels)}) if labels else flag


def rejected(code: FlagCode, measured: str, limit: str) -> Flag:
    return Flag(code=code, effect=FlagEffect.REJECTED, measured=measured[:MOST_TEXT], limit=limit)


def source_report(outcome: StepOutcome) -> SourceReport | None:
    try:
        return SourceReport.model_validate_json(outcome.stdout)
    except ValidationError:
        return None


def judge_duration(phase: str, seconds: float, clock_seconds: float) -> list[Answer]:
    """Return DURATION if a data phase was short; `clock_seconds` is the clock's resolution."""
    limits = {SHORT_SECONDS: "short", PUBLISHABLE_SECONDS: "not publishable"}
    return _judge_duration(phase, seconds, clock_seconds, limits)


def judge_metadata_duration(phase: str, seconds: float, clock_seconds: float) -> list[Answer]:
    return _judge_duration(phase, seconds, clock_seconds, {SHORT_METADATA_SECONDS: "raise the file count"})


def _judge_duration(phase: str, seconds: float, clock_seconds: float, limits: Mapping[float, str]) -> list[Answer]:
    measured = f"{phase} took {format_seconds(seconds)}"
    if seconds < CLOCK_TICKS * clock_seconds:
        limit = f"{CLOCK_TICKS} ticks of a {format_seconds(clock_seconds)} clock"
        return [rejected(FlagCode.DURATION, measured, limit)]
    crossed = (f"{format_seconds(limit)}; {what}" for limit, what in limits.items() if seconds < limit)
    return [marked(FlagCode.DURATION, measured, limit) for limit in islice(crossed, 1)]


def judge_clock(outcome: StepOutcome, tool_seconds: float) -> list[Answer]:
    """Return TOOL_CLOCK if a tool reports more time than its process lived.

    Tools that use the time of day are wrong if it was set. Less time is their start-up.
    """
    limit = max(CLOCK_RATIO * outcome.wall_seconds, CLOCK_SLACK_SECONDS)
    if tool_seconds - outcome.wall_seconds <= limit:
        return []
    measured = (
        f"{outcome.step.name} took {format_seconds(tool_seconds)} by the tool's clock, "
        f"{format_seconds(outcome.wall_seconds)} by the agent's"
    )
    return [marked(FlagCode.TOOL_CLOCK, measured, f"{format_percent(CLOCK_RATIO)} longer than the process")]


def judge_cache_size(place: Place, place_bytes: int, *, direct: bool) -> list[Answer]:
    """Return CACHE_SIZE for data that fits into memory, or a target in memory.

    O_DIRECT helps unless the file system has a cache that it does not bypass. `place_bytes` are for one target; other
    targets fill the same memory.
    """
    if place.fstype in IN_MEMORY:
        measured = f"the target is in memory ({place.fstype}), so memory is measured"
        return [marked(FlagCode.CACHE_SIZE, measured, "a target on a disk or a server")]
    data_bytes = place_bytes * place.target_count
    memory_bytes = place.facts.get(MEMORY)
    kept = kept_despite_direct(place) if direct else ""
    if direct and not kept:
        return []
    if not isinstance(memory_bytes, int | float):
        return [NotJudged(check=Check.CACHE_SIZE, because="the node does not report its memory")]
    if data_bytes >= MEMORY_FACTOR * memory_bytes:
        return []
    wanted_bytes = MEMORY_FACTOR * memory_bytes
    limit = f"{MEMORY_FACTOR} x memory = {format_bytes(wanted_bytes)}"
    if kept:
        measured = f"{format_bytes(data_bytes)} of data; O_DIRECT does not bypass {kept}"
        return [marked(FlagCode.CACHE_SIZE, measured, limit)]
    has_room = place.free_bytes * place.target_count >= wanted_bytes
    room = "or O_DIRECT" if has_room else f"but {format_bytes(place.free_bytes)} are free; use O_DIRECT"
    return [marked(FlagCode.CACHE_SIZE, f"{format_bytes(data_bytes)} of data; may be cached", f"{limit}, {room}")]


def judge_cache_drop(place: Place, outcome: StepOutcome, *, direct: bool) -> list[Answer]:
    """Return CACHE_DROP if a read phase began warm, also in a file system's own cache."""
    if outcome.before_done in {Before.REMOUNT, Before.LARGER_THAN_MEMORY}:
        return []
    if direct and not kept_despite_direct(place):
        return []
    began, done = f"{outcome.step.name} began warm", outcome.before_done
    if done not in {Before.DROP, Before.DROP_FILES}:
        measured = (
            f"{began}: only {done} was done before it" if done is not Before.NONE else f"{began}: no cache was emptied"
        )
        return [marked(FlagCode.CACHE_DROP, measured, "caches dropped or target remounted")]
    if place.fstype in IN_MEMORY:
        because = f"{place.fstype} keeps its files in memory, so nothing can empty it"
        return [NotJudged(check=Check.CACHE_DROP, because=because, phase=outcome.step.name)]
    kept = _own_cache(place.fstype)
    limit = f"a cache policy of {CachePolicy.REMOUNT} or {CachePolicy.LARGER_THAN_MEMORY}"
    return [marked(FlagCode.CACHE_DROP, f"{began}: {done} does not empty {kept}", limit)] if kept else []


def kept_despite_direct(place: Place) -> str:
    """Return the cache that O_DIRECT does not bypass on this file system, or ""."""
    if place.fstype == "zfs" and place.facts.get("zfs.direct") in _DIRECT_ON_ZFS:
        return ""
    # Such a program reads and writes its disk through the kernel's cache, whatever its own files are opened with.
    return "the page cache of the disk below fuseblk" if place.fstype == "fuseblk" else _own_cache(place.fstype)


def _own_cache(fstype: str) -> str:
    # Not fuseblk: such a program reads its disk through the kernel, whose cached pages of the disk are dropped.
    if fstype == "fuse" or fstype.startswith("fuse."):
        return f"the caches of the program behind {fstype}"
    return _OWN_CACHES.get(fstype, "")


def judge_flush(phase: str, *, flushed: bool) -> list[Answer]:
    if flushed:
        return []
    measured = f"{phase} ends with the data in the page cache"
    return [rejected(FlagCode.FSYNC, measured, "fsync within the measured time")]


def judge_data(data: str) -> list[Answer]:
    return judge_reducible("zeroes were written") if data == "zeroes" else []


def judge_reducible(measured: str) -> list[Answer]:
    return [marked(FlagCode.ZEROES, measured, "random data, if storage compresses or deduplicates")]


def judge_warm(operation: str, tool: str) -> list[Answer]:
    measured = f"{operation} began warm: {tool} reads what it has just written"
    return [marked(FlagCode.CACHE_DROP, measured, "caches dropped or target remounted")]


def judge_source(outcome: StepOutcome) -> list[Answer]:
    """Return CLIENT_BOUND if the data source was the limit; see loads/random_source.py."""
    report = source_report(outcome)
    if report is None:
        because = "the source of random data left no report"
        return [NotJudged(check=Check.DATA_SOURCE, because=because, phase=outcome.step.name)]
    if report.source_busy_ratio <= SOURCE_BUSY_RATIO:
        return []
    measured = (
        f"{outcome.step.name}: the source of random data was busy "
        f"{format_percent(report.source_busy_ratio)} of the time"
    )
    limit = f"{format_percent(SOURCE_BUSY_RATIO)}; above it the source is measured"
    return [marked(FlagCode.CLIENT_BOUND, measured, limit)]


def about(flag: AnswerT, labels: AnyLabels, place: Place) -> AnswerT:
    if isinstance(flag, NotJudged):
        return flag
    return flag.model_copy(update={"labels": dict(labels), "target_id": place.target_id})


def judge_direct(place: Place, *, wanted: bool) -> list[Answer]:
    if not wanted or place.direct_works:
        return []
    because = place.cached_because or f"{place.fstype} refuses O_DIRECT; buffered instead"
    return [marked(FlagCode.NO_DIRECT, because, "O_DIRECT")]
