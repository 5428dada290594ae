"""Why a run still waits, in words for the person who waits for it."""

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
    """A resource that the run needs, as it is now."""

    kind: ResourceKind
    name: str
    mode: Mode
    occupancy: Occupancy
    holders: Sequence[int] = ()  # runs that have an active lease on it, the lowest ids first
    is_retired: bool = False
    seen_at: datetime | None = None  # for a node, when it was last heard of; None: never
    problem: str | None = None  # why the scheduler passes it over


@dataclass(frozen=True, slots=True)
class DeclinedAlike:
    """A decline of another run that this one would meet as well, and until when."""

    node: str
    run_id: int
    reason: str | None
    until: datetime


@dataclass(frozen=True, slots=True)
class Drained:
    """Something that the run names and on which nothing new starts."""

    what: str  # for instance `node n1`, or `everything`
    by: str
    reason: str
    until: datetime | None  # None until a person resumes it


@dataclass(frozen=True, slots=True)
class ClosedWindow:
    """The window of the run's campaign, in words, and when it opens."""

    hours: str
    opens_at: datetime


@dataclass(frozen=True, slots=True)
class Maintenance:
    """A blackout of the run's cluster, which is not over: it may be to come."""

    starts_at: datetime
    ends_at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Wait:
    """What is known of a waiting run."""

    wanted: Sequence[NeededResource]
    mount_problems: Sequence[str]  # of its targets on its nodes, in words
    not_before: datetime | None  # after a declined attempt it waits until then, because of `last_reason`
    last_reason: str | None
    ahead: int  # runs that stand before it in its nodes' lines
    stage: str | None = None
    drained: Sequence[Drained] = ()
    window: ClosedWindow | None = None  # None where it is open, or there is none
    maintenance: Maintenance | None = None  # before which it could not end, or which is on; None where there is none
    stands_back_seconds: float = 0.0  # behind runs of others, for what its owner's runs used lately
    # why nothing is submitted to the cluster's batch system; None where it is, or there is none
    batch: str | None = None
    declined_alike: DeclinedAlike | None = None  # None where no other run's decline puts it off


def waiting_because(wait: Wait, now: datetime) -> str:
    """One sentence with everything that keeps the run from starting now."""
    if wait.stage is not None:
        return wait.stage
    reasons = [] if wait.batch is None else [wait.batch]
    reasons += [_drain(drained) for drained in wait.drained] + _by_the_calendar(wait, now)
    reasons += [reason for wanted in wait.wanted if (reason := _obstacle(wanted, now))]
    reasons += wait.mount_problems
    if wait.not_before is not None and wait.not_before > now:
        after = f" after: {wait.last_reason}" if wait.last_reason else ""
        reasons.insert(0, f"it is not tried again before {written(wait.not_before)}{after}")
    alike = wait.declined_alike
    if alike is not None and alike.until > (wait.not_before or now):
        declined = f"node {alike.node} declined run {alike.run_id}" + (f": {alike.reason}" if alike.reason else "")
        reasons.insert(0, f"it is not tried before {written(alike.until)}, since {declined}")
    if wait.ahead:
        reasons.append("1 run stands before it" if wait.ahead == 1 else f"{wait.ahead} runs stand before it")
        if wait.stands_back_seconds >= _MINUTE_SECONDS:
            back = format_duration(wait.stands_back_seconds)
            reasons.append(f"it stands back by {back} behind runs of others, for what its owner's runs used lately")
    return "; ".join(reasons) or "it is about to start"


def stage_obstacle(ordinal: int | None, variant: str, state: str | None, pause: str | None) -> str | None:
    """Why a run of a stage in that state does not start yet; None where the stage is open or there is none."""
    if ordinal is None or state == "open":
        return None
    if state == "held":
        return f"stage {ordinal} ({variant}) begins when the stages before it have ended"
    return f"stage {ordinal} ({variant}) waits until an operator confirms: {pause}"


def _drain(drained: Drained) -> str:
    end = "until it is resumed" if drained.until is None else f"until {written(drained.until)}"
    return f"{drained.what} is drained by {drained.by} {end}: {drained.reason}"


def _by_the_calendar(wait: Wait, now: datetime) -> list[str]:
    reasons = []
    if wait.window is not None:
        reasons.append(f"its window, {wait.window.hours}, opens at {written(wait.window.opens_at)}")
    if wait.maintenance is not None:
        starts_at, ends_at = wait.maintenance.starts_at, wait.maintenance.ends_at
        if starts_at <= now:
            reasons.append(f"the cluster is in maintenance until {written(ends_at)}: {wait.maintenance.reason}")
        else:
            until = f"from {written(starts_at)} to {written(ends_at)}: {wait.maintenance.reason}"
            reasons.append(f"by its time limit it could not end before the cluster's maintenance {until}")
    return reasons


def _obstacle(wanted: NeededResource, now: datetime) -> str | None:
    what = f"{wanted.kind} {wanted.name}"
    if wanted.is_retired:
        return f"{what} was retired"
    if wanted.problem is not None:
        return f"{what}: {wanted.problem}"
    if wanted.kind is ResourceKind.NODE:
        if wanted.seen_at is None:
            return f"{what} has never been heard of; start its agent"
        if now - wanted.seen_at > SILENT_AFTER:
            return f"{what} has been silent since {written(wanted.seen_at)}"
    return None if wanted.occupancy.admits(wanted.mode) else _taken(what, wanted)


def _taken(what: str, wanted: NeededResource) -> str:
    if wanted.occupancy.cooling_until is not None:
        return f"{what} cools down until {written(wanted.occupancy.cooling_until)}"
    alone = " and it wants to be alone there" if wanted.mode is Mode.EXCLUSIVE else ""
    return f"{what} is taken by {_runs(wanted.holders)}{alone}"


def _runs(holders: Sequence[int]) -> str:
    shown = ", ".join(str(run_id) for run_id in holders[:MOST_HOLDERS_SHOWN])
    more = " and more" if len(holders) > MOST_HOLDERS_SHOWN else ""
    return f"run {shown}" if len(holders) == 1 else f"runs {shown}{more}"
