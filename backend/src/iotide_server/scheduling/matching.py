"""The pure heart of a pass: which of the waiting runs start now, given what is free and in which order they wait."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from iotide_server.runs.resources import Mode, Need, Occupancy, Resource, ResourceKind


@dataclass(frozen=True, slots=True)
class Waiting:
    """A run near the head of a line.

    Attributes:
        sort_key: the lower, the earlier it is served; `run_id` decides between equals.
        time_limit_seconds: the node ends it then.
        cool_down_seconds: what it takes stays idle for so long after it.
        start_by: at that moment or later it does not start, or it would not end in its window or before a blackout.
    """

    run_id: int
    sort_key: float
    time_limit_seconds: float
    cool_down_seconds: float
    needs: tuple[Need, ...]
    start_by: datetime | None = None

    @property
    def place(self) -> tuple[float, int]:
        """Its place in the one order over all lines."""
        return (self.sort_key, self.run_id)

    @property
    def occupies(self) -> timedelta:
        """For how long at the latest what it takes is not free."""
        return timedelta(seconds=self.time_limit_seconds + self.cool_down_seconds)

    def is_too_late_at(self, moment: datetime) -> bool:
        """Whether it may not start then any more."""
        return self.start_by is not None and moment >= self.start_by


def match(waiting: Sequence[Waiting], occupied: Mapping[Resource, Occupancy], now: datetime) -> list[Waiting]:
    """The runs that start now, in order.

    Each takes all that it needs or nothing. One that has room on a node and waits for something else keeps what it
    needs for itself from the moment at which the rest is free at the latest; a later run may use that only if its
    time limit ends before (EASY backfill). One order over all lines and bounded runs: no deadlock and no starvation. A
    run that waits for something whose end nobody knows keeps nothing, or one dead node would stop the cluster; nor does
    one whose window or whose time before a blackout will be over by then, or nodes would idle for what never starts.

    Args:
        occupied: what is not named there is idle, a node for one run at a time.
    """
    board = _Board(_Occupied(occupied), now)
    return [run for run in sorted(waiting, key=lambda run: run.place) if board.start_or_keep(run)]


_IDLE: Final = Occupancy(0, 0)
_IDLE_NODE: Final = Occupancy(0, 0, slots=1)


class _Occupied(dict[Resource, Occupancy]):
    """By resource; most are idle, and are not named."""

    def __missing__(self, resource: Resource) -> Occupancy:
        return _IDLE_NODE if resource.kind is ResourceKind.NODE else _IDLE


@dataclass(slots=True)
class _Board:
    """What is left while the match walks down the order.

    Most runs want many nodes and each alone, so these are looked up in sets at once.

    Attributes:
        taken: what admits nobody who wants to be alone there; full: what admits nobody.
        kept_alone: what an earlier run keeps for itself, from when on; of several the first, since the start of each
            of the others is not before it.
        kept_beside: in what earlier runs keep places beside others: how many, and from when on.
    """

    occupied: _Occupied
    now: datetime
    taken: set[Resource] = field(init=False)
    full: set[Resource] = field(init=False)
    unusable: frozenset[Resource] = field(init=False)
    kept_alone: dict[Resource, datetime] = field(default_factory=dict)
    kept_beside: dict[Resource, tuple[int, datetime]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.full = {resource for resource, found in self.occupied.items() if not found.admits(Mode.SHARED)}
        self.taken = self.full | {resource for resource, found in self.occupied.items() if found.shared}
        self.unusable = frozenset(resource for resource, found in self.occupied.items() if not found.usable)

    def start_or_keep(self, run: Waiting) -> bool:
        exclusive = Mode.EXCLUSIVE
        alone = {resource for resource, mode in run.needs if mode is exclusive}
        beside = {resource for resource, mode in run.needs if mode is not exclusive}
        is_usable = self.unusable.isdisjoint(alone) and self.unusable.isdisjoint(beside)
        if not is_usable or run.is_too_late_at(self.now):
            return False
        taken = (alone & self.taken) | (beside & self.full)
        kept = [*self._kept_from_alone(alone), *self._kept_from_beside(beside)]
        if not taken and (not kept or self.now + run.occupies <= min(kept)):
            self._start(run)
            return True
        if not taken or self._has_room(run):
            start = self._start_at_the_latest(taken, kept)
            if start is not None and not run.is_too_late_at(start):
                self._keep(alone, beside, start)
        return False

    def _kept_from_alone(self, alone: Collection[Resource]) -> list[datetime]:
        """The moments from which on somebody else is to be there."""
        kept = [self.kept_alone[resource] for resource in alone if resource in self.kept_alone]
        return kept + [self.kept_beside[resource][1] for resource in alone if resource in self.kept_beside]

    def _kept_from_beside(self, beside: Collection[Resource]) -> list[datetime]:
        """The moments from which on there is no place for one more beside others."""
        kept = [self.kept_alone[resource] for resource in beside if resource in self.kept_alone]
        for resource in beside:
            if resource.kind is ResourceKind.NODE and resource in self.kept_beside:
                taken = self.occupied[resource]
                places, start = self.kept_beside[resource]
                kept += [start] if taken.slots is not None and taken.shared + places >= taken.slots else []
        return kept

    def _has_room(self, run: Waiting) -> bool:
        """Whether a node of it could take it, or at least one more beside others."""
        return any(resource.kind is ResourceKind.NODE and resource not in self.full for resource, _ in run.needs)

    def _start(self, run: Waiting) -> None:
        for resource, mode in run.needs:
            before = self.occupied[resource]
            after = self.occupied[resource] = Occupancy(
                shared=before.shared + (mode is Mode.SHARED),
                exclusive=before.exclusive + (mode is Mode.EXCLUSIVE),
                slots=before.slots,
                free_from=self._later_end(before, self.now + run.occupies),
            )
            self.taken.add(resource)
            if not after.admits(Mode.SHARED):
                self.full.add(resource)

    @staticmethod
    def _later_end(before: Occupancy, end: datetime) -> datetime | None:
        is_idle = not (before.shared or before.exclusive)
        if is_idle:
            return end
        return max(before.free_from, end) if before.free_from is not None else None

    def _start_at_the_latest(self, taken: Collection[Resource], kept: Sequence[datetime]) -> datetime | None:
        """When all that is taken or kept is free; None where nobody can say it."""
        ends = [self.occupied[resource].free_from for resource in taken]
        known = [end for end in ends if end is not None]
        return max([self.now, *known, *kept]) if len(known) == len(ends) else None

    def _keep(self, alone: Collection[Resource], beside: Collection[Resource], start: datetime) -> None:
        for resource in alone:
            self.kept_alone.setdefault(resource, start)
        for resource in beside:
            places, earliest = self.kept_beside.get(resource, (0, start))
            self.kept_beside[resource] = (places + 1, min(earliest, start))
