"""SQL of a campaign's timeline, with bounded results."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

AnyRow = Row[Any]
Bounds = tuple[datetime | None, datetime | None]  # first and last time; None: open

_MOST_OTHERS: Final = 200
_MOST_QUEUES: Final = 200

_OVERLAPPING: Final = """
    FROM run JOIN node_order ON node_order.run_id = run.id AND node_order.role = 'load'
    WHERE run.campaign_id = :campaign_id
      AND (CAST(:until AS timestamptz) IS NULL OR node_order.offered_at <= :until)
      AND (CAST(:since AS timestamptz) IS NULL OR node_order.ended_at IS NULL OR node_order.ended_at >= :since)
"""
_ORDERS: Final = text(
    f"""
    WITH newest AS (
        SELECT node_order.id {_OVERLAPPING} ORDER BY node_order.offered_at DESC, node_order.id DESC LIMIT :limit
    )
    SELECT node_order.id AS order_id, node_order.run_id, run.repeat, run.cell_id, workload.name AS workload,
           attempt.ordinal AS attempt, node.name AS node_name, node_order.state, node_order.outcome,
           node_order.offered_at, node_order.claimed_at, node_order.started_at, node_order.ended_at,
           node_order.silent_since, uploading.at AS uploading_at,
           greatest(run.created_at, before.ended_at, retried.at) AS waited_since,
           ARRAY(SELECT name FROM target JOIN cell_target ON target_id = id WHERE cell_id = cell.id ORDER BY name)
               AS target_names
    FROM newest JOIN node_order USING (id)
    JOIN attempt ON attempt.id = node_order.attempt_id
    JOIN run ON run.id = node_order.run_id
    JOIN cell ON cell.id = run.cell_id
    JOIN workload ON workload.id = cell.workload_id
    JOIN node ON node.id = node_order.node_id
    LEFT JOIN attempt AS before ON before.run_id = run.id AND before.ordinal = attempt.ordinal - 1
    LEFT JOIN LATERAL (
        SELECT max(at) AS at FROM run_event
        WHERE run_id = run.id AND kind = 'retried' AND at <= node_order.offered_at
    ) AS retried ON true
    LEFT JOIN LATERAL (
        SELECT min(at) AS at FROM run_event
        WHERE run_id = run.id AND order_id = node_order.id AND kind = 'uploading'
    ) AS uploading ON true
    ORDER BY node_order.offered_at, node_order.id
    """  # noqa: S608 - made of the constant above
)
_ORDER_COUNT: Final = text(f"SELECT count(*) {_OVERLAPPING}")
_LEASES: Final = """
    SELECT run.id AS run_id, run.campaign_id, campaign.name AS campaign_name, lease.resource_kind AS kind,
           coalesce(node.name, target.name, cluster.name) AS name, lease.mode, lease.taken_at, lease.released_at
    FROM lease JOIN node_order ON node_order.id = lease.order_id
    JOIN run ON run.id = node_order.run_id
    JOIN campaign ON campaign.id = run.campaign_id
    LEFT JOIN node ON lease.resource_kind = 'node' AND node.id = lease.resource_id
    LEFT JOIN target ON lease.resource_kind = 'target' AND target.id = lease.resource_id
    LEFT JOIN cluster ON lease.resource_kind = 'cluster' AND cluster.id = lease.resource_id
"""
# Every run holds a shared lease of its cluster.
_WITHOUT_SHARED_CLUSTER: Final = "WHERE (lease.resource_kind <> 'cluster' OR lease.mode = 'exclusive')"
_OWN_LEASES: Final = text(
    f"{_LEASES} {_WITHOUT_SHARED_CLUSTER} AND lease.order_id = ANY(:order_ids) ORDER BY lease.taken_at, lease.id"
)
_LEASES_OF_OTHERS: Final = text(
    f"""
    {_LEASES} {_WITHOUT_SHARED_CLUSTER} AND lease.active AND run.campaign_id <> :campaign_id
    AND (lease.resource_kind, lease.resource_id) IN (
        SELECT 'node', node_id FROM cell JOIN cell_node ON cell_id = cell.id WHERE campaign_id = :campaign_id
        UNION SELECT 'target', target_id FROM cell JOIN cell_target ON cell_id = cell.id
        WHERE campaign_id = :campaign_id
        UNION SELECT 'cluster', cluster_id FROM campaign WHERE id = :campaign_id
    ) ORDER BY lease.taken_at, lease.id LIMIT :limit
    """  # noqa: S608 - made of the constants above
)
_WAITING: Final = text(
    """
    SELECT node.name AS node_name, count(*) AS runs, min(run.created_at) AS since
    FROM run JOIN cell_node USING (cell_id) JOIN node ON node.id = cell_node.node_id
    WHERE run.campaign_id = :campaign_id AND run.state = 'waiting'
    GROUP BY node.name ORDER BY node.name LIMIT :limit
    """
)


def orders(session: Session, campaign_id: int, bounds: Bounds, limit: int) -> Sequence[AnyRow]:
    values = {"campaign_id": campaign_id, "since": bounds[0], "until": bounds[1], "limit": limit}
    return session.execute(_ORDERS, values).all()


def order_count(session: Session, campaign_id: int, bounds: Bounds) -> int:
    values = {"campaign_id": campaign_id, "since": bounds[0], "until": bounds[1]}
    return int(session.execute(_ORDER_COUNT, values).scalar_one())


def leases(session: Session, order_ids: Sequence[int]) -> Sequence[AnyRow]:
    return session.execute(_OWN_LEASES, {"order_ids": list(order_ids)}).all()


def leases_of_others(session: Session, campaign_id: int) -> Sequence[AnyRow]:
    return session.execute(_LEASES_OF_OTHERS, {"campaign_id": campaign_id, "limit": _MOST_OTHERS}).all()


def waiting(session: Session, campaign_id: int) -> Sequence[AnyRow]:
    return session.execute(_WAITING, {"campaign_id": campaign_id, "limit": _MOST_QUEUES}).all()
