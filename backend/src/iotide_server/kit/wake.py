"""How anything tells the scheduler that there may be something to do: a notification, delivered when it commits."""

from sqlalchemy import text
from sqlalchemy.orm import Session

WAKE_CHANNEL = "iotide_wake"

SCHEDULER_LOCK = 0x73636865647531
"""The advisory lock of the one scheduler that works; the others wait for it to be free."""


DRAIN_LOCK = 0x647261696E
"""The advisory lock that whoever starts runs shares, and whoever drains something has alone."""


def wake_scheduler(session: Session, reason: str) -> None:
    """Wake the scheduler after this transaction; several calls in one transaction are one wake-up each reason."""
    session.execute(text("SELECT pg_notify(:channel, :reason)"), {"channel": WAKE_CHANNEL, "reason": reason})
