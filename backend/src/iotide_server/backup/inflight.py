"""What was in flight at a backup, settled after its return by evidence alone: nothing is freed that may still load.

Between the backup and the loss of the database the service went on, and of that nothing is known here. Three things
may be true of a node, and its agent's next hello tells which: it holds the orders that it held, and they go on; it no
longer has one, which has ended meanwhile or was never claimed; it holds one that the database does not know, which
its agent ends at the server's word. Until then nothing starts on the node, no order of it is withdrawn or offered
again, and no number is given out that may have been given out before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.clock import written
from iotide_server.runs.service import ASKED_ANEW

LEAP: Final = 1_000_000
"""No number is given twice: agents know orders and runs by theirs. More than a few of the largest campaigns have."""

_ADMINISTRATOR: Final = "iotide-server restore"

_LEAP: Final = text(
    """
    SELECT count(setval(CAST(format('%I.%I', schemaname, sequencename) AS regclass), coalesce(last_value, 0) + :leap))
    FROM pg_sequences WHERE schemaname = 'public'
    """
)
_NODES: Final = text(
    # Those of a batch system have no agent of their own while they are idle: what becomes of their orders is told by
    # the batch system itself, which lists its jobs.
    """
    UPDATE node SET agent_instance = NULL, problem = :problem, problem_actor = NULL, declared_dead_at = :now,
        look_asked = look_asked + 1
    FROM cluster
    WHERE cluster.id = node.cluster_id AND cluster.launcher = 'direct' AND cluster.origin = 'own'
      AND node.retired_at IS NULL
    RETURNING node.id
    """
)
_BEATS: Final = text("UPDATE node_beat SET seen_at = least(seen_at, :silent_at) WHERE node_id = ANY(:node_ids)")
_ORDERS: Final = text(
    """
    UPDATE node_order SET claimed_by = :asked_anew, silent_since = NULL,
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
    # Who was signed out or let in since is not known: browsers sign in again, nodes are let in by new tokens.
    text("DELETE FROM user_session"),
    text("DELETE FROM login_link"),
    text("DELETE FROM join_token"),
    # Every browser reads anew.
    text("DELETE FROM change"),
)
_WORK: Final = text("UPDATE work SET held_until = NULL, sends = 0 WHERE done_version < version")


@dataclass(frozen=True, slots=True)
class Settled:
    """What was done about it."""

    node_count: int  # nodes that are asked what they hold
    order_count: int  # orders that had not ended
    drained_clusters: Sequence[str]  # names of those in which nothing starts until a person resumes them


def settle(session: Session, made_at: datetime, now: datetime, *, resume: bool) -> Settled:
    """Put all that was in flight at the backup into the hands of its agents' next words; drain unless `resume`."""
    when = written(made_at)
    session.execute(_LEAP, {"leap": LEAP})
    problem = (
        f"the database is that of {when} again: nothing starts here until the agent said what it holds and is idle"
    )
    nodes = list(session.scalars(_NODES, {"problem": problem, "now": now}))
    silent_at = now - SILENT_AFTER - timedelta(seconds=1)
    session.execute(_BEATS, {"silent_at": silent_at, "node_ids": nodes})
    orders = list(session.scalars(_ORDERS, {"asked_anew": ASKED_ANEW, "now": now, "node_ids": nodes}))
    words = f"the database is that of {when} again; what became of this order since, its agent will say"
    session.execute(_LOG, {"now": now, "words": words, "order_ids": orders})
    drained: Sequence[str] = ()
    if not resume:
        reason = f"The database is that of {when} again. Look at the nodes, then resume."
        drained = session.scalars(_DRAIN, {"reason": reason, "by": _ADMINISTRATOR, "now": now}).all()
    for statement in _VOID:
        session.execute(statement)
    session.execute(_WORK)
    return Settled(len(nodes), len(orders), drained)
