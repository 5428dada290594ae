"""Settles orders that were in flight at a backup.

An agent's next hello decides. Orders that it holds continue, unless the database does not know them: the server ends
those. Orders that it no longer holds are lost. Until then nothing starts on the node, its orders are neither
withdrawn nor offered again, and no id is reused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.clock import written
from iotide_server.runs.service import ASKED_AGAIN

LEAP: Final = 1_000_000
"""Ids to skip, because agents know orders and runs by id. More than a few of the largest campaigns use."""

_ADMINISTRATOR: Final = "iotide-server restore"

_LEAP: Final = text(
    """
    SELECT count(setval(CAST(format('%I.%I', schemaname, sequencename) AS regclass), coalesce(last_value, 0) + :leap))
    FROM pg_sequences WHERE schemaname = 'public'
    """
)
_NODES: Final = text(
    # Idle nodes of a batch system have no agent; it reports their jobs.
    """
    UPDATE node SET agent_instance = NULL, problem = :problem, problem_actor = NULL, declared_dead_at = :now,
        look_asked = look_asked + 1
    FROM cluster
    WHERE cluster.id = node.cluster_id AND cluster.launcher = 'direct' AND cluster.origin = 'own'
      AND node.retired_at IS NULL
    RETURNING node.id
    """
)
_SILENCE_NODES: Final = text("UPDATE node_beat SET seen_at = least(seen_at, :silent_at) WHERE node_id = ANY(:node_ids)")
_ORDERS: Final = text(
    """
    UPDATE node_order SET claimed_by = :asked_again, silent_since = NULL,
        state = CASE state WHEN 'offered' THEN 'claimed' ELSE state END,
        next_offer_at = CASE WHEN cancel_wanted_at IS NOT NULL THEN :now END, offers_made = 0
    WHERE state <> 'ended' AND node_id = ANY(:node_ids)
    RETURNING id
    """
)
_LOG: Final = text(
    """
    INSERT INTO run_event (run_id, order_id, at, kind, text)
    SELECT run_id, id, :now, 'restored', :words FROM node_order WHERE id = ANY(:order_ids) ORDER BY id
    """
)
_DRAIN: Final = text(
    """
    INSERT INTO drain (kind, subject_id, cluster_id, reason, by, since)
    SELECT 'cluster', cluster.id, cluster.id, :reason, :by, :now FROM cluster
    WHERE cluster.origin = 'own' AND EXISTS (SELECT FROM node WHERE node.cluster_id = cluster.id AND retired_at IS NULL)
    ON CONFLICT (kind, subject_id) DO NOTHING
    RETURNING (SELECT name FROM cluster WHERE cluster.id = drain.cluster_id)
    """
)
_VOID: Final = (
    # Sign-outs and used tokens since the backup are unknown.
    text("DELETE FROM user_session"),
    text("DELETE FROM login_link"),
    text("DELETE FROM join_token"),
    # An admin may have disabled sets since, and the disks may be used otherwise: nothing erases them unasked.
    text(
        "UPDATE scratch_set SET enabled_sha256 = NULL, enabled_disks = NULL, enabled_at = NULL, enabled_by = NULL,"
        " allows_schedules = false, allows_tokens = false"
    ),
    # Browsers reload everything.
    text("DELETE FROM change"),
)
_WORK: Final = text("UPDATE work SET held_until = NULL, sends = 0 WHERE done_version < version")


@dataclass(frozen=True, slots=True)
class Settled:
    node_count: int
    order_count: int
    drained_clusters: Sequence[str]  # nothing starts there until an operator resumes them


def settle(session: Session, made_at: datetime, now: datetime, *, resume: bool) -> Settled:
    """Make all orders in flight wait for their agents' reports. Drain unless `resume`."""
    when = written(made_at)
    session.execute(_LEAP, {"leap": LEAP})
    problem = (
        f"the database was restored to {when}: no runs start here until the agent has reported its orders and is idle"
    )
    nodes = list(session.scalars(_NODES, {"problem": problem, "now": now}))
    silent_at = now - SILENT_AFTER - timedelta(seconds=1)
    session.execute(_SILENCE_NODES, {"silent_at": silent_at, "node_ids": nodes})
    orders = list(session.scalars(_ORDERS, {"asked_again": ASKED_AGAIN, "now": now, "node_ids": nodes}))
    words = f"the database was restored to {when}; the agent will report what happened to this order since"
    session.execute(_LOG, {"now": now, "words": words, "order_ids": orders})
    drained: Sequence[str] = ()
    if not resume:
        reason = f"The database was restored to {when}. Check the nodes, then resume."
        drained = session.scalars(_DRAIN, {"reason": reason, "by": _ADMINISTRATOR, "now": now}).all()
    for statement in _VOID:
        session.execute(statement)
    session.execute(_WORK)
    return Settled(len(nodes), len(orders), drained)
