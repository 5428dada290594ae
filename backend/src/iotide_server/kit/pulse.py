"""Recurring work that shows whether workers are running."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.kit.clock import Clock
from iotide_server.kit.work import want_work

PULSE: Final = "pulse"  # its key is always 0

PULSE_EVERY: Final = timedelta(seconds=30)

WORKER_LATE_AFTER: Final = timedelta(seconds=60)  # workers count as down if the work is overdue by more

DUE_SINCE: Final = """
    due_at - make_interval(secs => CASE WHEN failure IS NULL THEN
        10 * (2 ^ least(sends, 5) - 1) + 300 * greatest(sends - 5, 0)
    ELSE
        10 * (2 ^ least(sends, 12) - 1) + 21600 * greatest(sends - 12, 0)
    END)
"""
"""When an open row of `work` first became due; `scheduling/due.py` postpones it at each send."""

_LATE: Final = text(f"SELECT now() - ({DUE_SINCE}) FROM work WHERE kind = :kind AND done_version < version")  # noqa: S608 - of ours


def want_pulse(session: Session, now: datetime) -> None:
    want_work(session, PULSE, 0, now)


def pulse_handler(clock: Clock) -> Callable[[Session, int], datetime]:
    return lambda _session, _key: clock() + PULSE_EVERY


def pulse_lateness(session: Session) -> timedelta | None:
    """Return how long the work is overdue; negative if not yet due, None if never scheduled."""
    lateness: timedelta | None = session.scalar(_LATE, {"kind": PULSE})
    return lateness
