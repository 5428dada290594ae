"""Records of an agent about one run."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import Final

from iotide_server.demo_history.commands import Command, Phase
from iotide_server.demo_history.sites import SampleLoad, SampleTarget
from iotide_wire.expressions import MEMORY_FACTOR
from iotide_wire.foreign import ForeignBefore, ForeignDuring, ForeignLoad
from iotide_wire.measured import Flag, FlagCode, FlagEffect, StepRecord
from iotide_wire.messages import CurvePiece
from iotide_wire.units import MIB, format_bytes, format_seconds

_STARTUP_SECONDS: Final = 0.03
_BETWEEN_STEPS: Final = timedelta(seconds=2)  # for writing back and emptying caches
_CLEANING: Final = timedelta(seconds=1)
_USER_RATIO: Final = 0.02
_SYSTEM_RATIO: Final = 0.15
_RESIDENT_BYTES: Final = 24 * MIB
_MOST_VALUES: Final = 200
_READS: Final = frozenset({"read", "reread"})
_IDLE_SECONDS: Final = 20.0
_RANDOM: Final = "random data, if storage compresses or deduplicates"
_OWN_CACHES: Final = {"gpfs": "the pagepool of GPFS"}
_SHORT_SECONDS: Final = 30.0
_PUBLISHABLE_SECONDS: Final = 300.0

_Labels = dict[str, str | int | float | bool]


def steps_of(commands: Sequence[Command], began_at: datetime) -> tuple[StepRecord, ...]:
    steps: list[StepRecord] = []
    at = began_at
    for command in commands:
        at += _BETWEEN_STEPS
        seconds = command.seconds + _STARTUP_SECONDS
        steps.append(
            StepRecord(
                name=command.name,
                phase=command.title,
                argv=command.argv,
                target_id=None,
                writer=None,
                started_at=at,
                wall_seconds=seconds,
                user_seconds=_USER_RATIO * seconds,
                system_seconds=_SYSTEM_RATIO * seconds,
                max_rss_bytes=_RESIDENT_BYTES,
                exit_status=0,
                signal=None,
                before_done=command.before,
            )
        )
        at += timedelta(seconds=seconds)
    return tuple(steps)


def end_of(steps: Sequence[StepRecord]) -> datetime:
    return steps[-1].started_at + timedelta(seconds=steps[-1].wall_seconds) + _CLEANING


def curves_of(commands: Sequence[Command], steps: Sequence[StepRecord]) -> tuple[CurvePiece, ...]:
    began_at = steps[0].started_at
    stretches = list(_stretches(commands, steps))
    seconds = (steps[-1].started_at - began_at).total_seconds() + steps[-1].wall_seconds
    step_seconds = float(max(1, ceil(seconds / _MOST_VALUES)))
    count = ceil(seconds / step_seconds)
    found = []
    for counter, is_read in (("read_bytes_per_second", True), ("write_bytes_per_second", False)):
        values = [0.0] * count
        for first, phase in stretches:
            if (phase.operation in _READS) is is_read:
                _spread(values, first, phase, step_seconds)
        if any(values):
            found.append(
                CurvePiece(counter=counter, started_at=began_at, step_seconds=step_seconds, values=tuple(values))
            )
    return tuple(found)


def quiet_node(processors: int, commands: Sequence[Command]) -> ForeignLoad:
    before = ForeignBefore(
        seconds=_IDLE_SECONDS,
        waited_seconds=0.0,
        processors=processors,
        running_tasks=0.1,
        load1=0.2,
        cpu_ratio=0.002,
        psi_cpu_ratio=0.0,
        psi_io_ratio=0.0,
        disk_bytes_per_second=0.0,
        network_bytes_per_second=20e3,
        sessions=0,
        jobs=None,
        excess="",
    )
    during = ForeignDuring(
        seconds=sum(command.seconds for command in commands),
        cpu_ratio=0.002,
        storage_ratio=None,
        storage_bytes_per_second=None,
        network_ratio=None,
        network_bytes_per_second=None,
        psi_cpu_ratio=0.0,
        psi_io_ratio=0.0,
    )
    return ForeignLoad(before=before, during=during)


def _stretches(commands: Sequence[Command], steps: Sequence[StepRecord]) -> Iterator[tuple[float, Phase]]:
    for command, step in zip(commands, steps, strict=True):
        at = (step.started_at - steps[0].started_at).total_seconds() + _STARTUP_SECONDS
        for phase in command.phases:
            if phase.bytes_per_second is not None:
                yield at, phase
            at += phase.seconds


def _spread(values: list[float], first: float, phase: Phase, step_seconds: float) -> None:
    rate = phase.bytes_per_second or 0.0
    last = first + phase.seconds
    for index in range(int(first / step_seconds), min(len(values), ceil(last / step_seconds))):
        begins = index * step_seconds
        inside = min(last, begins + step_seconds) - max(first, begins)
        values[index] += rate * max(0.0, inside) / step_seconds


def cautions_of(
    load: SampleLoad, mounted: SampleTarget, memory_bytes: int, commands: Sequence[Command]
) -> tuple[Flag, ...]:
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
    pattern = "iozone fills all its records from one pattern, which compresses to less than 1 %"
    yield _marked(FlagCode.ZEROES, pattern, _RANDOM, {})
    for size in dict.fromkeys(int(figure.labels["file_size_bytes"]) for figure in load.figures):
        yield from _cached(size, memory_bytes, {"file_size_bytes": size, "direct": False})
    for operation in dict.fromkeys(phase.operation for phase in phases):
        if operation in {"read", "reread"}:
            measured = f"{operation} began warm: iozone reads what it has just written"
            yield _marked(FlagCode.CACHE_DROP, measured, "caches dropped or target remounted", {"operation": operation})
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
