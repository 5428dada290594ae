"""Quality flags that a workload can judge from its own steps, with the measured value and the limit it crossed."""

from collections.abc import Mapping
from itertools import islice
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from iotide_agent.workloads.base import AnyLabels, Before, Place, StepOutcome
from iotide_wire.expressions import MEMORY, MEMORY_FACTOR
from iotide_wire.measured import Answer, Check, Flag, FlagCode, FlagEffect, NotJudged
from iotide_wire.plan import CachePolicy
from iotide_wire.units import format_bytes, format_percent, format_seconds

SHORT_SECONDS: Final = 30.0
"""A shorter data phase says little of the steady state."""
PUBLISHABLE_SECONDS: Final = 300.0
"""The IO500 list asks for data phases at least this long."""
SHORT_METADATA_SECONDS: Final = 1.0
CLOCK_TICKS: Final = 1000
"""A figure from fewer ticks of its clock has an error above one per mille and is rejected."""
CLOCK_RATIO: Final = 0.01
CLOCK_SLACK_SECONDS: Final = 0.01
"""Some tools count milliseconds and round up."""
_OWN_CACHES: Final = {"gpfs": "the pagepool of GPFS", "zfs": "the ARC of ZFS, which it only makes smaller"}
MOST_TEXT: Final = 4000
"""Letters that a message to the server may have in one text."""
AnswerT = TypeVar("AnswerT", Flag, Answer)
IN_MEMORY: Final = frozenset({"tmpfs", "ramfs"})
"""File systems that are the node's memory: neither a size nor O_DIRECT takes their numbers out of it."""
SOURCE_BUSY_RATIO: Final = 0.8
"""A source of data that waited less than the rest of the time was about as slow as what it feeds."""


class SourceReport(BaseModel):
    """What loads/random_source.py says of the program that it fed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    wall_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    user_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    system_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    source_busy_ratio: Annotated[float, Field(le=1, allow_inf_nan=False)]


def marked(
    code: FlagCode, measured: str, limit: str, labels: AnyLabels | None = None, target_id: int | None = None
) -> Flag:
    """Return a mark on the samples that bear these labels, or on the whole run."""
    flag = Flag(code=code, effect=FlagEffect.MARKED, measured=measured[:MOST_TEXT], limit=limit, target_id=target_id)
    return flag.model_copy(update={"labels": dict(labels)}) if labels else flag


def rejected(code: FlagCode, measured: str, limit: str) -> Flag:
    """Return the flag of a run that is not comparable."""
    return Flag(code=code, effect=FlagEffect.REJECTED, measured=measured[:MOST_TEXT], limit=limit)


def source_report(outcome: StepOutcome) -> SourceReport | None:
    """The report of a step whose data came from the random source, else None."""
    try:
        return SourceReport.model_validate_json(outcome.stdout)
    except ValidationError:
        return None


def judge_duration(phase: str, seconds: float, clock_seconds: float) -> list[Answer]:
    """DURATION of a data phase; `clock_seconds` is the resolution of the clock that `seconds` came from."""
    limits = {SHORT_SECONDS: "short", PUBLISHABLE_SECONDS: "not publishable"}
    return _judge_duration(phase, seconds, clock_seconds, limits)


def judge_metadata_duration(phase: str, seconds: float, clock_seconds: float) -> list[Answer]:
    """DURATION of a phase that creates, looks up or removes files."""
    return _judge_duration(phase, seconds, clock_seconds, {SHORT_METADATA_SECONDS: "raise the file count"})


def _judge_duration(phase: str, seconds: float, clock_seconds: float, limits: Mapping[float, str]) -> list[Answer]:
    measured = f"{phase} took {format_seconds(seconds)}"
    if seconds < CLOCK_TICKS * clock_seconds:
        limit = f"{CLOCK_TICKS} ticks of a {format_seconds(clock_seconds)} clock"
        return [rejected(FlagCode.DURATION, measured, limit)]
    crossed = (f"{format_seconds(limit)}; {what}" for limit, what in limits.items() if seconds < limit)
    return [marked(FlagCode.DURATION, measured, limit) for limit in islice(crossed, 1)]


def judge_clock(outcome: StepOutcome, tool_seconds: float) -> list[Answer]:
    """CLOCK: a tool that says that its work took longer than the process lived; shorter is what its start-up makes it.

    Tools that take the time of day are wrong by whatever it was set meanwhile; the agent's clock is never set.
    """
    limit = max(CLOCK_RATIO * outcome.wall_seconds, CLOCK_SLACK_SECONDS)
    if tool_seconds - outcome.wall_seconds <= limit:
        return []
    measured = (
        f"{outcome.step.name} took {format_seconds(tool_seconds)} by its tool, "
        f"{format_seconds(outcome.wall_seconds)} by the agent"
    )
    return [marked(FlagCode.CLOCK, measured, f"{format_percent(CLOCK_RATIO)} longer than the process")]


def judge_cache_size(place: Place, place_bytes: int, *, direct: bool) -> list[Answer]:
    """CACHE_SIZE: data that the node's memory could hold, moved without O_DIRECT, or of a target that is memory.

    `place_bytes` are of all writers on this place; other targets fill the same memory.
    """
    if place.fstype in IN_MEMORY:
        measured = f"the target is memory ({place.fstype}): its numbers are memory numbers"
        return [marked(FlagCode.CACHE_SIZE, measured, "a target on a disk or a server")]
    data_bytes = place_bytes * place.target_count
    memory_bytes = place.facts.get(MEMORY)
    if direct:
        return []
    if not isinstance(memory_bytes, int | float):
        return [NotJudged(check=Check.CACHE_SIZE, because="the node does not report its memory")]
    if data_bytes >= MEMORY_FACTOR * memory_bytes:
        return []
    wanted_bytes = MEMORY_FACTOR * memory_bytes
    has_room = place.free_bytes * place.target_count >= wanted_bytes
    room = "or O_DIRECT" if has_room else f"of which {format_bytes(place.free_bytes)} have room; take O_DIRECT"
    limit = f"{MEMORY_FACTOR} x memory = {format_bytes(wanted_bytes)}, {room}"
    return [marked(FlagCode.CACHE_SIZE, f"{format_bytes(data_bytes)} of data; may be cached", limit)]


def judge_cache_drop(place: Place, outcome: StepOutcome, *, direct: bool) -> list[Answer]:
    """CACHE_DROP: a read phase that began with what a cache still held.

    Where the file system caches in a memory of its own, the kernel's drop of caches leaves that as it is.
    """
    if direct or outcome.before_done in {Before.REMOUNT, Before.LARGER_THAN_MEMORY}:
        return []
    began, done = f"{outcome.step.name} began warm", outcome.before_done
    if done not in {Before.DROP, Before.DROP_FILES}:
        measured = f"{began}: {done} was all that was done before it"
        return [marked(FlagCode.CACHE_DROP, measured, "caches dropped or remounted")]
    if place.fstype in IN_MEMORY:
        because = f"{place.fstype} keeps its files in memory, so nothing can empty it"
        return [NotJudged(check=Check.CACHE_DROP, because=because, phase=outcome.step.name)]
    kept = _own_cache(place.fstype)
    limit = f"a cache policy of {CachePolicy.REMOUNT} or {CachePolicy.LARGER_THAN_MEMORY}"
    return [marked(FlagCode.CACHE_DROP, f"{began}: {done} does not empty {kept}", limit)] if kept else []


def _own_cache(fstype: str) -> str:
    """What a file system reads from besides the kernel's page cache; nothing where that is all."""
    # fuseblk is left out: such a program reads its disk through the kernel, whose pages of the disk are dropped.
    if fstype == "fuse" or fstype.startswith("fuse."):
        return f"the caches of the program behind {fstype}"
    return _OWN_CACHES.get(fstype, "")


def judge_flush(phase: str, *, flushed: bool) -> list[Answer]:
    """FSYNC: a write whose time ends before the data is on stable storage."""
    if flushed:
        return []
    measured = f"{phase} ends with the data in the page cache"
    return [rejected(FlagCode.FSYNC, measured, "fsync inside the time")]


def judge_data(data: str) -> list[Answer]:
    """ZEROES: what a file system or an array can compress or dedupe away."""
    return judge_reducible("zeroes were written") if data == "zeroes" else []


def judge_reducible(measured: str) -> list[Answer]:
    """ZEROES of data that is known to compress or dedupe; `measured` says what it is."""
    return [marked(FlagCode.ZEROES, measured, "random data where anything compresses or dedupes")]


def judge_warm(operation: str, tool: str) -> list[Answer]:
    """CACHE_DROP of a tool that reads what it has just written, without a pause to empty caches."""
    measured = f"{operation} began warm: {tool} reads what it has just written"
    return [marked(FlagCode.CACHE_DROP, measured, "caches dropped or remounted")]


def judge_source(outcome: StepOutcome) -> list[Answer]:
    """CLIENT_BOUND: the source of the data was busier than the file system; see loads/random_source.py."""
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
    """The flag for the samples of one place that bear these labels, instead of for the whole run.

    What was not judged stays as it is.
    """
    if isinstance(flag, NotJudged):
        return flag
    return flag.model_copy(update={"labels": dict(labels), "target_id": place.target_id})


def judge_direct(place: Place, *, wanted: bool) -> list[Answer]:
    """NO_DIRECT: O_DIRECT was asked for, the file system refuses it, so the run was buffered instead."""
    if not wanted or place.direct_works:
        return []
    return [marked(FlagCode.NO_DIRECT, f"{place.fstype} refuses O_DIRECT; buffered instead", "O_DIRECT")]
