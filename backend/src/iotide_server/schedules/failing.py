"""Schedules whose last firings came to nothing: how often in a row, since when and why."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.kit.clock import day_written
from iotide_server.kit.suggest import first_of
from iotide_server.schedules import failing_repository
from iotide_server.schedules.failing_repository import FailedRun, FiringResult

FAILING_FIRINGS: Final = 2  # one firing may fail for reasons of its own
MOST_FIRINGS: Final = 20  # firings of a schedule that are read; a longer streak is reported as this number
_NOT_MOUNTED: Final = frozenset({"wrong_mount", "target_missing", "target_not_mounted"})
"""Reasons of runs whose target was not there."""
_MOST_NAMES: Final = 3


@dataclass(frozen=True, slots=True)
class Streak:
    """The newest firings of a schedule that failed, without one in between that succeeded."""

    count: int
    since: datetime  # when the first of them fired
    newest: FiringResult  # the last of them


@dataclass(frozen=True, slots=True)
class LostMount:
    """A target that runs did not find on a node."""

    target_id: int
    target_name: str
    path: str
    node_id: int
    node_name: str
    since: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class FailingSchedule:
    """A schedule that failed at least twice in a row."""

    schedule_id: int
    cluster_id: int
    name: str
    streak: Streak
    reason: str  # why its last firing failed, in words
    lost_mounts: tuple[LostMount, ...] = ()  # that its last firing met

    @property
    def words(self) -> str:
        """For instance `weekly failed 4 times in a row since 8 Nov 2026: /home is not mounted on c02`."""
        count = f"{self.streak.count}{' or more' if self.streak.count >= MOST_FIRINGS else ''}"
        return f"{self.name} failed {count} times in a row since {day_written(self.streak.since)}: {self.reason}"


def failing_schedules(
    session: Session, cluster_ids: frozenset[int] | None = None, *, with_names: bool = False
) -> Mapping[int, FailingSchedule]:
    """Return by id the schedules in these clusters (None: everywhere) that fire and fail.

    A paused schedule is not among them, since a person stopped it; those of sample data are, since nothing fires there.
    A firing whose runs are still to end, were cancelled or never came counts neither way. Reasons `with_names` of
    people are not for what is stored.
    """
    last = failing_repository.outcomes(session, cluster_ids, None, FAILING_FIRINGS)
    suspected = [schedule_id for schedule_id, found in _by_schedule(last).items() if streak(found) is not None]
    if not suspected:
        return {}
    longer = _by_schedule(failing_repository.outcomes(session, cluster_ids, suspected, MOST_FIRINGS))
    streaks = {schedule_id: found for schedule_id, own in longer.items() if (found := streak(own)) is not None}
    streaks = {schedule_id: found for schedule_id, found in streaks.items() if found.count >= FAILING_FIRINGS}
    campaign_ids = [found.newest.campaign_id for found in streaks.values()]
    failed = failing_repository.failed_runs(session, campaign_ids, with_names=with_names)
    return {schedule_id: _failing(found, failed) for schedule_id, found in streaks.items()}


def streak(outcomes: Sequence[FiringResult]) -> Streak | None:
    """Count the failed firings of a schedule, the newest first, before the first that succeeded."""
    found: Streak | None = None
    for outcome in outcomes:
        if outcome.has_failed:
            count, newest = (0, outcome) if found is None else (found.count, found.newest)
            found = Streak(count + 1, outcome.fired_at, newest)
        elif outcome.has_succeeded:
            break
    return found


def reason_of(outcome: FiringResult, runs: Sequence[FailedRun]) -> str:
    """Say why a firing failed: the reason of most of its runs, and how much of the campaign they are."""
    if outcome.problem is not None:
        return outcome.problem
    lost = [run for run in runs if _has_lost(run)]
    counted = Counter(_not_mounted(run, lost) if run in lost else run.words for run in runs)
    words = counted.most_common(1)[0][0] if counted else "no run was valid"
    if outcome.failed_cells == outcome.cells:
        return words
    return f"{words} ({outcome.failed_cells} of {outcome.cells} configurations)"


def _by_schedule(outcomes: Sequence[FiringResult]) -> Mapping[int, list[FiringResult]]:
    found: defaultdict[int, list[FiringResult]] = defaultdict(list)
    for outcome in outcomes:
        found[outcome.schedule_id].append(outcome)
    return found


def _failing(found: Streak, failed: Mapping[int, Sequence[FailedRun]]) -> FailingSchedule:
    newest = found.newest
    runs = failed.get(newest.campaign_id or 0, ())
    lost = {
        (run.target_id, run.node_id): LostMount(
            *(run.target_id, run.target_name, run.path, run.node_id, run.node_name),
            since=found.since,
            last_at=newest.fired_at,
        )
        for run in runs
        if _has_lost(run)
    }
    reason = reason_of(newest, runs)
    return FailingSchedule(newest.schedule_id, newest.cluster_id, newest.name, found, reason, tuple(lost.values()))


def _has_lost(run: FailedRun) -> bool:
    """Check that this target was not found on this node; of several the reason names it, or none is blamed."""
    is_named = run.targets == 1 or run.path in run.words
    return run.reason_code in _NOT_MOUNTED and run.nodes == 1 and is_named


def _not_mounted(run: FailedRun, lost: Sequence[FailedRun]) -> str:
    return f"{run.path} is not mounted on {names({other.node_name for other in lost if other.path == run.path})}"


def names(found: set[str]) -> str:
    """Name a few of many, for instance `c01, c02, c03 and 5 more`."""
    return first_of(sorted(found), _MOST_NAMES)
