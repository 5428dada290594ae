"""Pure core of the scheduler: which waiting runs start now, given free resources and queue order."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Final, NamedTuple, Self

from iotide_server.runs.resources import Mode, Need, Occupancy, Resource, ResourceKind


@dataclass(frozen=True, slots=True)
class Demand:
    needs: tuple[Need, ...]
    # exclusive and shared resources in `needs`
    exclusive_needs: frozenset[Resource]
    shared_needs: frozenset[Resource]
    nodes: frozenset[Resource]  # nodes of both
    elsewhere: frozenset[Need]
    time_limit_seconds: float
    occupies: timedelta

    @classmethod
    def of(cls, needs: Sequence[Need], time_limit_seconds: float, cool_down_seconds: float) -> Self:
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
    """Run near the head of a queue. A tuple, because a pass creates thousands."""

    # order over all queues: lowest `sort_key` first, then lowest `run_id`
    sort_key: float
    run_id: int
    demand: Demand
    # latest start, to end within its window or before a maintenance window
    start_by: datetime | None = None


def match(waiting: Sequence[WaitingRun], occupied: Mapping[Resource, Occupancy], now: datetime) -> list[WaitingRun]:
    """Return the runs that start now, in order.

    A run takes all that it needs or nothing. If a run has room on a node but waits for other resources, it reserves
    them from the time when all are free at the latest. A later run may use them only if its time limit ends before
    (EASY backfill). A single order over all queues and bounded runs prevent deadlock and starvation.

    A run reserves nothing if it waits for a resource with an unknown end: one dead node would stop the cluster. Nor
    does it if it would start too late for a window: nodes would idle for nothing. A resource that is not in
    `occupied` is idle; an idle node takes one run at a time.
    """
    board = _Board(_Occupied(occupied), now)
    return [run for run in sorted(waiting, key=_PLACE) if board.start_or_keep(run)]


_PLACE: Final = itemgetter(0, 1)
_IDLE: Final = Occupancy(0, 0)
_IDLE_NODE: Final = Occupancy(0, 0, slots=1)


class _Occupied(dict[Resource, Occupancy]):
    def __missing__(self, resource: Resource) -> Occupancy:
        return _IDLE_NODE if resource.kind is ResourceKind.NODE else _IDLE


@dataclass(slots=True)
class _Board:
    """Resources during the match, from the head of the queue to its end."""

    # Most runs need many exclusive nodes, so these are compared as sets.

    occupied: _Occupied
    now: datetime
    taken: set[Resource] = field(init=False)  # taken: admits no exclusive run; full: admits no run
    full: set[Resource] = field(init=False)
    # start of the first exclusive reservation; later reservations of the same resource start no earlier
    reserved_exclusive: dict[Resource, datetime] = field(default_factory=dict)
    # number of shared reservations, and the start of the first
    reserved_shared: dict[Resource, tuple[int, datetime]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.full = {resource for resource, found in self.occupied.items() if not found.admits(Mode.SHARED)}
        self.taken = self.full | {resource for resource, found in self.occupied.items() if found.shared}

    def start_or_keep(self, run: WaitingRun) -> bool:
        demand = run.demand
        exclusive_needs, shared_needs = demand.exclusive_needs, demand.shared_needs
        if run.start_by is not None and self.now >= run.start_by:
            return False
        is_free = self.taken.isdisjoint(exclusive_needs) and self.full.isdisjoint(shared_needs)
        kept = self._kept_from(demand)
        if is_free and (not kept or self.now + demand.occupies <= min(kept)):
            self._start(demand)
            return True
        if is_free or self._has_room(demand):
            taken = () if is_free else (exclusive_needs & self.taken) | (shared_needs & self.full)
            start = self._start_at_the_latest(taken, kept)
            if start is not None and (run.start_by is None or start < run.start_by):
                self._keep(demand, start)
        return False

    def _kept_from(self, demand: Demand) -> list[datetime]:
        """Return starts of reservations that leave no room for it."""
        reserved_exclusive, reserved_shared = self.reserved_exclusive, self.reserved_shared
        found = []
        for resource in demand.exclusive_needs:
            if resource in reserved_exclusive:
                found.append(reserved_exclusive[resource])
            if resource in reserved_shared:
                found.append(reserved_shared[resource][1])
        for resource in demand.shared_needs:
            if resource in reserved_exclusive:
                found.append(reserved_exclusive[resource])
            if resource.kind is ResourceKind.NODE and resource in reserved_shared:
                taken = self.occupied[resource]
                places, start = reserved_shared[resource]
                if taken.slots is not None and taken.shared + places >= taken.slots:
                    found.append(start)
        return found

    def _has_room(self, demand: Demand) -> bool:
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
        """Return when all taken or reserved resources are free; None: unknown."""
        ends = [self.occupied[resource].free_from for resource in taken]
        known = [end for end in ends if end is not None]
        return max([self.now, *known, *kept]) if len(known) == len(ends) else None

    def _keep(self, demand: Demand, start: datetime) -> None:
        for resource in demand.exclusive_needs.difference(self.reserved_exclusive):
            self.reserved_exclusive[resource] = start
        for resource in demand.shared_needs:
            if resource in self.reserved_shared:
                places, earliest = self.reserved_shared[resource]
                self.reserved_shared[resource] = (places + 1, min(earliest, start))
            else:
                self.reserved_shared[resource] = (1, start)
