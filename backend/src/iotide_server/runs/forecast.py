"""When a waiting run is expected to start: the queue before it is placed, run by run, behind what is taken now.

It knows no backfill, so that a run may start earlier than foreseen, and takes what ends to end as usual, so that it may
start later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from iotide_server.runs.resources import Mode, Need, Resource, ResourceKind

MOST_AHEAD = 300  # behind more runs than this nothing is foreseen: each adds its error


@dataclass(frozen=True, slots=True)
class Queued:
    """A run that waits in line."""

    run_id: int
    place: tuple[float, int]  # in the order of the queue
    needs: tuple[Need, ...]
    # how long it will run, by what its cell or its campaign's workload took before, else its limit, with the usual time
    # between two runs
    expected_seconds: float
    cool_down_seconds: float  # its nodes stay idle for so long after it, and what it had to itself
    not_before: datetime | None  # it is not tried before
    obstacle: str | None  # why it will not start whatever ends, in words


@dataclass(frozen=True, slots=True)
class Held:
    """A lease or a cool-down."""

    mode: Mode
    until: datetime | None  # when it is expected to end; None where nobody can say
    run_id: int | None  # None for a cool-down


@dataclass(frozen=True, slots=True)
class Holding:
    """A resource as it is now."""

    name: str
    slots: int | None  # how many may share it; None: any number
    obstacle: str | None  # why nothing starts on it, in words; None where it can be counted on
    held: Sequence[Held]


@dataclass(frozen=True, slots=True)
class Expectation:
    """When a run starts, or why that cannot be said."""

    at: datetime | None
    unknown_because: str | None = None


def expected_start(
    run_id: int, queue: Sequence[Queued], holdings: Mapping[Resource, Holding], now: datetime
) -> Expectation | None:
    """Return when the last run of the queue is expected to start, given all that it needs; None where it has left."""
    board = {resource: _Booked.of(resource, holding, now) for resource, holding in holdings.items()}
    for run in sorted(queue, key=lambda run: run.place):
        unknown = run.obstacle or _unknown(run, board)
        # What will not start keeps nobody waiting for more than a while.
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
    """A resource while the queue is placed."""

    what: str
    holding: Holding
    alone_until: datetime  # the last exclusive use ends
    shared_until: list[datetime] = field(default_factory=list)  # the ends of those who share it
    stuck: list[Held] = field(default_factory=list)  # leases of which nobody knows the end

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
        return f"nobody knows when run {in_the_way[0].run_id} leaves {self.what}"

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
