"""SQL of what needs attention besides series: mounts, schedules and nodes."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session
from sqlalchemy.types import BigInteger

from iotide_server.overview.attention import KnownMount

OVERDUE_AFTER: Final = timedelta(hours=1)  # the scheduler fires within seconds; a restart takes minutes
SILENT_AFTER: Final = timedelta(minutes=5)  # an agent that is started again needs nobody

# A target whose nodes are all retired is announced by none; what is retired itself was given up on purpose.
_MOUNTS: Final = text(
    """
    SELECT target.cluster_id, target.id AS target_id, target.name AS target_name, target.path AS target_path,
           node.id AS node_id, node.name AS node_name, mount.path, mount.problem, mount.seen_at, target.created_at
    FROM target
    JOIN cluster ON cluster.id = target.cluster_id AND cluster.origin <> 'published'
    LEFT JOIN (target_mount AS mount JOIN node ON node.id = mount.node_id AND node.retired_at IS NULL)
           ON mount.target_id = target.id
    WHERE target.retired_at IS NULL AND (CAST(:visible AS bigint[]) IS NULL OR target.cluster_id = ANY(:visible))
      AND EXISTS (SELECT FROM target_mount WHERE target_id = target.id)
      AND (node.id IS NULL
           OR target.id IN (SELECT target_id FROM target_mount WHERE problem IS NOT NULL)
           OR target.id = ANY(:suspected))
    ORDER BY target.cluster_id, target.id, node.name
    """
).bindparams(bindparam("visible", type_=ARRAY(BigInteger)), bindparam("suspected", type_=ARRAY(BigInteger)))
_OVERDUE: Final = text(
    """
    SELECT schedule.id, schedule.cluster_id, schedule.name, schedule.due_at
    FROM schedule
    WHERE schedule.state = 'active' AND schedule.removed_at IS NULL AND schedule.due_at < :due_before
      AND (CAST(:visible AS bigint[]) IS NULL OR schedule.cluster_id = ANY(:visible))
    ORDER BY schedule.due_at, schedule.id
    """
).bindparams(bindparam("visible", type_=ARRAY(BigInteger)))
# Agents of a batch system live as long as their jobs, and nothing sends heartbeats for sample data. Of a drained node a
# person knows.
_SILENT: Final = text(
    """
    SELECT node.cluster_id, min(node.id) AS node_id, count(*) AS nodes,
           min(coalesce(beat.seen_at, node.created_at)) AS since, bool_and(beat.seen_at IS NULL) AS never_seen,
           (array_agg(node.name ORDER BY node.name))[1\\:20] AS names
    FROM node
    JOIN cluster ON cluster.id = node.cluster_id AND cluster.origin = 'own' AND cluster.launcher = 'direct'
    LEFT JOIN node_beat AS beat ON beat.node_id = node.id
    WHERE node.retired_at IS NULL AND coalesce(beat.seen_at, node.created_at) < :silent_before
      AND NOT EXISTS (SELECT FROM drain WHERE kind = 'node' AND subject_id = node.id
                      AND (until IS NULL OR until > :now))
      AND (CAST(:visible AS bigint[]) IS NULL OR node.cluster_id = ANY(:visible))
    GROUP BY node.cluster_id ORDER BY node.cluster_id
    """
).bindparams(bindparam("visible", type_=ARRAY(BigInteger)))


_STUCK: Final = text(
    """
    SELECT node.cluster_id, node.id, node.name, node.stuck FROM node
    WHERE node.stuck IS NOT NULL AND node.retired_at IS NULL
      AND (CAST(:visible AS bigint[]) IS NULL OR node.cluster_id = ANY(:visible))
    ORDER BY node.cluster_id, node.name
    """
).bindparams(bindparam("visible", type_=ARRAY(BigInteger)))


def stuck_nodes(session: Session, visible: list[int] | None) -> Sequence[Row[Any]]:
    """Return the nodes on which no signal ends a load."""
    return session.execute(_STUCK, {"visible": visible}).all()


def doubtful_mounts(session: Session, visible: list[int] | None, suspected: Sequence[int]) -> list[KnownMount]:
    """Return all mounts of the targets that miss one or are suspected to, by target and name of the node."""
    rows = session.execute(_MOUNTS, {"visible": visible, "suspected": list(suspected)})
    return [KnownMount(*row) for row in rows]


def overdue_schedules(session: Session, visible: list[int] | None, now: datetime) -> Sequence[Row[Any]]:
    """Return the active schedules that should have fired and did not, the longest overdue first."""
    return session.execute(_OVERDUE, {"visible": visible, "due_before": now - OVERDUE_AFTER}).all()


def silent_nodes(session: Session, visible: list[int] | None, now: datetime) -> Sequence[Row[Any]]:
    """Return by cluster how many nodes send no heartbeat, with the first names."""
    values = {"visible": visible, "now": now, "silent_before": now - SILENT_AFTER}
    return session.execute(_SILENT, values).all()
