"""Scheduled series that have stopped: their schedules fire, and no point comes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.schedules.failing import FailingSchedule
from iotide_server.statistics.lateness import Lateness, lateness
from iotide_server.trends.changes.words import stale_words, unanswered_words
from iotide_server.trends.points.lateness_repository import ExpectedSeries, expected_series


@dataclass(frozen=True, slots=True)
class ScheduledSeries:
    """A series that a schedule gives points, or should."""

    expected: ExpectedSeries
    lateness: Lateness

    def words(self, failing: Mapping[int, FailingSchedule]) -> str:
        """Say since when it has no data and why, given the failing schedules by id."""
        known = failing.get(self.expected.schedule_id)
        if known is not None:
            return stale_words(self.lateness.last_at, known.words)
        fired = min(self.lateness.missed_firings, len(self.expected.firings) - 1)
        return stale_words(self.lateness.last_at, unanswered_words(self.expected.schedule_name, fired))


def scheduled_series(
    session: Session, now: datetime, cluster_ids: frozenset[int] | None = None
) -> Iterator[ScheduledSeries]:
    """Yield the series in these clusters (None: everywhere) that an active schedule measures, late or not."""
    for expected in expected_series(session, cluster_ids):
        yield ScheduledSeries(expected, lateness(expected.times, expected.firings, now))
