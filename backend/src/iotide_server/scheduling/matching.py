"""The pure heart of a pass: which of the waiting runs start now, given what is free and in which order they wait."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

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


def contested(waiting: Sequence[Waiting], occupied: Mapping[Resource, Occupancy]) -> frozenset[Resource]:
    """The resources that keep a run from starting and whose `free_from` the match therefore wants to know."""
    needs = set[Need]().union(*(run.needs for run in waiting))
    return frozenset(need.resource for need in needs if not occupied[need.resource].admits(need.mode))


def match(waiting: Sequence[Waiting], occupied: Mapping[Resource, Occupancy], now: datetime) -> list[Waiting]:
    """The runs that start now, in order.

    Each takes all that it needs or nothing. One that has room on a node and waits for something else keeps what it
    needs for itself from the moment at which the rest is free at the latest; a later run may use that only if its
    time limit ends before (EASY backfill). One order over all lines and bounded runs: no deadlock and no starvation. A
    run that waits for something whose end nobody knows keeps nothing, or one dead node would stop the cluster; nor does
    one whose window or whose time before a blackout will be over by then, or nodes would idle for what never starts.
    """
    board = _Board(dict(occupied), now)
    return [run for run in sorted(waiting, key=lambda run: run.place) if board.start_or_keep(run)]


@dataclass(slots=True)
class _Board:
    """What is left while the match walks down the order.

    Most runs want many nodes and each alone, so these are looked up in sets at once.

    Attributes:
        taken: what admits nobody who wants to be alone there.
        kept_alone: what an earlier run keeps for itself, from when on; of several the first, since the start of each
            of the others is not before it.
        kept_beside: in what earlier runs keep places beside others: how many, and from when on.
    """

    occupied: dict[Resource, Occupancy]
    now: datetime
    taken: set[Resource] = field(init=False)
    unusable: frozenset[Resource] = field(init=False)
    kept_alone: dict[Resource, datetime] = field(default_factory=dict)
    kept_beside: dict[Resource, tuple[int, datetime]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.taken = {resource for resource, found in self.occupied.items() if not found.admits(Mode.EXCLUSIVE)}
        self.unusable = frozenset(resource for resource, found in self.occupied.items() if not found.usable)

    def start_or_keep(self, run: Waiting) -> bool:
        alone = {resource for resource, mode in run.needs if mode is Mode.EXCLUSIVE}
        beside = [resource for resource, mode in run.needs if mode is Mode.SHARED]
        is_unusable = bool(self.unusable) and not self.unusable.isdisjoint(alone.union(beside))
        if is_unusable or run.is_too_late_at(self.now):
            return False
        taken = alone & self.taken
        taken.update(resource for resource in beside if not self.occupied[resource].admits(Mode.SHARED))
        kept = [self.kept_alone[resource] for resource in alone if resource in self.kept_alone]
        kept += [self.kept_beside[resource][1] for resource in alone if resource in self.kept_beside]
        for resource in beside:
            kept += self._kept_from(resource)
        if not taken and all(self.now + run.occupies <= start for start in kept):
            self._start(run)
            return True
        if not taken or self._has_room(run):
            self._keep(run, taken, kept)
        return False

    def _kept_from(self, resource: Resource) -> list[datetime]:
        """The moments from which on there is no place for one more beside others."""
        starts = [self.kept_alone[resource]] if resource in self.kept_alone else []
        slots = self.occupied[resource].slots
        if slots is not None and resource in self.kept_beside:
            places, start = self.kept_beside[resource]
            starts += [start] if self.occupied[resource].shared + places >= slots else []
        return starts

    def _has_room(self, run: Waiting) -> bool:
        """Whether a node of it could take it, or at least one more beside others."""
        nodes = (resource for resource, _ in run.needs if resource.kind is ResourceKind.NODE)
        return any(self.occupied[node].admits(Mode.SHARED) for node in nodes)

    def _start(self, run: Waiting) -> None:
        for resource, mode in run.needs:
            before = self.occupied[resource]
            self.occupied[resource] = Occupancy(
                shared=before.shared + (mode is Mode.SHARED),
                exclusive=before.exclusive + (mode is Mode.EXCLUSIVE),
                slots=before.slots,
                free_from=self._later_end(before, self.now + run.occupies),
            )
            self.taken.add(resource)

    @staticmethod
    def _later_end(before: Occupancy, end: datetime) -> datetime | None:
        is_idle = not (before.shared or before.exclusive)
        if is_idle:
            return end
        return max(before.free_from, end) if before.free_from is not None else None

    def _keep(self, run: Waiting, taken: Collection[Resource], kept: list[datetime]) -> None:
        ends = [self.occupied[resource].free_from for resource in taken]
        known = [end for end in ends if end is not None]
        if len(known) < len(ends):
            return
        start = max([self.now, *known, *kept])
        if run.is_too_late_at(start):
            return
        for resource, mode in run.needs:
            if mode is Mode.EXCLUSIVE:
                self.kept_alone.setdefault(resource, start)
            else:
                places, earliest = self.kept_beside.get(resource, (0, start))
                self.kept_beside[resource] = (places + 1, min(earliest, start))
