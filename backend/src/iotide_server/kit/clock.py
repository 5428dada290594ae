"""Time as an argument: everything that needs the hour is handed a clock."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)


def written(moment: datetime) -> str:
    """A moment in UTC as sentences say it, to the second."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
