"""Time as an argument: everything that needs the hour is handed a clock."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from iotide_server.kit.app_values import AppValue

CLOCK: Final[AppValue["Clock"]] = AppValue("clock")


Clock = Callable[[], datetime]

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""`%b` depends on the locale of the process."""


def system_clock() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)


def written(moment: datetime) -> str:
    """A moment in UTC as sentences say it, to the second."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def days_written(first: datetime, last: datetime) -> str:
    """Return the days from one moment to another, for instance `from 11 Aug to 20 Sep 2026`."""
    start, end = day_written(first), day_written(last)
    if start == end:
        return f"on {end}"
    return f"from {start.removesuffix(f' {last.year}')} to {end}"


def day_written(moment: datetime) -> str:
    """Return the day of a moment in UTC as sentences say it, for instance `11 Aug 2026`."""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"
