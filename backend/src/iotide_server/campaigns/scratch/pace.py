"""How fast the disks of a set are, by the makes and fills that ran on them; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from iotide_server.campaigns.scratch.estimate import (
    DiskRates,
    fixed_seconds,
    make_seconds,
    synchronised,
    table_bytes,
)
from iotide_server.campaigns.scratch.expansion import MadeStage
from iotide_server.campaigns.scratch.filling import fills_of
from iotide_wire.geometry import data_disks
from iotide_wire.scratch import ScratchMake
from iotide_wire.scratch_plan import ScratchPlan
from iotide_wire.scratch_vocabulary import Sync
from iotide_wire.units import MIB

_NEWEST: Final = 5
_LEAST_FACTOR: Final = 2
"""A make shows the rate of its disks if it took this many times as long as its commands alone."""
_SLOW_BYTES_PER_SECOND: Final = 40 * MIB
"""For the few MiB that a wipe writes, while no rate is known."""


@dataclass(frozen=True, slots=True)
class PastWork:
    """A finished make, or a finished fill of it.

    Attributes:
        filled_bytes: None for the make.
    """

    make: ScratchMake
    seconds: float
    filled_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class KnownDisks:
    """Disks of a set.

    Attributes:
        rates: None if no work showed them.
        made: seconds of the newest make of each kind, with the wipe before it.
    """

    disk_bytes: int
    rates: DiskRates | None = None
    made: Mapping[str, float] = field(default_factory=dict)

    def make_seconds(self, scratch: ScratchPlan, stage: MadeStage) -> float | None:
        """Return the seconds of a stage: as measured, else by the rates of the disks; None if these are unknown."""
        rates = self.rates or DiskRates(self.disk_bytes, _SLOW_BYTES_PER_SECOND)
        estimated = make_seconds(scratch, stage, rates)
        measured = self.made.get(_key(stage.make))
        is_by_rate = fills_of(scratch) if measured is not None else _depends_on_rate(scratch, stage.make)
        if is_by_rate and self.rates is None:
            return None
        return estimated.total if measured is None else measured + estimated.fill

    def is_measured(self, stage: MadeStage) -> bool:
        return _key(stage.make) in self.made


def known_disks(disk_bytes: int, past: Sequence[PastWork]) -> KnownDisks:
    """Return what the past work, newest first, shows about disks of this size."""
    made: dict[str, float] = {}
    for work in past:
        if work.filled_bytes is None:
            made.setdefault(_key(work.make), work.seconds)
    synced = _sync_rates(past, disk_bytes)[:_NEWEST]
    written = _fill_rates(past)[:_NEWEST] or _make_rates(past, disk_bytes)[:_NEWEST]
    if not written and not synced:
        return KnownDisks(disk_bytes, None, made)
    sync_rate = median(synced) if synced else None
    # Each of these is a lower bound: the work also waited for the node.
    return KnownDisks(disk_bytes, DiskRates(disk_bytes, max(written or synced), sync_rate), made)


def _fill_rates(past: Sequence[PastWork]) -> list[float]:
    return [
        work.filled_bytes / work.seconds / data_disks(work.make.layout.layout) for work in past if work.filled_bytes
    ]


def _make_rates(past: Sequence[PastWork], disk_bytes: int) -> list[float]:
    """Return the rates of makes that wrote zeroes or inode tables."""
    return [
        written_bytes / seconds
        for work, seconds in _apart_from_commands(past)
        if synchronised(work.make) is not Sync.WAIT and (written_bytes := _written_to_disk(work.make, disk_bytes)) > 0
    ]


def _sync_rates(past: Sequence[PastWork], disk_bytes: int) -> list[float]:
    return [
        _written_to_disk(work.make, disk_bytes) / seconds
        for work, seconds in _apart_from_commands(past)
        if synchronised(work.make) is Sync.WAIT
    ]


def _apart_from_commands(past: Sequence[PastWork]) -> list[tuple[PastWork, float]]:
    """Return the makes that took long enough, with their seconds of writing."""
    makes = [(work, fixed_seconds(work.make)) for work in past if work.filled_bytes is None]
    return [(work, work.seconds - fixed) for work, fixed in makes if work.seconds >= _LEAST_FACTOR * fixed]


def _written_to_disk(make: ScratchMake, disk_bytes: int) -> float:
    whole = 0 if synchronised(make) is None else disk_bytes
    return whole + table_bytes(make, disk_bytes) / data_disks(make.layout.layout)


def _depends_on_rate(scratch: ScratchPlan, make: ScratchMake) -> bool:
    return bool(fills_of(scratch)) or synchronised(make) is not None or table_bytes(make, MIB) > 0


def _key(make: ScratchMake) -> str:
    return make.model_dump_json()
