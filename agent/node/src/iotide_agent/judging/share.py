"""How much others used during a run: shares of what the node did, in the phases in which the load can be told apart."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from iotide_agent.judging.foreign import IN_KERNEL, can_be_told, foreign_bytes, foreign_processors, why_untold
from iotide_agent.judging.phases import NETWORK, STORAGE, ParallelSteps
from iotide_agent.workloads.base import Place
from iotide_wire.foreign import ForeignDuring
from iotide_wire.measured import StepRole

_HEADERS: Final = 1.25
"""What goes over the network for a byte of a file at most, with requests, answers and headers."""
_SENT: Final = frozenset({StepRole.SENDER, StepRole.RECEIVER})


class _Moved(NamedTuple):
    """Bytes of others, of all, and in how many seconds."""

    foreign: float
    total: float
    seconds: int


def measure_foreign(phases: Sequence[ParallelSteps], places: tuple[Place, ...]) -> ForeignDuring | None:
    """What others used while the phases lasted; None where nothing can be told of any."""
    told = [phase for phase in phases if can_be_told(phase)]
    if not told:
        return None
    stored = [moved for phase in told if (moved := _at_storage(phase, places))]
    carried = [moved for phase in told if (moved := _on_network(phase, places))]
    return ForeignDuring(
        seconds=float(sum(len(phase.rows) for phase in told)),
        cpu_ratio=_mean((foreign_processors(phase, places), len(phase.rows)) for phase in told),
        storage_ratio=_ratio(stored),
        storage_bytes_per_second=_rate(stored),
        network_ratio=_ratio(carried),
        network_bytes_per_second=_rate(carried),
        psi_cpu_ratio=_mean((phase.mean("psi_cpu_some_ratio"), len(phase.rows)) for phase in told),
        psi_io_ratio=_mean((phase.mean("psi_io_some_ratio"), len(phase.rows)) for phase in told),
    )


def why_unmeasured(phases: Sequence[ParallelSteps], places: tuple[Place, ...]) -> str:
    """Return why it cannot be told of any phase whether others used the processors; empty where it can of one."""
    reasons = [why_untold(phase, places) for phase in phases]
    if not phases or not all(reasons):
        return "" if phases else "no step ran"
    return "; ".join(f"{phase.name} {why}" for phase, why in zip(phases, reasons, strict=True))


def _at_storage(phase: ParallelSteps, places: tuple[Place, ...]) -> _Moved | None:
    found = foreign_bytes(phase, places)
    return None if found is None else _Moved(*found, len(phase.rows))


def _on_network(phase: ParallelSteps, places: tuple[Place, ...]) -> _Moved | None:
    """None where the load may have sent bytes that nobody counts.

    What moved to and from the storage may all have gone through the network, as a disk may be an iSCSI target.
    """
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
