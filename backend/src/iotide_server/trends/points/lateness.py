"""Stale series: their schedules add no points."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session
from sqlalchemy.types import BigInteger

from iotide_server.kit.db import array_of
from iotide_server.schedules.failing import FailingSchedule
from iotide_server.statistics.lateness import Lateness, lateness
from iotide_server.trends.changes.words import stale_words, unanswered_words

MOST_POINTS: Final = 20  # newest per series, for its schedule and usual gap
MOST_FIRINGS: Final = 100

_STREAMED_AT_ONCE: Final = 500
_EXPECTED: Final = text(
    # Only series of a schedule's newest campaign can be late; an earlier plan may have measured others.
    """
    WITH newest AS (
        SELECT schedule.id AS schedule_id, schedule.name, schedule.cluster_id, schedule.due_at, fired.campaign_id
        FROM schedule
        JOIN LATERAL (
            SELECT campaign_id FROM firing
            WHERE schedule_id = schedule.id AND campaign_id IS NOT NULL ORDER BY id DESC LIMIT 1
        ) AS fired ON true
        WHERE schedule.state = 'active' AND schedule.removed_at IS NULL
          AND (CAST(:cluster_ids AS bigint[]) IS NULL OR schedule.cluster_id = ANY(:cluster_ids))
    ),
    owed AS (
        SELECT newest.*, cell.variant, cell.options_sha256, workload.name AS workload,
               workload.series_revision,
               ARRAY(SELECT node_id FROM cell_node WHERE cell_id = cell.id ORDER BY node_id) AS node_ids,
               ARRAY(SELECT target_id FROM cell_target WHERE cell_id = cell.id ORDER BY target_id) AS target_ids
        FROM newest
        JOIN cell ON cell.campaign_id = newest.campaign_id
        JOIN workload ON workload.id = cell.workload_id
    )
    SELECT DISTINCT ON (series.id) series.id AS series_id, owed.schedule_id, owed.name AS schedule_name,
           owed.due_at, known.times,
           ARRAY(SELECT fired_at FROM firing WHERE schedule_id = owed.schedule_id AND asked_by IS NULL
                 AND planned_at > known.answered_at ORDER BY planned_at LIMIT :firings) AS fired
    FROM owed
    JOIN series USING (cluster_id, variant, options_sha256, workload, series_revision, node_ids, target_ids)
    JOIN LATERAL (
        SELECT array_agg(recent.at ORDER BY recent.at) AS times, max(firing.planned_at) AS answered_at
        FROM (SELECT at, campaign_id FROM point WHERE series_id = series.id ORDER BY at DESC, id DESC LIMIT :points)
             AS recent
        LEFT JOIN firing ON firing.campaign_id = recent.campaign_id AND firing.schedule_id = owed.schedule_id
    ) AS known ON known.answered_at IS NOT NULL
    ORDER BY series.id, known.answered_at DESC
    """
).bindparams(bindparam("cluster_ids", type_=ARRAY(BigInteger)))


@dataclass(frozen=True, slots=True)
class ScheduledSeries:
    series_id: int
    schedule_id: int
    schedule_name: str
    known_firings: int  # firings since the one that added the last point, including the next
    lateness: Lateness

    def words(self, failing: Mapping[int, FailingSchedule]) -> str:
        known = failing.get(self.schedule_id)
        if known is not None:
            return stale_words(self.lateness.last_at, known.words)
        fired = min(self.lateness.missed_firings, self.known_firings - 1)
        return stale_words(self.lateness.last_at, unanswered_words(self.schedule_name, fired))


def scheduled_series(
    session: Session, now: datetime, cluster_ids: frozenset[int] | None = None
) -> Iterator[ScheduledSeries]:
    """Yield the series that active schedules measure in these clusters (None: all), late or not.

    If two schedules measure a series, the later one counts. Times missed while the server was down do not count.
    """
    values = {"cluster_ids": array_of(cluster_ids), "points": MOST_POINTS, "firings": MOST_FIRINGS}
    for row in session.execute(_EXPECTED, values, execution_options={"yield_per": _STREAMED_AT_ONCE}):
        firings = (*row.fired, row.due_at)
        judged = lateness(row.times, firings, now)
        yield ScheduledSeries(row.series_id, row.schedule_id, row.schedule_name, len(firings), judged)
