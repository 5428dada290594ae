"""What time alone changes: silence is flagged, a passed time limit is flagged, old news goes. Nothing is ever freed."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.accounts import sessions
from iotide_server.clusters import agents
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.live import service as live

OVERDUE_AFTER: Final = timedelta(seconds=60)
"""How long after its time limit a run's end may take to arrive before it is called overdue."""


def flag_silence(session: Session, since: datetime, now: datetime) -> None:
    """Flag the orders of nodes that missed three beats, and tell browsers of nodes that fell silent since then."""
    rows = session.execute(
        text(
            """
            UPDATE node_order SET silent_since = node_beat.seen_at
            FROM node_beat, run
            WHERE node_beat.node_id = node_order.node_id AND run.id = node_order.run_id
              AND node_order.state NOT IN ('offered', 'ended') AND node_order.silent_since IS NULL
              AND node_beat.seen_at < :heard_before
            RETURNING run.id, run.cluster_id
            """
        ),
        {"heard_before": now - SILENT_AFTER},
    ).all()
    live.publish_all(session, [("run", row.id, row.cluster_id) for row in rows])
    agents.tell_silence(session, since, now)


def flag_overdue(session: Session, now: datetime) -> None:
    """Flag the runs whose time limit has passed although nothing was heard of their end."""
    rows = session.execute(
        text(
            """
            UPDATE run SET overdue = true
            FROM node_order
            WHERE node_order.run_id = run.id AND node_order.state <> 'ended'
              AND run.state = 'active' AND NOT run.overdue
              AND node_order.started_at + run.time_limit_seconds * interval '1 s' < :due_before
            RETURNING run.id, run.cluster_id
            """
        ),
        {"due_before": now - OVERDUE_AFTER},
    ).all()
    live.publish_all(session, [("run", row.id, row.cluster_id) for row in rows])


def forget(session: Session, now: datetime) -> None:
    """Delete what nobody asks for any more: old news, and sign-ins that have expired."""
    live.forget_old(session, now)
    sessions.forget_expired(session, now)
