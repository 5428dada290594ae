"""Firings and random offsets of a schedule. Pure functions."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from iotide_server.kit.zones import zone_named
from iotide_server.schedules.errors import CALENDAR_UNCLEAR, CRON_REFUSED, MONTHLY_REFUSED
from iotide_wire import schedule as wire

LATE_AFTER: Final = timedelta(minutes=5)
"""Delay after which a firing counts as missed; a restart of the scheduler takes less."""

_MOST_COUNTED: Final = 1000
_FIELDS: Final = 5
_WEEKDAYS: Final = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_PLACES: Final = {"first": "#1", "second": "#2", "third": "#3", "fourth": "#4", "last": "L"}
_MONTHLY: Final = re.compile(
    rf"(?P<place>{'|'.join(_PLACES)}) (?P<weekday>{'|'.join(_WEEKDAYS)})(?: of each month)?"
    r" at (?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9])",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Passed:
    last: datetime
    count: int  # including `last`; above a thousand a lower bound
    following: datetime | None


@dataclass(frozen=True, slots=True)
class Calendar:
    """Firings by `cron` in `zone`, up to `offset_seconds` later, none after `ends_at`."""

    # A time that clocks skip in spring fires at the change; a time repeated in autumn fires the first time only.

    cron: str
    zone: ZoneInfo
    offset_seconds: float
    ends_at: datetime | None

    @classmethod
    def of(cls, given: wire.Calendar) -> "Calendar":
        """Raise TIME_ZONE_UNKNOWN, CALENDAR_UNCLEAR, CRON_REFUSED or MONTHLY_REFUSED."""
        zone = zone_named(given.time_zone, field="time_zone")
        if (given.cron is None) == (given.monthly is None):
            raise CALENDAR_UNCLEAR()
        cron = given.cron if given.cron is not None else cron_of(given.monthly or "")
        made = cls(cron, zone, given.random_offset_seconds, given.ends_at)
        _read(cron, datetime(2000, 1, 1, tzinfo=zone))
        return made

    @property
    def words(self) -> str:
        return _read(self.cron, datetime(2000, 1, 1, tzinfo=self.zone)).explain()

    def after(self, moment: datetime) -> datetime | None:
        return next(self.firings(moment), None)

    def next_firings(self, moment: datetime, count: int) -> list[datetime]:
        return list(islice(self.firings(moment), count))

    def firings(self, moment: datetime) -> Iterator[datetime]:
        """Yield all planned firings after that time, in UTC."""
        local = moment.astimezone(self.zone)
        latest = moment
        for planned in _read(self.cron, local):
            at = planned.astimezone(UTC)
            if self.ends_at is not None and at > self.ends_at:
                return
            # cronsim restarts in an hour that clocks repeat, and may return a firing twice in a gap.
            if at > latest:
                latest = at
                yield at

    def due(self, schedule_id: int, planned_at: datetime) -> datetime:
        """Return when a planned firing is due: its delay is a hash of both arguments, so always the same."""
        drawn = hashlib.sha256(f"{schedule_id} {planned_at.astimezone(UTC).isoformat()}".encode()).digest()
        fraction = int.from_bytes(drawn[:8]) / 2**64
        return planned_at + timedelta(seconds=int(fraction * (self.offset_seconds + 1)))

    def passed(self, schedule_id: int, first: datetime, now: datetime) -> Passed:
        """Return the due firings from `first` on."""
        last, count = first, 1
        following = self.after(first)
        while following is not None and self.due(schedule_id, following) <= now:
            last, count = following, count + 1
            # Skip ahead: counting each minute of a year is not needed to find the last one.
            skipped = max(last, now - timedelta(days=2)) if count >= _MOST_COUNTED else last
            following = self.after(skipped)
        return Passed(last, count, following)


def cron_of(monthly: str) -> str:
    """Return the cron expression of e.g. `first sunday at 02:30`; raise MONTHLY_REFUSED."""
    rule = _MONTHLY.fullmatch(" ".join(monthly.split()))
    if rule is None:
        raise MONTHLY_REFUSED(monthly=monthly)
    weekday = _WEEKDAYS.index(rule["weekday"].lower())
    return f"{int(rule['minute'])} {int(rule['hour'])} * * {weekday}{_PLACES[rule['place'].lower()]}"


def _read(cron: str, after: datetime) -> CronSim:
    if len(cron.split()) != _FIELDS:
        raise CRON_REFUSED(cron=cron, problem=f"it has {len(cron.split())} fields")
    try:
        return CronSim(cron, after)
    except CronSimError as error:
        raise CRON_REFUSED(cron=cron, problem=str(error).replace("Bad", "cannot read the").lower()) from error
