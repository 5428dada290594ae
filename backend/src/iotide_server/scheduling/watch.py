"""Periodic checks: flag silence and overdue runs, end late gangs and observers, delete expired rows.

Nothing frees a load that may still run. A gang without a start and an observer have no load.
"""

from datetime import datetime, timedelta
from typing import Final

import structlog
from sqlalchemy.orm import Session

from iotide_server.accounts.sessions import service as sessions
from iotide_server.change_feed import repository as changes
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
"""Grace period after the time limit before a run counts as overdue."""

BARRIER_TIMEOUT: Final = timedelta(seconds=120)
"""Time limit for a gang's agreement on a start. An unclaimed order is withdrawn after half of it."""

OBSERVER_GRACE: Final = timedelta(seconds=60)
"""Time for an observer to deliver after the end of the loads. Its next heartbeat informs it of that end."""

_log = structlog.get_logger(__name__)


def dissolve_late(database: Database, now: datetime) -> None:
    with database.transaction() as session:
        late = due.runs_without_start(session, now - BARRIER_TIMEOUT)
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
    """End observing orders without a result after the loads."""
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
    """Flag orders of nodes that missed three heartbeats, and publish these nodes."""
    rows = due.flag_silent_orders(session, now - SILENT_AFTER)
    live.publish_all(session, [("run", row.id, row.cluster_id) for row in rows])
    agents.publish_silent_nodes(session, since, now)


def flag_overdue(session: Session, now: datetime) -> None:
    rows = due.flag_overdue_runs(session, now - OVERDUE_AFTER)
    live.publish_all(session, [("run", row.id, row.cluster_id) for row in rows])


def forget(session: Session, now: datetime) -> None:
    """Delete expired changes, sessions, messages and pending nodes."""
    changes.forget_old(session, now)
    sessions.forget_expired(session, now)
    notifications.forget_old(session, now)
    pending.forget_expired(session, now)
