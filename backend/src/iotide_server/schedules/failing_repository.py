"""SQL of what firings came to."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session
from sqlalchemy.types import BigInteger

from iotide_server.kit.db import array_of

MOST_RUNS: Final = 200  # failed runs of a campaign that are looked at for a reason

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
              SELECT FROM run WHERE run.campaign_id = firing.campaign_id AND run.state IN ('waiting', 'active')))
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
    """What a firing came to, once it is over."""

    schedule_id: int
    cluster_id: int
    name: str
    fired_at: datetime
    campaign_id: int | None  # None where there is a `problem`
    problem: str | None
    cells: int  # of the campaign; those with a valid run, and those with failed or rejected runs alone
    failed_cells: int
    valid_cells: int

    @property
    def has_failed(self) -> bool:
        """Check that it could submit nothing, or that a configuration gave no valid run."""
        return self.problem is not None or self.failed_cells > 0

    @property
    def has_succeeded(self) -> bool:
        """Check that it gave valid runs; a cancelled campaign neither failed nor succeeded."""
        return not self.has_failed and self.valid_cells > 0


@dataclass(frozen=True, slots=True)
class FailedRun:
    """A run that failed or was rejected, once for each of its nodes and targets."""

    reason_code: str | None
    words: str
    node_id: int
    node_name: str
    target_id: int
    target_name: str
    path: str
    # nodes, targets: how many the run has
    nodes: int
    targets: int


def outcomes(
    session: Session, cluster_ids: frozenset[int] | None, schedule_ids: Collection[int] | None, firings: int
) -> list[FiringResult]:
    """Return the newest firings that are over of the schedules that fire, by schedule, the newest first."""
    values = {
        "cluster_ids": array_of(cluster_ids),
        "schedule_ids": array_of(schedule_ids),
        "firings": firings,
    }
    return [FiringResult(*row) for row in session.execute(_OUTCOMES, values)]


def failed_runs(
    session: Session, campaign_ids: Collection[int | None], *, with_names: bool
) -> Mapping[int, Sequence[FailedRun]]:
    """Return by campaign the first runs that failed or were rejected; `with_names`: their words may name people."""
    found: defaultdict[int, list[FailedRun]] = defaultdict(list)
    wanted = sorted(campaign_id for campaign_id in campaign_ids if campaign_id is not None)
    asked = {"campaign_ids": wanted, "most": MOST_RUNS, "with_names": with_names}
    for campaign_id, *values in session.execute(_FAILED_RUNS, asked):
        found[campaign_id].append(FailedRun(*values))
    return found
