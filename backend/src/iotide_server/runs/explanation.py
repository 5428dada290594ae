"""Explain to users why a run still waits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.clock import written
from iotide_server.runs.resources import Mode, Occupancy, ResourceKind
from iotide_wire.units import format_duration

MOST_HOLDERS_SHOWN = 3

_MINUTE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class NeededResource:
    kind: ResourceKind
    name: str
    mode: Mode
    occupancy: Occupancy
    holders: Sequence[int] = ()  # with an active lease, lowest ids first
    is_retired: bool = False
    seen_at: datetime | None = None  # None: never
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class DeclinedAlike:
    node: str
    run_id: int
    reason: str | None
    until: datetime


@dataclass(frozen=True, slots=True)
class Drained:
    what: str  # e.g. `node n1` or `everything`
    by: str
    reason: str
    until: datetime | None  # None: until a user resumes it


@dataclass(frozen=True, slots=True)
class ClosedWindow:
    hours: str
    opens_at: datetime


@dataclass(frozen=True, slots=True)
class Maintenance:
    starts_at: datetime
    ends_at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Wait:
    wanted: Sequence[NeededResource]
    mount_problems: Sequence[str]
    not_before: datetime | None
    last_reason: str | None
    ahead: int
    stage: str | None = None
    drained: Sequence[Drained] = ()
    window: ClosedWindow | None = None  # None: open, or no window
    maintenance: Maintenance | None = None  # in effect, or too near for the run's time limit
    stands_back_seconds: float = 0.0  # fair share: delay for the owner's recent use
    # why no gateway submits to the cluster's batch system
    batch: str | None = None
    declined_alike: DeclinedAlike | None = None


def waiting_because(wait: Wait, now: datetime) -> str:
    return sentence(wait.stage or "; ".join(_reasons(wait, now)) or "about to start")


def sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _reasons(wait: Wait, now: datetime) -> list[str]:
    reasons = [] if wait.batch is None else [wait.batch]
    reasons += [_drain(drained) for drained in wait.drained] + _by_the_calendar(wait, now)
    reasons += [reason for wanted in wait.wanted if (reason := _obstacle(wanted, now))]
    reasons += wait.mount_problems
    if wait.not_before is not None and wait.not_before > now:
        start = f"starts not before {written(wait.not_before)}"
        again = f"next attempt not before {written(wait.not_before)} (last attempt: {wait.last_reason})"
        reasons.insert(0, again if wait.last_reason else start)
    alike = wait.declined_alike
    if alike is not None and alike.until > (wait.not_before or now):
        declined = f"node {alike.node} declined run {alike.run_id}" + (f": {alike.reason}" if alike.reason else "")
        reasons.insert(0, f"waiting until {written(alike.until)} because {declined}")
    if wait.ahead:
        reasons.append("1 run ahead" if wait.ahead == 1 else f"{wait.ahead} runs ahead")
        if wait.stands_back_seconds >= _MINUTE_SECONDS:
            back = format_duration(wait.stands_back_seconds)
            reasons.append(f"moved back by {back} for the owner's recent use (fair share)")
    return reasons


def stage_obstacle(ordinal: int | None, variant: str, state: str | None, pause: str | None) -> str | None:
    """Return None for an open stage, or without stages."""
    if ordinal is None or state == "open":
        return None
    if state == "held":
        return f"stage {ordinal} ({variant}) starts when the previous stages have ended"
    return f"stage {ordinal} ({variant}) waits until an operator confirms: {pause}"


def _drain(drained: Drained) -> str:
    end = "until it is resumed" if drained.until is None else f"until {written(drained.until)}"
    return f"{drained.what} is drained by {drained.by} {end}: {drained.reason}"


def _by_the_calendar(wait: Wait, now: datetime) -> list[str]:
    reasons = []
    if wait.window is not None:
        reasons.append(f"the campaign's window ({wait.window.hours}) opens at {written(wait.window.opens_at)}")
    if wait.maintenance is not None:
        starts_at, ends_at = wait.maintenance.starts_at, wait.maintenance.ends_at
        if starts_at <= now:
            reasons.append(f"the cluster is in maintenance until {written(ends_at)}: {wait.maintenance.reason}")
        else:
            window = f"from {written(starts_at)} to {written(ends_at)}: {wait.maintenance.reason}"
            reasons.append(f"its time limit reaches into the maintenance window {window}")
    return reasons


def _obstacle(wanted: NeededResource, now: datetime) -> str | None:
    what = f"{wanted.kind} {wanted.name}"
    if wanted.is_retired:
        return f"{what} was retired"
    if wanted.problem is not None:
        return f"{what}: {wanted.problem}"
    if wanted.kind is ResourceKind.NODE:
        if wanted.seen_at is None:
            return f"{what} has never contacted the server; start its agent"
        if now - wanted.seen_at > SILENT_AFTER:
            return f"{what} has been silent since {written(wanted.seen_at)}"
    return None if wanted.occupancy.admits(wanted.mode) else _taken(what, wanted)


def _taken(what: str, wanted: NeededResource) -> str:
    if wanted.occupancy.cooling_until is not None:
        return f"{what} cools down until {written(wanted.occupancy.cooling_until)}"
    if wanted.occupancy.exclusive:
        return f"waiting for {what} ({_runs(wanted.holders)}, exclusive)"
    use = "exclusive use of" if wanted.mode is Mode.EXCLUSIVE else "a free slot of"
    return f"waiting for {use} {what} ({_runs(wanted.holders)})"


def _runs(holders: Sequence[int]) -> str:
    shown = ", ".join(str(run_id) for run_id in holders[:MOST_HOLDERS_SHOWN])
    more = " and more" if len(holders) > MOST_HOLDERS_SHOWN else ""
    return f"run {shown}" if len(holders) == 1 else f"runs {shown}{more}"
