"""The pure heart of a pass: which of the waiting runs start now, given what is free and in which order they wait."""

from collections.abc import Mapping, Sequence
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
    return frozenset(
        need.resource for run in waiting for need in run.needs if not occupied[need.resource].admits(need.mode)
    )


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
class _Kept:
    """What earlier runs keep of a resource, from `start` on."""

    start: datetime
    shared: int = 0
    exclusive: bool = False


@dataclass(slots=True)
class _Board:
    """What is left while the match walks down the order."""

    occupied: dict[Resource, Occupancy]
    now: datetime
    kept: dict[Resource, _Kept] = field(default_factory=dict)

    def start_or_keep(self, run: Waiting) -> bool:
        if not all(self.occupied[need.resource].usable for need in run.needs) or run.is_too_late_at(self.now):
            return False
        taken = [need.resource for need in run.needs if not self.occupied[need.resource].admits(need.mode)]
        kept = [self.kept[need.resource].start for need in run.needs if self._is_kept(need)]
        if not taken and all(self.now + run.occupies <= start for start in kept):
            self._start(run)
            return True
        self._keep(run, taken, kept)
        return False

    def _is_kept(self, need: Need) -> bool:
        kept = self.kept.get(need.resource)
        if kept is None:
            return False
        if kept.exclusive or need.mode is Mode.EXCLUSIVE:
            return True
        occupied = self.occupied[need.resource]
        return occupied.slots is not None and occupied.shared + kept.shared >= occupied.slots

    def _start(self, run: Waiting) -> None:
        for need in run.needs:
            before = self.occupied[need.resource]
            self.occupied[need.resource] = Occupancy(
                shared=before.shared + (need.mode is Mode.SHARED),
                exclusive=before.exclusive + (need.mode is Mode.EXCLUSIVE),
                slots=before.slots,
                free_from=self._later_end(before, self.now + run.occupies),
            )

    @staticmethod
    def _later_end(before: Occupancy, end: datetime) -> datetime | None:
        is_idle = not (before.shared or before.exclusive)
        if is_idle:
            return end
        return max(before.free_from, end) if before.free_from is not None else None

    def _keep(self, run: Waiting, taken: list[Resource], kept: list[datetime]) -> None:
        nodes = [self.occupied[need.resource] for need in run.needs if need.resource.kind is ResourceKind.NODE]
        if not any(node.admits(Mode.SHARED) for node in nodes):
            return
        ends = [self.occupied[resource].free_from for resource in taken]
        known = [end for end in ends if end is not None]
        if len(known) < len(ends):
            return
        start = max([self.now, *known, *kept])
        if run.is_too_late_at(start):
            return
        for need in run.needs:
            mine = self.kept.setdefault(need.resource, _Kept(start))
            mine.start = min(mine.start, start)
            mine.shared += need.mode is Mode.SHARED
            mine.exclusive |= need.mode is Mode.EXCLUSIVE
