"""The quality flags that an agent would have raised on a run of the sample data, in its words."""

from collections.abc import Iterator, Sequence
from typing import Final

from iotide_server.demo_history.commands import Command, Phase
from iotide_server.demo_history.sites import SampleLoad, SampleTarget
from iotide_wire.expressions import MEMORY_FACTOR
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.units import format_bytes, format_seconds

_RANDOM: Final = "random data where anything compresses or dedupes"
_OWN_CACHES: Final = {"gpfs": "the pagepool of GPFS"}
_SHORT_SECONDS: Final = 30.0
_PUBLISHABLE_SECONDS: Final = 300.0

_Labels = dict[str, str | int | float | bool]


def cautions_of(
    load: SampleLoad, mounted: SampleTarget, memory_bytes: int, commands: Sequence[Command]
) -> tuple[Flag, ...]:
    """Return the flags of one run on a node with this memory."""
    if load.workload == "iozone":
        [command] = commands
        return tuple(_of_iozone(load, memory_bytes, command.phases))
    found = list(_warm_reads(load, mounted))
    if load.workload == "dd":
        found += (flag for command in commands for flag in _of_dd(load, memory_bytes, command))
    return tuple(found)


def _warm_reads(load: SampleLoad, mounted: SampleTarget) -> Iterator[Flag]:
    kept = _OWN_CACHES.get(mounted.fstype)
    if kept is None or load.workload == "fio":
        return
    names = ("operation", "item") if load.workload == "mdtest" else ("operation",)
    for figure in load.figures:
        operation = figure.labels["operation"]
        if operation in {"read", "stat"}:
            measured = f"{operation} began warm: drop does not empty {kept}"
            limit = "a cache policy of remount or larger_than_memory"
            yield _marked(FlagCode.CACHE_DROP, measured, limit, {name: figure.labels[name] for name in names})


def _of_dd(load: SampleLoad, memory_bytes: int, command: Command) -> Iterator[Flag]:
    labels: _Labels = {"operation": command.name}
    yield from _cached(load.options["file_size_bytes"], memory_bytes, labels)
    yield from _short(command.name, command.seconds, labels)
    if command.name == "write" and load.options.get("data") != "random":
        yield _marked(FlagCode.ZEROES, "zeroes were written", _RANDOM, labels)


def _of_iozone(load: SampleLoad, memory_bytes: int, phases: Sequence[Phase]) -> Iterator[Flag]:
    yield _marked(FlagCode.ZEROES, "iozone fills all its records from one pattern", _RANDOM, {})
    for size in dict.fromkeys(int(figure.labels["file_size_bytes"]) for figure in load.figures):
        yield from _cached(size, memory_bytes, {"file_size_bytes": size, "direct": False})
    for operation in dict.fromkeys(phase.operation for phase in phases):
        if operation in {"read", "reread"}:
            measured = f"{operation} began warm: iozone reads what it has just written"
            yield _marked(FlagCode.CACHE_DROP, measured, "caches dropped or remounted", {"operation": operation})
    yield from _short("the shortest of the other cells", min(phase.seconds for phase in phases), {})


def _cached(size_bytes: int, memory_bytes: int, labels: _Labels) -> Iterator[Flag]:
    enough_bytes = MEMORY_FACTOR * memory_bytes
    if size_bytes < enough_bytes:
        measured = f"{format_bytes(size_bytes)} of data; may be cached"
        limit = f"{MEMORY_FACTOR} x memory = {format_bytes(enough_bytes)}, or O_DIRECT"
        yield _marked(FlagCode.CACHE_SIZE, measured, limit, labels)


def _short(what: str, seconds: float, labels: _Labels) -> Iterator[Flag]:
    if seconds < _PUBLISHABLE_SECONDS:
        is_short = seconds < _SHORT_SECONDS
        limit = (
            f"{format_seconds(_SHORT_SECONDS)}; short"
            if is_short
            else f"{format_seconds(_PUBLISHABLE_SECONDS)}; not publishable"
        )
        yield _marked(FlagCode.DURATION, f"{what} took {format_seconds(seconds)}", limit, labels)


def _marked(code: FlagCode, measured: str, limit: str, labels: _Labels) -> Flag:
    return Flag(code=code, effect=FlagEffect.MARKED, measured=measured, limit=limit, labels=labels)
