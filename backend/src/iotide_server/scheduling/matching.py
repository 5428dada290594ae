"""The pure heart of a pass: which of the waiting runs start now, given what is free and in which order they wait."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Final, NamedTuple, Self

from iotide_server.runs.resources import Mode, Need, Occupancy, Resource, ResourceKind


@dataclass(frozen=True, slots=True)
class Demand:
    """What a run takes, and for how long at the latest; the same in every pass."""

    needs: tuple[Need, ...]
    # alone, beside: what of `needs` it has to have for itself, and what beside others
    alone: frozenset[Resource]
    beside: frozenset[Resource]
    nodes: frozenset[Resource]  # those of both that are nodes
    elsewhere: frozenset[Need]  # those of `needs` that are none
    time_limit_seconds: float  # the node ends it then
    occupies: timedelta  # for how long what it takes is not free: its time limit and what has to cool down after it

    @classmethod
    def of(cls, needs: Sequence[Need], time_limit_seconds: float, cool_down_seconds: float) -> Self:
        """What it says of a run with these rights."""
        return cls(
            tuple(needs),
            frozenset(resource for resource, mode in needs if mode is Mode.EXCLUSIVE),
            frozenset(resource for resource, mode in needs if mode is Mode.SHARED),
            frozenset(resource for resource, _ in needs if resource.kind is ResourceKind.NODE),
            frozenset(need for need in needs if need.resource.kind is not ResourceKind.NODE),
            time_limit_seconds,
            timedelta(seconds=time_limit_seconds + cool_down_seconds),
        )


class WaitingRun(NamedTuple):
    """A run near the head of a line; a tuple, as a pass makes thousands."""

    # the lower, the earlier it is served; `run_id` decides between equals. Both are its place in the one order over all
    # lines.
    sort_key: float
    run_id: int
    demand: Demand
    # at that moment or later it does not start, or it would not end in its window or before a blackout
    start_by: datetime | None = None


def match(waiting: Sequence[WaitingRun], occupied: Mapping[Resource, Occupancy], now: datetime) -> list[WaitingRun]:
    """Return the runs that start now, in order.

    Each takes all that it needs or nothing. One that has room on a node and waits for something else keeps what it
    needs for itself from the moment at which the rest is free at the latest; a later run may use that only if its time
    limit ends before (EASY backfill). One order over all lines and bounded runs: no deadlock and no starvation. A run
    that waits for something whose end nobody knows keeps nothing, or one dead node would stop the cluster; nor does one
    whose window or whose time before a blackout will be over by then, or nodes would idle for what never starts. What
    is not `occupied` is idle, a node for one run at a time.
    """
    board = _Board(_Occupied(occupied), now)
    return [run for run in sorted(waiting, key=_PLACE) if board.start_or_keep(run)]


_PLACE: Final = itemgetter(0, 1)
_IDLE: Final = Occupancy(0, 0)
_IDLE_NODE: Final = Occupancy(0, 0, slots=1)


class _Occupied(dict[Resource, Occupancy]):
    """By resource; most are idle, and are not named."""

    def __missing__(self, resource: Resource) -> Occupancy:
        return _IDLE_NODE if resource.kind is ResourceKind.NODE else _IDLE


@dataclass(slots=True)
class _Board:
    """What is left while the match walks down the order."""

    # Most runs want many nodes and each alone, so these are looked up in sets at once.

    occupied: _Occupied
    now: datetime
    taken: set[Resource] = field(init=False)  # what admits nobody who wants to be alone there; full: what admits nobody
    full: set[Resource] = field(init=False)
    # what an earlier run keeps for itself, from when on; of several the first, since the start of each of the others is
    # not before it
    kept_alone: dict[Resource, datetime] = field(default_factory=dict)
    # in what earlier runs keep places beside others: how many, and from when on
    kept_beside: dict[Resource, tuple[int, datetime]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.full = {resource for resource, found in self.occupied.items() if not found.admits(Mode.SHARED)}
        self.taken = self.full | {resource for resource, found in self.occupied.items() if found.shared}

    def start_or_keep(self, run: WaitingRun) -> bool:
        demand = run.demand
        alone, beside = demand.alone, demand.beside
        if run.start_by is not None and self.now >= run.start_by:
            return False
        is_free = self.taken.isdisjoint(alone) and self.full.isdisjoint(beside)
        kept = self._kept_from(demand)
        if is_free and (not kept or self.now + demand.occupies <= min(kept)):
            self._start(demand)
            return True
        if is_free or self._has_room(demand):
            taken = () if is_free else (alone & self.taken) | (beside & self.full)
            start = self._start_at_the_latest(taken, kept)
            if start is not None and (run.start_by is None or start < run.start_by):
                self._keep(demand, start)
        return False

    def _kept_from(self, demand: Demand) -> list[datetime]:
        """The moments from which on an earlier run leaves no place in something that this one needs."""
        kept_alone, kept_beside = self.kept_alone, self.kept_beside
        found = []
        for resource in demand.alone:
            if resource in kept_alone:
                found.append(kept_alone[resource])
            if resource in kept_beside:
                found.append(kept_beside[resource][1])
        for resource in demand.beside:
            if resource in kept_alone:
                found.append(kept_alone[resource])
            if resource.kind is ResourceKind.NODE and resource in kept_beside:
                taken = self.occupied[resource]
                places, start = kept_beside[resource]
                if taken.slots is not None and taken.shared + places >= taken.slots:
                    found.append(start)
        return found

    def _has_room(self, demand: Demand) -> bool:
        """Whether a node of it could take it, or at least one more beside others."""
        return not demand.nodes <= self.full

    def _start(self, demand: Demand) -> None:
        for resource, mode in demand.needs:
            before = self.occupied[resource]
            after = self.occupied[resource] = Occupancy(
                shared=before.shared + (mode is Mode.SHARED),
                exclusive=before.exclusive + (mode is Mode.EXCLUSIVE),
                slots=before.slots,
                free_from=self._later_end(before, self.now + demand.occupies),
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

    def _keep(self, demand: Demand, start: datetime) -> None:
        for resource in demand.alone.difference(self.kept_alone):
            self.kept_alone[resource] = start
        for resource in demand.beside:
            if resource in self.kept_beside:
                places, earliest = self.kept_beside[resource]
                self.kept_beside[resource] = (places + 1, min(earliest, start))
            else:
                self.kept_beside[resource] = (1, start)
