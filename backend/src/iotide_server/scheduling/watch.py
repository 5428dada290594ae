"""What time alone changes: silence is flagged, a passed time limit is flagged, old news goes.

Of a load that may run, nothing is ever freed; a gang that does not come together has none, nor has an observer.
"""

from datetime import datetime, timedelta
from typing import Final

import structlog
from sqlalchemy.orm import Session

from iotide_server.accounts.sessions import service as sessions
from iotide_server.change_feed import repository as news
from iotide_server.change_feed import service as live
from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.enrolment import pending
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.db import Database, unless_held_up
from iotide_server.notifications import service as notifications
from iotide_server.runs import service as runs
from iotide_server.runs.endings import Ending
from iotide_server.runs.lifecycle import OrderEnd
from iotide_server.scheduling import due
from iotide_wire.messages import OrderState
from iotide_wire.units import format_seconds

OVERDUE_AFTER: Final = timedelta(seconds=60)
"""How long after its time limit a run's end may take to arrive before it is called overdue."""

BARRIER_TIMEOUT: Final = timedelta(seconds=120)
"""So long may a gang take until all its nodes agreed on a start: an unclaimed order is withdrawn after half of it."""

OBSERVER_GRACE: Final = timedelta(seconds=60)
"""So long after the end of the loads an observer's curves are taken; it hears of that end by its next beat."""

_log = structlog.get_logger(__name__)


def dissolve_late(database: Database, now: datetime) -> None:
    """Take back the orders of gangs whose nodes do not agree on a start in time, so that none waits for ever."""
    with database.transaction() as session:
        late = due.runs_not_together(session, now - BARRIER_TIMEOUT)
    for row in late:
        who = row.missing or "a node that has ended its part"
        limit_seconds = BARRIER_TIMEOUT.total_seconds()
        words = (
            f"not all nodes were ready and agreed on a start within {format_seconds(limit_seconds)} of "
            f"the offer; missing: {who}"
        )
        with unless_held_up(database) as session:
            if runs.dissolve(session, row.run_id, now, words):
                _log.warning("gang_dissolved", run_id=row.run_id, missing=row.missing)


def close_observers(database: Database, now: datetime) -> None:
    """End the orders of observers that did not answer to the end of the loads: nobody waits for them any longer."""
    with database.transaction() as session:
        order_ids = due.unended_observers(session, now - OBSERVER_GRACE)
    for order_id in order_ids:
        with unless_held_up(database) as session:
            found = runs.lock_order(session, order_id)
            if found is not None and found.order.state != OrderState.ENDED:
                words = f"no result within {format_seconds(OBSERVER_GRACE.total_seconds())} of the end of the loads"
                runs.end_order(session, found.run, found.order, Ending(OrderEnd.LOST, now, "observer_silent", words))
                _log.warning("observer_closed", run_id=found.run.id, order_id=order_id, node_id=found.order.node_id)


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
    """Delete what nobody asks for any more: old news, expired sign-ins, old messages, hosts that waited too long."""
    news.forget_old(session, now)
    sessions.forget_expired(session, now)
    notifications.forget_old(session, now)
    pending.forget_expired(session, now)
