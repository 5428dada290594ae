"""Others' use of the node during a run, in phases in which the load can be distinguished."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from iotide_agent.judging.foreign import (
    IN_KERNEL,
    foreign_bytes,
    foreign_processors,
    is_distinguishable,
    why_cpu_unknown,
)
from iotide_agent.judging.phases import NETWORK, STORAGE, ParallelSteps
from iotide_agent.workloads.base import Place
from iotide_wire.foreign import ForeignDuring
from iotide_wire.measured import StepRole

_HEADERS: Final = 1.25
"""Maximum bytes over the network per byte of a file, with requests, answers and headers."""
_SENT: Final = frozenset({StepRole.SENDER, StepRole.RECEIVER})


class _Moved(NamedTuple):
    foreign: float
    total: float
    seconds: int


def measure_foreign(phases: Sequence[ParallelSteps], places: tuple[Place, ...]) -> ForeignDuring | None:
    distinguishable = [phase for phase in phases if is_distinguishable(phase)]
    if not distinguishable:
        return None
    stored = [moved for phase in distinguishable if (moved := _at_storage(phase, places))]
    carried = [moved for phase in distinguishable if (moved := _on_network(phase, places))]
    return ForeignDuring(
        seconds=float(sum(len(phase.rows) for phase in distinguishable)),
        cpu_ratio=_mean((foreign_processors(phase, places), len(phase.rows)) for phase in distinguishable),
        storage_ratio=_ratio(stored),
        storage_bytes_per_second=_rate(stored),
        network_ratio=_ratio(carried),
        network_bytes_per_second=_rate(carried),
        psi_cpu_ratio=_mean((phase.mean("psi_cpu_some_ratio"), len(phase.rows)) for phase in distinguishable),
        psi_io_ratio=_mean((phase.mean("psi_io_some_ratio"), len(phase.rows)) for phase in distinguishable),
    )


def why_unmeasured(phases: Sequence[ParallelSteps], places: tuple[Place, ...]) -> str:
    reasons = [why_cpu_unknown(phase, places) for phase in phases]
    if not phases or not all(reasons):
        return "" if phases else "no step ran"
    return "; ".join(f"{phase.name} {why}" for phase, why in zip(phases, reasons, strict=True))


def _at_storage(phase: ParallelSteps, places: tuple[Place, ...]) -> _Moved | None:
    found = foreign_bytes(phase, places)
    return None if found is None else _Moved(*found, len(phase.rows))


def _on_network(phase: ParallelSteps, places: tuple[Place, ...]) -> _Moved | None:
    """Return None if the load may have sent bytes that no counter attributes to it."""
    carried, stored = phase.values(*NETWORK), phase.values(*STORAGE) or []
    is_stream = any(outcome.step.role in _SENT for outcome in phase.outcomes)
    if carried is None or is_stream or any(place.fstype not in IN_KERNEL for place in places):
        return None
    return _Moved(max(0.0, sum(carried) - _HEADERS * sum(stored)), sum(carried), len(phase.rows))


def _mean(shares: Iterable[tuple[float | None, int]]) -> float | None:
    known = [(share, seconds) for share, seconds in shares if share is not None]
    total_seconds = sum(seconds for _, seconds in known)
    return sum(share * seconds for share, seconds in known) / total_seconds if total_seconds else None


def _ratio(moved: Sequence[_Moved]) -> float | None:
    total = sum(one.total for one in moved)
    return sum(one.foreign for one in moved) / total if total else None


def _rate(moved: Sequence[_Moved]) -> float | None:
    seconds = sum(one.seconds for one in moved)
    return sum(one.foreign for one in moved) / seconds if seconds else None
