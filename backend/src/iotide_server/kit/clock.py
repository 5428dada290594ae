"""The clock, passed as an argument."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from iotide_server.kit.app_values import AppValue

CLOCK: Final[AppValue["Clock"]] = AppValue("clock")


Clock = Callable[[], datetime]

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""Not `%b`, which depends on the process's locale."""


def system_clock() -> datetime:
    return datetime.now(UTC)


def written(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def days_written(first: datetime, last: datetime) -> str:
    """Return a range such as `from 11 Aug to 20 Sep 2026`."""
    start, end = day_written(first), day_written(last)
    if start == end:
        return f"on {end}"
    return f"from {start.removesuffix(f' {last.year}')} to {end}"


def day_written(moment: datetime) -> str:
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"
