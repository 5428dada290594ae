"""Wakes the scheduler with a PostgreSQL notification."""

from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

WAKE_CHANNEL = "iotide_wake"

SCHEDULER_LOCK = 0x73636865647531
"""Held by the active scheduler; standby schedulers wait for it."""


DRAIN_LOCK = 0x647261696E  # shared to start runs, exclusive to drain


def wake_scheduler(session: Session, reason: str) -> None:
    """Wake the scheduler on commit, once per reason."""
    session.execute(text("SELECT pg_notify(:channel, :reason)"), {"channel": WAKE_CHANNEL, "reason": reason})


_SCHEDULERS: Final = text(
    "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = pg_locks.database"
    " WHERE locktype = 'advisory' AND granted AND d.datname = current_database()"
    " AND (CAST(classid AS bigint) << 32 | CAST(objid AS bigint)) = :lock"
)


def is_scheduled(session: Session) -> bool:
    return bool(session.scalars(_SCHEDULERS, {"lock": SCHEDULER_LOCK}).one())
