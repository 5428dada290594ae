"""SQL of what rules read; every statement is bounded."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Result, Row, select, text
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import CellTarget
from iotide_server.kit.db import any_text_of
from iotide_server.results.models import Environment
from iotide_wire.facts import Facts

MOST_CELLS: Final = 300
MOST_POINTS: Final = 5000
MOST_ENVIRONMENTS: Final = 60

AnyRow = Row[Any]

_DESCRIBED: Final = """
    SELECT cell.id, cell.ordinal, cell.campaign_id, campaign.cluster_id, workload.name AS workload, cell.options,
           cell.variant,
           ARRAY(SELECT node.name FROM node JOIN cell_node ON node_id = node.id
                 WHERE cell_id = cell.id AND step_role IS DISTINCT FROM 'sender' ORDER BY node.name) AS nodes,
           EXISTS (SELECT FROM cell_node WHERE cell_id = cell.id AND step_role = 'head') AS is_one_program,
           ARRAY(SELECT target.name FROM target JOIN cell_target ON target_id = target.id
                 WHERE cell_id = cell.id ORDER BY target.name) AS targets,
           (SELECT min(target_mount.free_bytes) FROM cell_target JOIN target_mount USING (target_id)
            JOIN cell_node USING (cell_id, node_id) WHERE cell_id = cell.id) AS free_bytes,
           ended.run_ids, ended.environment_sha256
    FROM cell
    JOIN campaign ON campaign.id = cell.campaign_id
    JOIN workload ON workload.id = cell.workload_id
    CROSS JOIN LATERAL (
        SELECT array_agg(run.id ORDER BY run.id) AS run_ids,
               (array_agg(run.environment_sha256 ORDER BY run.id DESC))[1] AS environment_sha256
        FROM run WHERE run.cell_id = cell.id AND run.state = 'finished' AND run.validity = 'valid'
    ) AS ended
"""
_OF_CAMPAIGN: Final = text(
    _DESCRIBED
    + """
    WHERE cell.campaign_id = :id AND ended.run_ids IS NOT NULL
    ORDER BY cell.ordinal LIMIT :limit
    """
)
_OF_IDS: Final = text(_DESCRIBED + "WHERE cell.id = ANY(:ids) AND ended.run_ids IS NOT NULL ORDER BY cell.id DESC")
_POINTS: Final = text(
    """
    SELECT point.cell_id, series.metric, series.unit, series.labels,
           point.run_count, point.median, point.low, point.high, point.flags
    FROM point JOIN series ON series.id = point.series_id
    WHERE point.cell_id = ANY(:cell_ids) AND series.metric IN ('throughput', 'total_throughput')
      AND series.unit = 'bytes_per_second' AND NOT series.labels ? 'writer'
    ORDER BY point.cell_id DESC, point.id LIMIT :limit
    """
)
_MOUNTS: Final = text(
    """
    SELECT target.name AS target, node.name AS node, target_mount.mount_point, target_mount.source
    FROM cell_target
    JOIN target ON target.id = cell_target.target_id
    JOIN cell_node ON cell_node.cell_id = cell_target.cell_id
    JOIN node ON node.id = cell_node.node_id
    JOIN target_mount ON target_mount.target_id = target.id AND target_mount.node_id = node.id
    WHERE cell_target.cell_id = ANY(:cell_ids)
    GROUP BY target.name, node.name, target_mount.mount_point, target_mount.source
    """
)


def campaign_cells(session: Session, campaign_id: int) -> Sequence[AnyRow]:
    """Return cells with valid runs, one more than the limit if there are more."""
    return session.execute(_OF_CAMPAIGN, {"id": campaign_id, "limit": MOST_CELLS + 1}).all()


def target_cells(session: Session, target_id: int) -> Sequence[AnyRow]:
    newest = select(CellTarget.cell_id).where(CellTarget.target_id == target_id).order_by(CellTarget.cell_id.desc())
    return session.execute(_OF_IDS, {"ids": list(session.scalars(newest.limit(MOST_CELLS)))}).all()


def points(session: Session, cell_ids: Collection[int]) -> Result[Any]:
    return session.execute(_POINTS, {"cell_ids": list(cell_ids), "limit": MOST_POINTS + 1})


def environments(session: Session, digests: Collection[str]) -> Mapping[str, Facts]:
    wanted = select(Environment.sha256, Environment.facts).where(Environment.sha256 == any_text_of(digests))
    return {sha256: facts for sha256, facts in session.execute(wanted.limit(MOST_ENVIRONMENTS))}  # noqa: C416 - rows are no tuples to mypy


def mounts(session: Session, cell_ids: Collection[int]) -> Sequence[AnyRow]:
    return session.execute(_MOUNTS, {"cell_ids": list(cell_ids)}).all()
