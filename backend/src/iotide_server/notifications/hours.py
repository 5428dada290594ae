"""Quiet hours of channels and times of weekly digests; pure."""

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from iotide_server.kit.zones import first_moment, zone_named
from iotide_wire.window import Window

_DAY = timedelta(days=1)
_WEEK_DAYS = 7


def quiet_until(hours: Window | None, now: datetime) -> datetime | None:
    if hours is None:
        return None
    zone = zone_named(hours.time_zone, field="quiet_hours.time_zone")
    begins, ends = time.fromisoformat(hours.from_), time.fromisoformat(hours.until)
    today = now.astimezone(zone).date()
    for day in (today - _DAY, today):
        last = day if begins < ends else day + _DAY
        end = first_moment(last, ends, zone)
        if first_moment(day, begins, zone) <= now < end:
            return end
    return None


def weekly_after(moment: datetime, weekday: int, hour: int, zone: ZoneInfo) -> datetime:
    """Return the next time when clocks of the zone show this hour on this weekday (0: Monday)."""
    today = moment.astimezone(zone).date()
    day = today + (weekday - today.weekday()) % _WEEK_DAYS * _DAY
    at = first_moment(day, time(hour), zone)
    return at if at > moment else first_moment(day + _WEEK_DAYS * _DAY, time(hour), zone)
