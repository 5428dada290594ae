"""What time alone changes: silence is flagged, a passed time limit is flagged, old news goes. Nothing is ever freed."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts import sessions
from iotide_server.clusters import agents
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.live import service as live
from iotide_server.scheduling import due

OVERDUE_AFTER: Final = timedelta(seconds=60)
"""How long after its time limit a run's end may take to arrive before it is called overdue."""


def flag_silence(session: Session, since: datetime, now: datetime) -> None:
    """Flag the orders of nodes that missed three beats, and tell browsers of nodes that fell silent since then."""
    rows = due.flag_silent_orders(session, now - SILENT_AFTER)
    live.publish_all(session, [("run", row.id, row.cluster_id) for row in rows])
    agents.tell_silence(session, since, now)


def flag_overdue(session: Session, now: datetime) -> None:
    """Flag the runs whose time limit has passed although nothing was heard of their end."""
    rows = due.flag_overdue_runs(session, now - OVERDUE_AFTER)
    live.publish_all(session, [("run", row.id, row.cluster_id) for row in rows])


def forget(session: Session, now: datetime) -> None:
    """Delete what nobody asks for any more: old news, and sign-ins that have expired."""
    live.forget_old(session, now)
    sessions.forget_expired(session, now)
