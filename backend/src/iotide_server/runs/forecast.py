"""Forecast of a run's start: places all runs ahead of it after the current leases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from iotide_server.runs.resources import Mode, Need, Resource, ResourceKind

MOST_AHEAD = 300  # no forecast behind more runs: errors add up


@dataclass(frozen=True, slots=True)
class Queued:
    run_id: int
    place: tuple[float, int]
    needs: tuple[Need, ...]
    # past duration of its cell or its campaign's workload, else the time limit; plus the usual gap between runs
    expected_seconds: float
    cool_down_seconds: float  # idle time of its nodes and exclusive resources afterwards
    not_before: datetime | None
    obstacle: str | None  # why it cannot start even if everything is free


@dataclass(frozen=True, slots=True)
class Held:
    mode: Mode
    until: datetime | None  # expected end; None if unknown
    run_id: int | None


@dataclass(frozen=True, slots=True)
class Holding:
    name: str
    slots: int | None  # runs that may share it; None: any number
    obstacle: str | None  # why nothing starts on it; None if usable
    held: Sequence[Held]


@dataclass(frozen=True, slots=True)
class Expectation:
    at: datetime | None
    unknown_because: str | None = None


def expected_start(
    run_id: int, queue: Sequence[Queued], holdings: Mapping[Resource, Holding], now: datetime
) -> Expectation | None:
    """Return None if `run_id` is no longer queued."""
    board = {resource: _Booked.of(resource, holding, now) for resource, holding in holdings.items()}
    for run in sorted(queue, key=lambda run: run.place):
        unknown = run.obstacle or _unknown(run, board)
        # A run that cannot start is not placed: it delays later ones only briefly.
        if unknown is None:
            start = max([run.not_before or now, *(board[need.resource].free_at(need.mode) for need in run.needs)])
            for need in run.needs:
                board[need.resource].take(need.mode, start, _end(run, need, start))
        if run.run_id == run_id:
            return Expectation(None, unknown) if unknown is not None else Expectation(start)
    return None


def _end(run: Queued, need: Need, start: datetime) -> datetime:
    cools = need.resource.kind is ResourceKind.NODE or need.mode is Mode.EXCLUSIVE
    return start + timedelta(seconds=run.expected_seconds + (run.cool_down_seconds if cools else 0.0))


def _unknown(run: Queued, board: Mapping[Resource, "_Booked"]) -> str | None:
    return next((words for need in run.needs if (words := board[need.resource].unknown(need.mode))), None)


@dataclass(slots=True)
class _Booked:
    what: str
    holding: Holding
    alone_until: datetime
    shared_until: list[datetime] = field(default_factory=list)
    stuck: list[Held] = field(default_factory=list)

    @classmethod
    def of(cls, resource: Resource, holding: Holding, now: datetime) -> "_Booked":
        booked = cls(f"{resource.kind} {holding.name}", holding, now)
        for held in holding.held:
            if held.until is None:
                booked.stuck.append(held)
            else:
                booked.take(held.mode, now, max(now, held.until))
        return booked

    def unknown(self, mode: Mode) -> str | None:
        if self.holding.obstacle is not None:
            return self.holding.obstacle
        in_the_way = [held for held in self.stuck if Mode.EXCLUSIVE in {held.mode, mode}]
        if not in_the_way and self.holding.slots is not None and len(self.stuck) >= self.holding.slots:
            in_the_way = self.stuck
        if not in_the_way:
            return None
        return f"the end of run {in_the_way[0].run_id} on {self.what} is not known"

    def free_at(self, mode: Mode) -> datetime:
        if mode is Mode.EXCLUSIVE:
            return max([self.alone_until, *self.shared_until])
        slots = self.holding.slots
        if slots is None or len(self.shared_until) < slots - len(self.stuck):
            return self.alone_until
        return max(self.alone_until, sorted(self.shared_until)[len(self.stuck) - slots])

    def take(self, mode: Mode, start: datetime, end: datetime) -> None:
        if mode is Mode.EXCLUSIVE:
            self.alone_until = max(self.alone_until, end)
        else:
            self.shared_until = [*(until for until in self.shared_until if until > start), end]
