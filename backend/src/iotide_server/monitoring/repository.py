"""SQL of the metrics and the doctor, which only read.

No query grows with history: partial indexes count only open runs and orders.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.db import limit_statements
from iotide_server.kit.pulse import DUE_SINCE
from iotide_server.kit.work import FAILING

BACKUP_TAKEN: Final = "backup_taken"

RUNS: Final = text(
    """
    SELECT cluster.name AS cluster, open.state, open.number, open.first_at
    FROM (
        SELECT cluster_id, state, count(*) AS number, min(created_at) AS first_at
        FROM run WHERE state IN ('waiting', 'active') GROUP BY cluster_id, state
    ) AS open
    JOIN cluster ON cluster.id = open.cluster_id
    """
)
OVERDUE: Final = text(
    "SELECT cluster.name AS cluster, count(*) AS number FROM run JOIN cluster ON cluster.id = run.cluster_id"
    " WHERE run.overdue AND run.state = 'active' GROUP BY cluster.name"
)
_NODES: Final = text(
    """
    SELECT cluster.name AS cluster, CASE WHEN node.agent_version IS NULL THEN ''
                WHEN node.agent_version ~ '^[0-9]{1,3}([.][0-9]{1,4}){0,2}[a-z0-9.+-]{0,16}$' THEN node.agent_version
                ELSE 'other' END AS version,
           CASE WHEN seen_at IS NULL THEN 'never_seen' WHEN seen_at < :seen_after THEN 'silent'
                WHEN node.stuck IS NOT NULL THEN 'stuck' ELSE 'online' END
               AS state,
           count(*) AS number, count(node.problem) AS problems, min(seen_at) AS seen_at, sum(spool_bytes) AS spool_bytes
    FROM node JOIN cluster ON cluster.id = node.cluster_id LEFT JOIN node_beat ON node_beat.node_id = node.id
    WHERE node.retired_at IS NULL AND node.revoked_at IS NULL AND cluster.origin = 'own'
    GROUP BY 1, 2, 3
    """
)
EACH_NODE: Final = text(
    """
    SELECT cluster.name AS cluster, node.name AS node, seen_at, spool_bytes
    FROM node JOIN cluster ON cluster.id = node.cluster_id LEFT JOIN node_beat ON node_beat.node_id = node.id
    WHERE node.retired_at IS NULL AND node.revoked_at IS NULL AND cluster.origin = 'own' ORDER BY 1, 2
    """
)
CLUSTERS: Final = text("SELECT name FROM cluster WHERE origin = 'own' ORDER BY name")
ORDERS: Final = text(
    "SELECT state, count(*) AS number, count(silent_since) AS silent, min(offered_at) AS first_at"
    " FROM node_order WHERE state <> 'ended' GROUP BY state"
)
LEASES: Final = text("SELECT resource_kind AS kind, mode, count(*) AS number FROM lease WHERE active GROUP BY 1, 2")
DRAINS: Final = text("SELECT kind, count(*) AS number FROM drain WHERE until IS NULL OR until > :now GROUP BY kind")
WORK: Final = text(
    f"""
    SELECT kind, count(*) AS number, count(*) FILTER (WHERE {FAILING}) AS failing, min({DUE_SINCE}) AS due_since
    FROM work WHERE done_version < version GROUP BY kind
    """  # noqa: S608 - constants of ours
)
_NEWEST_BACKUP: Final = text("SELECT at FROM audit_entry WHERE action = :action ORDER BY at DESC, id DESC LIMIT 1")
SIZE: Final = text("SELECT pg_database_size(current_database())")


def bound(session: Session, seconds: float) -> None:
    session.execute(text("SET TRANSACTION READ ONLY"))
    limit_statements(session, seconds)


def nodes(session: Session, now: datetime) -> Sequence[Row[Any]]:
    return session.execute(_NODES, {"seen_after": now - SILENT_AFTER}).all()


def newest_backup(session: Session) -> datetime | None:
    taken_at: datetime | None = session.scalars(_NEWEST_BACKUP, {"action": BACKUP_TAKEN}).one_or_none()
    return taken_at
