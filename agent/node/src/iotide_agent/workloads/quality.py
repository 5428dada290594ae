"""Quality flags that a workload can judge from its own steps, with the measured value and the limit it crossed."""

from typing import Final

from iotide_agent.workloads.base import Before, Place, StepOutcome
from iotide_wire.messages import Flag, FlagCode, FlagEffect
from iotide_wire.units import format_bytes

SHORT_SECONDS: Final = 30.0
"""A shorter data phase says little of the steady state."""
PUBLISHABLE_SECONDS: Final = 300.0
"""The IO500 list asks for data phases at least this long."""
SHORT_METADATA_SECONDS: Final = 1.0
CLOCK_TICKS: Final = 1000
"""A figure from fewer ticks of its clock has an error above one per mille and is rejected."""
MEMORY_FACTOR: Final = 2
"""A file below this many times the memory may have been measured in the cache."""


def judge_duration(phase: str, seconds: float, clock_seconds: float) -> list[Flag]:
    """DURATION of a data phase; `clock_seconds` is the resolution of the clock that `seconds` came from."""
    if seconds < CLOCK_TICKS * clock_seconds:
        return [_duration(phase, seconds, FlagEffect.REJECTED, f"{CLOCK_TICKS} ticks of a {clock_seconds:g} s clock")]
    if seconds < SHORT_SECONDS:
        return [_duration(phase, seconds, FlagEffect.MARKED, f"{SHORT_SECONDS:g} s; short")]
    if seconds < PUBLISHABLE_SECONDS:
        return [_duration(phase, seconds, FlagEffect.MARKED, f"{PUBLISHABLE_SECONDS:g} s; not publishable")]
    return []


def judge_metadata_duration(phase: str, seconds: float, clock_seconds: float) -> list[Flag]:
    """DURATION of a phase that creates, looks up or removes files."""
    if seconds < CLOCK_TICKS * clock_seconds:
        return [_duration(phase, seconds, FlagEffect.REJECTED, f"{CLOCK_TICKS} ticks of a {clock_seconds:g} s clock")]
    if seconds < SHORT_METADATA_SECONDS:
        return [_duration(phase, seconds, FlagEffect.MARKED, f"{SHORT_METADATA_SECONDS:g} s; raise the file count")]
    return []


def judge_cache_size(place: Place, data_bytes: int, *, direct: bool) -> list[Flag]:
    """CACHE_SIZE: data that the node's memory could hold, moved without O_DIRECT."""
    memory_bytes = place.facts.get("memory.total_bytes")
    if direct or not isinstance(memory_bytes, int | float) or data_bytes >= MEMORY_FACTOR * memory_bytes:
        return []
    limit = f"{MEMORY_FACTOR} x memory = {format_bytes(MEMORY_FACTOR * memory_bytes)}, or O_DIRECT"
    return [_marked(FlagCode.CACHE_SIZE, f"{format_bytes(data_bytes)} of data; may be cached", limit)]


def judge_cache_drop(outcome: StepOutcome, *, direct: bool) -> list[Flag]:
    """CACHE_DROP: a read phase that began with what the cache still held."""
    if direct or outcome.before_done in {Before.DROP, Before.REMOUNT}:
        return []
    measured = f"{outcome.step.name} began warm: {outcome.before_done} was all that was done before it"
    return [_marked(FlagCode.CACHE_DROP, measured, "caches dropped or remounted")]


def judge_flush(phase: str, *, flushed: bool) -> list[Flag]:
    """FSYNC: a write whose time ends before the data is on stable storage."""
    if flushed:
        return []
    measured = f"{phase} ends with the data in the page cache"
    return [Flag(code=FlagCode.FSYNC, effect=FlagEffect.REJECTED, measured=measured, limit="fsync inside the time")]


def judge_direct(place: Place, *, wanted: bool) -> list[Flag]:
    """NO_DIRECT: O_DIRECT was asked for, the file system refuses it, so the run was buffered instead."""
    if not wanted or place.direct_works:
        return []
    return [_marked(FlagCode.NO_DIRECT, f"{place.fstype} refuses O_DIRECT; buffered instead", "O_DIRECT")]


def _duration(phase: str, seconds: float, effect: FlagEffect, limit: str) -> Flag:
    return Flag(code=FlagCode.DURATION, effect=effect, measured=f"{phase} took {seconds:.3g} s", limit=limit)


def _marked(code: FlagCode, measured: str, limit: str) -> Flag:
    return Flag(code=code, effect=FlagEffect.MARKED, measured=measured, limit=limit)
