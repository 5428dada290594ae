"""Time zones and wall-clock times."""

from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from iotide_server.kit.errors import ErrorKind

_SECOND = timedelta(seconds=1)

TIME_ZONE_UNKNOWN = ErrorKind(422, "time_zone_unknown", field="{field}", shows="name").says(
    "{field}: there is no time zone {name}", "{remedy}"
)


@cache
def _names() -> frozenset[str]:
    return frozenset(available_timezones())


def zone_named(name: str, *, field: str) -> ZoneInfo:
    """Raise TIME_ZONE_UNKNOWN with the request's `field`."""
    if name not in _names():
        close = get_close_matches(name, _names(), n=1)
        remedy = f"did you mean {close[0]}?" if close else "use an IANA name, for instance Europe/Zurich or UTC"
        raise TIME_ZONE_UNKNOWN(field=field, name=name, remedy=remedy)
    return ZoneInfo(name)


def first_moment(day: date, clock: time, zone: ZoneInfo) -> datetime:
    """Return the UTC time at which the local clock first shows `clock`, or jumps past it."""
    wall = datetime.combine(day, clock)
    moment = wall.replace(tzinfo=zone).astimezone(UTC)
    if _read(moment, zone) == wall:
        return moment
    before = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)  # in a gap, the larger offset is the earlier time
    while moment - before > _SECOND:
        middle = before + (moment - before) // 2
        if _read(middle, zone) < wall:
            before = middle
        else:
            moment = middle
    return moment.replace(microsecond=0)


def _read(moment: datetime, zone: ZoneInfo) -> datetime:
    return moment.astimezone(zone).replace(tzinfo=None)
