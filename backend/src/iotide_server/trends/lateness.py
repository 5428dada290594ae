"""Scheduled series that have stopped: their schedules fire, and no point comes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.statistics.lateness import Lateness, lateness
from iotide_server.trends.lateness_repository import ExpectedSeries, expected_series
from iotide_server.trends.words import late_words


@dataclass(frozen=True, slots=True)
class ScheduledSeries:
    """A series that a schedule gives points, or should."""

    expected: ExpectedSeries
    lateness: Lateness

    @property
    def words(self) -> str:
        """For instance `no point since 2026-11-20 02:30:00 UTC: schedule nightly fired 3 times since then`."""
        return late_words(self.lateness.last_at, self.lateness.missed_firings, self.expected.schedule_name)


def scheduled_series(
    session: Session, now: datetime, cluster_ids: frozenset[int] | None = None
) -> Iterator[ScheduledSeries]:
    """The series in these clusters (None: everywhere) that an active schedule measures, by series, late or not.

    Args:
        now: by the database's clock or ours; a tolerance of an hour does not mind.
    """
    for expected in expected_series(session, cluster_ids):
        yield ScheduledSeries(expected, lateness(expected.times, expected.firings, now))


def late_series(
    session: Session, now: datetime, cluster_ids: frozenset[int] | None = None
) -> Iterator[ScheduledSeries]:
    """Those that are late now; one that gets a point is none."""
    return (one for one in scheduled_series(session, now, cluster_ids) if one.lateness.is_late)
