"""Openings of a plan's window. Pure functions."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from itertools import count

from iotide_server.campaigns.errors import RUN_LONGER_THAN_WINDOW
from iotide_server.kit.zones import first_moment, zone_named
from iotide_wire.window import Window

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Opening:
    """One day's window: runs may start from `opens_at` until before `start_by`."""

    opens_at: datetime
    start_by: datetime


def check_window(window: Window, time_limit_seconds: float, start_takes: timedelta) -> None:
    """Raise TIME_ZONE_UNKNOWN, or RUN_LONGER_THAN_WINDOW if no run can end in it."""
    zone_named(window.time_zone, field="window.time_zone")
    longest = _length(window) - start_takes
    if timedelta(seconds=time_limit_seconds) >= longest:
        raise RUN_LONGER_THAN_WINDOW(time_limit_seconds=time_limit_seconds, window=str(window), longest=longest)


def opening_at(window: Window, needed: timedelta, now: datetime) -> Opening:
    """Return the current or next opening; `needed` is a run's longest duration."""
    # When clocks go forward, a night may be too short and has no opening.
    return next(
        opening
        for opening in _openings(window, needed, now)
        if now < opening.start_by and opening.opens_at < opening.start_by
    )


def _openings(window: Window, needed: timedelta, now: datetime) -> Iterator[Opening]:
    zone = zone_named(window.time_zone, field="window.time_zone")
    opens, closes = time.fromisoformat(window.from_), time.fromisoformat(window.until)
    yesterday = now.astimezone(zone).date() - _DAY
    for days in count():
        day = yesterday + days * _DAY
        last = day if opens < closes else day + _DAY
        yield Opening(first_moment(day, opens, zone), first_moment(last, closes, zone) - needed)


def _length(window: Window) -> timedelta:
    """Return the length on days without a clock change."""
    opens, closes = (
        timedelta(hours=clock.hour, minutes=clock.minute)
        for clock in (time.fromisoformat(window.from_), time.fromisoformat(window.until))
    )
    return closes - opens if opens < closes else closes - opens + _DAY
