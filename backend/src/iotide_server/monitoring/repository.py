"""SQL of what metrics and doctor tell of the whole service; it reads tables of all slices and writes none.

Nothing here grows with history: of runs and orders the open ones are counted, by their partial indexes.
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
"""By which the audit knows a backup, and so do we."""

_RUNS: Final = text(
    """
    SELECT cluster.name AS cluster, open.state, open.number, open.first_at
    FROM (
        SELECT cluster_id, state, count(*) AS number, min(created_at) AS first_at
        FROM run WHERE state IN ('waiting', 'active') GROUP BY cluster_id, state
    ) AS open
    JOIN cluster ON cluster.id = open.cluster_id
    """
)
_OVERDUE: Final = text(
    "SELECT cluster.name AS cluster, count(*) AS number FROM run JOIN cluster ON cluster.id = run.cluster_id"
    " WHERE run.overdue AND run.state = 'active' GROUP BY cluster.name"
)
_NODES: Final = text(
    """
    SELECT cluster.name AS cluster, CASE WHEN node.agent_version IS NULL THEN ''
                WHEN node.agent_version ~ '^[0-9]{1,3}([.][0-9]{1,4}){0,2}[a-z0-9.+-]{0,16}$' THEN node.agent_version
                ELSE 'other' END AS version,
           CASE WHEN seen_at IS NULL THEN 'never_seen' WHEN seen_at < :heard_after THEN 'silent'
                WHEN node.stuck IS NOT NULL THEN 'stuck' ELSE 'online' END
               AS state,
           count(*) AS number, count(node.problem) AS problems, min(seen_at) AS seen_at, sum(spool_bytes) AS spool_bytes
    FROM node JOIN cluster ON cluster.id = node.cluster_id LEFT JOIN node_beat ON node_beat.node_id = node.id
    WHERE node.retired_at IS NULL AND node.revoked_at IS NULL AND cluster.origin = 'own'
    GROUP BY 1, 2, 3
    """
)
_EACH_NODE: Final = text(
    """
    SELECT cluster.name AS cluster, node.name AS node, seen_at, spool_bytes
    FROM node JOIN cluster ON cluster.id = node.cluster_id LEFT JOIN node_beat ON node_beat.node_id = node.id
    WHERE node.retired_at IS NULL AND node.revoked_at IS NULL AND cluster.origin = 'own' ORDER BY 1, 2
    """
)
_CLUSTERS: Final = text("SELECT name FROM cluster WHERE origin = 'own' ORDER BY name")
_ORDERS: Final = text(
    "SELECT state, count(*) AS number, count(silent_since) AS silent, min(offered_at) AS first_at"
    " FROM node_order WHERE state <> 'ended' GROUP BY state"
)
_LEASES: Final = text("SELECT resource_kind AS kind, mode, count(*) AS number FROM lease WHERE active GROUP BY 1, 2")
_DRAINS: Final = text("SELECT kind, count(*) AS number FROM drain WHERE until IS NULL OR until > :now GROUP BY kind")
_WORK: Final = text(
    f"""
    SELECT kind, count(*) AS number, count(*) FILTER (WHERE {FAILING}) AS failing, min({DUE_SINCE}) AS due_since
    FROM work WHERE done_version < version GROUP BY kind
    """  # noqa: S608 - constants of ours
)
_NEWEST_BACKUP: Final = text("SELECT at FROM audit_entry WHERE action = :action ORDER BY at DESC, id DESC LIMIT 1")
_SIZE: Final = text("SELECT pg_database_size(current_database())")


def bound(session: Session, seconds: float) -> None:
    """Let no statement of this transaction take longer, and none write."""
    session.execute(text("SET TRANSACTION READ ONLY"))
    limit_statements(session, seconds)


def own_clusters(session: Session) -> Sequence[str]:
    """The names of the clusters that measure."""
    return session.scalars(_CLUSTERS).all()


def open_runs(session: Session) -> Sequence[Row[Any]]:
    """`cluster`, `state` (waiting or active), `number` and when the first of them was made."""
    return session.execute(_RUNS).all()


def overdue_runs(session: Session) -> Sequence[Row[Any]]:
    """`cluster` and `number` of the active runs whose time limit passed in silence."""
    return session.execute(_OVERDUE).all()


def nodes(session: Session, now: datetime) -> Sequence[Row[Any]]:
    """Nodes neither retired nor revoked by `cluster`, agent's `version` and `state`: `number`, with `problems`, ..."""
    return session.execute(_NODES, {"heard_after": now - SILENT_AFTER}).all()


def each_node(session: Session) -> Sequence[Row[Any]]:
    """`cluster`, `node`, when it was last heard of and what its spool holds, for each of these nodes."""
    return session.execute(_EACH_NODE).all()


def open_orders(session: Session) -> Sequence[Row[Any]]:
    """Orders that have not ended, by `state`."""
    return session.execute(_ORDERS).all()


def leases(session: Session) -> Sequence[Row[Any]]:
    """Leases that are held, by `kind` of resource and `mode`."""
    return session.execute(_LEASES).all()


def drains(session: Session, now: datetime) -> Sequence[Row[Any]]:
    """What is drained, by `kind`."""
    return session.execute(_DRAINS, {"now": now}).all()


def open_work(session: Session) -> Sequence[Row[Any]]:
    """Server work that is wanted, by `kind`; `due_since` is in the future where none of it is due yet."""
    return session.execute(_WORK).all()


def database_bytes(session: Session) -> int:
    """What the database takes on its disk."""
    size_bytes: int = session.scalars(_SIZE).one()
    return size_bytes


def newest_backup(session: Session) -> datetime | None:
    """When `iotide-server backup` was last done, by the audit."""
    taken_at: datetime | None = session.scalars(_NEWEST_BACKUP, {"action": BACKUP_TAKEN}).one_or_none()
    return taken_at
