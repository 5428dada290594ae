"""Scheduled series that have stopped: their schedules fire, and no point comes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.statistics.lateness import Lateness, lateness
from iotide_server.trends.lateness_repository import ExpectedSeries, expected_series
from iotide_server.trends.words import late_words


@dataclass(frozen=True, slots=True)
class LateSeries:
    """A series whose schedule gives it no points any more."""

    expected: ExpectedSeries
    lateness: Lateness

    @property
    def words(self) -> str:
        """For instance `no point since 2026-11-20 02:30:00 UTC: schedule nightly fired 3 times since then`."""
        return late_words(self.lateness.last_at, self.lateness.missed_firings, self.expected.schedule_name)


def late_series(session: Session, now: datetime, cluster_ids: frozenset[int] | None = None) -> Iterator[LateSeries]:
    """The series in these clusters (None: everywhere) that are late now, by series; one that gets a point is none.

    Args:
        now: by the database's clock or ours; a tolerance of an hour does not mind.
    """
    for expected in expected_series(session, cluster_ids):
        found = lateness(expected.times, expected.firings, now)
        if found.is_late:
            yield LateSeries(expected, found)
