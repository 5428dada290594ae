"""What an agent records of the commands of one run: steps, per-second values, and a node that others left alone."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import Final

from iotide_server.demo_history.commands import Command, Phase
from iotide_wire.foreign import ForeignBefore, ForeignDuring, ForeignLoad
from iotide_wire.measured import StepRecord
from iotide_wire.messages import CurvePiece
from iotide_wire.units import MIB

_STARTUP_SECONDS: Final = 0.03
_BETWEEN_STEPS: Final = timedelta(seconds=2)  # in which caches are written back and emptied
_CLEANING: Final = timedelta(seconds=1)
_USER_RATIO: Final = 0.02
_SYSTEM_RATIO: Final = 0.15
_RESIDENT_BYTES: Final = 24 * MIB
_MOST_VALUES: Final = 200
_READS: Final = frozenset({"read", "reread"})
_IDLE_SECONDS: Final = 20.0


def steps_of(commands: Sequence[Command], began_at: datetime) -> tuple[StepRecord, ...]:
    """The commands as they ran one after another from that moment on."""
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
    """When the run of these steps had removed its files."""
    return steps[-1].started_at + timedelta(seconds=steps[-1].wall_seconds) + _CLEANING


def curves_of(commands: Sequence[Command], steps: Sequence[StepRecord]) -> tuple[CurvePiece, ...]:
    """What the commands read and wrote in the course of the run; none of files without data."""
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
    """A node that nobody else used before and during the run."""
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
    """Each phase that moves data, with the seconds from the first step to its start."""
    for command, step in zip(commands, steps, strict=True):
        at = (step.started_at - steps[0].started_at).total_seconds() + _STARTUP_SECONDS
        for phase in command.phases:
            if phase.bytes_per_second is not None:
                yield at, phase
            at += phase.seconds


def _spread(values: list[float], first: float, phase: Phase, step_seconds: float) -> None:
    """Add what the phase moves to the values of the steps that it is in."""
    rate = phase.bytes_per_second or 0.0
    last = first + phase.seconds
    for index in range(int(first / step_seconds), min(len(values), ceil(last / step_seconds))):
        begins = index * step_seconds
        inside = min(last, begins + step_seconds) - max(first, begins)
        values[index] += rate * max(0.0, inside) / step_seconds
