"""Schedules that fail repeatedly: how often in a row, since when and why."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session
from sqlalchemy.types import BigInteger

from iotide_server.kit.clock import day_written
from iotide_server.kit.db import array_of
from iotide_server.kit.suggest import first_of

MOST_RUNS: Final = 200

_OUTCOMES: Final = text(
    """
    SELECT schedule.id AS schedule_id, schedule.cluster_id, schedule.name, fired.fired_at, fired.campaign_id,
           fired.problem, counted.cells, counted.failed_cells, counted.valid_cells
    FROM schedule
    JOIN cluster ON cluster.id = schedule.cluster_id
    JOIN LATERAL (
        SELECT id, fired_at, campaign_id, problem FROM firing
        WHERE schedule_id = schedule.id
          AND (problem IS NOT NULL OR campaign_id IS NOT NULL AND NOT EXISTS (
              SELECT FROM run WHERE run.campaign_id = firing.campaign_id AND run.state IN ('waiting', 'active')
          ) AND NOT EXISTS (
              SELECT FROM adaptive_cell WHERE adaptive_cell.campaign_id = firing.campaign_id AND ended_at IS NULL
          ))
        ORDER BY id DESC LIMIT :firings
    ) AS fired ON true
    CROSS JOIN LATERAL (
        SELECT count(*) AS cells, count(*) FILTER (WHERE is_valid) AS valid_cells,
               count(*) FILTER (WHERE has_failed AND NOT is_valid) AS failed_cells
        FROM (
            SELECT bool_or(state = 'finished' AND validity = 'valid') AS is_valid,
                   bool_or(state = 'failed' OR state = 'finished' AND validity = 'rejected') AS has_failed
            FROM run WHERE run.campaign_id = fired.campaign_id GROUP BY cell_id
        ) AS cell
    ) AS counted
    WHERE schedule.removed_at IS NULL
      AND (schedule.state = 'active' OR cluster.origin = 'made_up')
      AND (CAST(:cluster_ids AS bigint[]) IS NULL OR schedule.cluster_id = ANY(:cluster_ids))
      AND (CAST(:schedule_ids AS bigint[]) IS NULL OR schedule.id = ANY(:schedule_ids))
    ORDER BY schedule.id, fired.id DESC
    """
).bindparams(
    bindparam("cluster_ids", type_=ARRAY(BigInteger)),
    bindparam("schedule_ids", type_=ARRAY(BigInteger)),
)
_FAILED_RUNS: Final = text(
    """
    SELECT failed.campaign_id, failed.reason_code,
           coalesce(worded(failed.reason, failed.reason_actor, :with_names), failed.flagged, 'no run was valid')
               AS words,
           node.id AS node_id, node.name AS node_name, target.id AS target_id, target.name AS target_name,
           coalesce(mount.path, target.path) AS path,
           (SELECT count(*) FROM cell_node WHERE cell_id = failed.cell_id) AS nodes,
           (SELECT count(*) FROM cell_target WHERE cell_id = failed.cell_id) AS targets
    FROM unnest(CAST(:campaign_ids AS bigint[])) AS wanted (campaign_id)
    CROSS JOIN LATERAL (
        SELECT id, campaign_id, cell_id, reason_code, reason, reason_actor,
               (SELECT string_agg(DISTINCT flag->>'code', ', ') FROM jsonb_array_elements(flags) AS flag
                WHERE flag->>'effect' = 'rejected') AS flagged
        FROM run WHERE campaign_id = wanted.campaign_id AND (state = 'failed' OR validity = 'rejected')
        ORDER BY id LIMIT :most
    ) AS failed
    JOIN cell_node ON cell_node.cell_id = failed.cell_id
    JOIN node ON node.id = cell_node.node_id
    JOIN cell_target ON cell_target.cell_id = failed.cell_id
    JOIN target ON target.id = cell_target.target_id
    LEFT JOIN target_mount AS mount ON mount.target_id = target.id AND mount.node_id = node.id
    ORDER BY failed.id, node.name, target.name
    """
).bindparams(bindparam("campaign_ids", type_=ARRAY(BigInteger)))


@dataclass(frozen=True, slots=True)
class FiringResult:
    schedule_id: int
    cluster_id: int
    name: str
    fired_at: datetime
    campaign_id: int | None
    problem: str | None
    cells: int  # cells of the campaign; failed: without any valid run
    failed_cells: int
    valid_cells: int

    @property
    def has_failed(self) -> bool:
        """Return true if it submitted nothing, or a configuration gave no valid run."""
        return self.problem is not None or self.failed_cells > 0

    @property
    def has_succeeded(self) -> bool:
        """Return true if it gave valid runs; a cancelled campaign counts neither way."""
        return not self.has_failed and self.valid_cells > 0


@dataclass(frozen=True, slots=True)
class FailedRun:
    reason_code: str | None
    words: str
    node_id: int
    node_name: str
    target_id: int
    target_name: str
    path: str
    nodes: int
    targets: int


def outcomes(
    session: Session, cluster_ids: frozenset[int] | None, schedule_ids: Collection[int] | None, firings: int
) -> list[FiringResult]:
    """Return the newest completed firings of active schedules, newest first."""
    values = {
        "cluster_ids": array_of(cluster_ids),
        "schedule_ids": array_of(schedule_ids),
        "firings": firings,
    }
    return [FiringResult(*row) for row in session.execute(_OUTCOMES, values)]


def failed_runs(
    session: Session, campaign_ids: Collection[int | None], *, with_names: bool
) -> Mapping[int, Sequence[FailedRun]]:
    """Return the first failed or rejected runs by campaign. The words name people only `with_names`."""
    found: defaultdict[int, list[FailedRun]] = defaultdict(list)
    wanted = sorted(campaign_id for campaign_id in campaign_ids if campaign_id is not None)
    asked = {"campaign_ids": wanted, "most": MOST_RUNS, "with_names": with_names}
    for campaign_id, *values in session.execute(_FAILED_RUNS, asked):
        found[campaign_id].append(FailedRun(*values))
    return found


FAILING_FIRINGS: Final = 2  # a single firing may fail by chance
MOST_FIRINGS: Final = 20  # firings read per schedule, and the longest reported streak
_NOT_MOUNTED: Final = frozenset({"wrong_mount", "target_missing", "target_not_mounted"})
"""Reason codes of runs whose target was missing."""
_MOST_NAMES: Final = 3


@dataclass(frozen=True, slots=True)
class Streak:
    """Newest failed firings, with no success in between."""

    count: int
    since: datetime
    newest: FiringResult


@dataclass(frozen=True, slots=True)
class LostMount:
    target_id: int
    target_name: str
    path: str
    node_id: int
    node_name: str
    since: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class FailingSchedule:
    schedule_id: int
    cluster_id: int
    name: str
    streak: Streak
    reason: str
    lost_mounts: tuple[LostMount, ...] = ()

    @property
    def words(self) -> str:
        """Return e.g. `weekly failed 4 times in a row since 8 Nov 2026: /home is not mounted on c02`."""
        count = f"{self.streak.count}{' or more' if self.streak.count >= MOST_FIRINGS else ''}"
        return f"{self.name} failed {count} times in a row since {day_written(self.streak.since)}: {self.reason}"


def failing_schedules(
    session: Session, cluster_ids: frozenset[int] | None = None, *, with_names: bool = False
) -> Mapping[int, FailingSchedule]:
    """Return by id the failing schedules in these clusters (None: all).

    Paused ones are left out, those of sample data included. Firings with open, cancelled or no runs are ignored. Do
    not store reasons read `with_names`.
    """
    last = outcomes(session, cluster_ids, None, FAILING_FIRINGS)
    suspected = [schedule_id for schedule_id, found in _by_schedule(last).items() if streak(found) is not None]
    if not suspected:
        return {}
    longer = _by_schedule(outcomes(session, cluster_ids, suspected, MOST_FIRINGS))
    streaks = {schedule_id: found for schedule_id, own in longer.items() if (found := streak(own)) is not None}
    streaks = {schedule_id: found for schedule_id, found in streaks.items() if found.count >= FAILING_FIRINGS}
    campaign_ids = [found.newest.campaign_id for found in streaks.values()]
    failed = failed_runs(session, campaign_ids, with_names=with_names)
    return {schedule_id: _failing(found, failed) for schedule_id, found in streaks.items()}


def streak(outcomes: Sequence[FiringResult]) -> Streak | None:
    found: Streak | None = None
    for outcome in outcomes:
        if outcome.has_failed:
            count, newest = (0, outcome) if found is None else (found.count, found.newest)
            found = Streak(count + 1, outcome.fired_at, newest)
        elif outcome.has_succeeded:
            break
    return found


def reason_of(outcome: FiringResult, runs: Sequence[FailedRun]) -> str:
    """Return the most common reason of the runs, and their share of the campaign."""
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
    is_named = run.targets == 1 or run.path in run.words
    return run.reason_code in _NOT_MOUNTED and run.nodes == 1 and is_named


def _not_mounted(run: FailedRun, lost: Sequence[FailedRun]) -> str:
    return f"{run.path} is not mounted on {names({other.node_name for other in lost if other.path == run.path})}"


def names(found: set[str]) -> str:
    """Return e.g. `c01, c02, c03 and 5 more`."""
    return first_of(sorted(found), _MOST_NAMES)
