"""Work that is wanted again and again: by it a worker that does not work is noticed when nothing else is due.

It goes the whole way of real work, from a row by the scheduler and Redis to the worker and back into the row.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.kit.clock import Clock
from iotide_server.kit.work import want_work

PULSE: Final = "pulse"  # kind of that work; its key is always 0

PULSE_EVERY: Final = timedelta(seconds=30)

WORKER_LATE_AFTER: Final = timedelta(seconds=60)  # work that has been due for so long is not being done

DUE_SINCE: Final = """
    due_at - make_interval(secs => CASE WHEN failure IS NULL THEN
        10 * (2 ^ least(sends, 5) - 1) + 300 * greatest(sends - 5, 0)
    ELSE
        10 * (2 ^ least(sends, 12) - 1) + 21600 * greatest(sends - 12, 0)
    END)
"""
"""When an open row of `work` first came due; each time it is named to the workers, `scheduling/due.py` puts it off."""

_LATE: Final = text(f"SELECT now() - ({DUE_SINCE}) FROM work WHERE kind = :kind AND done_version < version")  # noqa: S608 - of ours


def want_pulse(session: Session, now: datetime) -> None:
    """Have the worker do it, from now on and for ever."""
    want_work(session, PULSE, 0, now)


def pulse_handler(clock: Clock) -> Callable[[Session, int], datetime]:
    """What the worker does for it: nothing, and again soon."""
    return lambda _session, _key: clock() + PULSE_EVERY


def pulse_lateness(session: Session) -> timedelta | None:
    """For how long the work has been due, negative where it is not yet; None where no scheduler ever asked for it."""
    lateness: timedelta | None = session.scalar(_LATE, {"kind": PULSE})
    return lateness
