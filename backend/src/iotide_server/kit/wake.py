"""How anything tells the scheduler that there may be something to do: a notification, delivered when it commits."""

from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

WAKE_CHANNEL = "iotide_wake"

SCHEDULER_LOCK = 0x73636865647531
"""The advisory lock of the one scheduler that works; the others wait for it to be free."""


DRAIN_LOCK = 0x647261696E  # the advisory lock that whoever starts runs shares, and whoever drains something has alone


def wake_scheduler(session: Session, reason: str) -> None:
    """Wake the scheduler after this transaction; several calls in one transaction are one wake-up each reason."""
    session.execute(text("SELECT pg_notify(:channel, :reason)"), {"channel": WAKE_CHANNEL, "reason": reason})


_SCHEDULERS: Final = text(
    "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = pg_locks.database"
    " WHERE locktype = 'advisory' AND granted AND d.datname = current_database()"
    " AND (CAST(classid AS bigint) << 32 | CAST(objid AS bigint)) = :lock"
)


def is_scheduled(session: Session) -> bool:
    """Whether a scheduler works."""
    return bool(session.scalars(_SCHEDULERS, {"lock": SCHEDULER_LOCK}).one())
