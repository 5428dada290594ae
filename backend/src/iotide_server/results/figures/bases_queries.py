"""SQL of the bases of comparisons."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.results.ingest.keys import Label
from iotide_server.statistics.days import day_medians

# Only those that have brought a value: until then nothing new can be seen.
_ADDITIONS: Final = text(
    """
    SELECT run.cell_id, array_agg(DISTINCT addition.id) AS additions
    FROM run
    JOIN campaign_addition AS addition
      ON addition.campaign_id = run.campaign_id AND addition.created_at = run.created_at
         AND run.cell_id = ANY(addition.cell_ids)
    WHERE run.cell_id = ANY(:cell_ids) AND run.state = 'finished'
    GROUP BY run.cell_id
    """
)
_MOST_POINTS: Final = 100  # of a series, of at most as many days
_MOST_SERIES: Final = 100
_SERIES: Final = text(
    """
    SELECT point.cell_id, series.id, series.metric, series.labels
    FROM point JOIN series ON series.id = point.series_id
    WHERE point.cell_id = ANY(:cell_ids) AND series.metric = ANY(:metrics)
    """
)
_EARLIER: Final = text(
    """
    SELECT wanted.place, array_agg(earlier.at ORDER BY earlier.at) AS times,
           array_agg(earlier.median ORDER BY earlier.at) AS medians
    FROM unnest(CAST(:series_ids AS bigint[]), CAST(:befores AS timestamptz[])) WITH ORDINALITY
         AS wanted (series_id, before, place)
    CROSS JOIN LATERAL (
        SELECT point.at, point.median FROM point
        WHERE point.series_id = wanted.series_id AND point.at < wanted.before
          AND point.campaign_id <> ALL(:campaign_ids)
          AND point.at >= coalesce((
              SELECT max(at) FROM change_point
              WHERE series_id = wanted.series_id AND at < wanted.before
                AND confirmed_at IS NOT NULL AND gone_at IS NULL
          ), '-infinity')
        ORDER BY point.at DESC LIMIT :points
    ) AS earlier
    GROUP BY wanted.place
    """
)
_OF_WORKLOAD: Final = text(
    """
    SELECT array_agg(earlier.at ORDER BY earlier.at) AS times,
           array_agg(earlier.median ORDER BY earlier.at) AS medians
    FROM (
        SELECT id FROM series
        WHERE cluster_id = :cluster_id AND workload = :workload AND metric = :metric AND superseded = ''
        ORDER BY id DESC LIMIT :series
    ) AS newest
    CROSS JOIN LATERAL (
        SELECT point.at, point.median FROM point
        WHERE point.series_id = newest.id AND point.campaign_id <> ALL(:campaign_ids)
          AND point.at >= coalesce((
              SELECT max(at) FROM change_point
              WHERE series_id = newest.id AND confirmed_at IS NOT NULL AND gone_at IS NULL
          ), '-infinity')
        ORDER BY point.at DESC LIMIT :points
    ) AS earlier
    GROUP BY newest.id
    """
)


@dataclass(frozen=True, slots=True)
class NumberOfCell:
    """A number, and the moment before which its history counts."""

    cell_id: int
    metric: str
    labels: frozenset[tuple[str, Label]]
    before: datetime

    @property
    def key(self) -> tuple[int, str, frozenset[tuple[str, Label]]]:
        return self.cell_id, self.metric, self.labels


@dataclass(frozen=True, slots=True)
class WorkloadMetric:
    cluster_id: int
    workload: str
    metric: str


@dataclass(frozen=True, slots=True)
class EarlierPoints:
    """Points of a series since its last confirmed change."""

    times: Sequence[datetime]
    medians: Sequence[float]

    @property
    def day_medians(self) -> list[float]:
        return day_medians(self.times, self.medians)


def additions(session: Session, cell_ids: Collection[int]) -> dict[int, frozenset[int]]:
    """Return the ids of the additions of repeats to each cell; cells without are absent."""
    rows = session.execute(_ADDITIONS, {"cell_ids": sorted(cell_ids)})
    return {row.cell_id: frozenset(row.additions) for row in rows}


def earlier_points(
    session: Session, numbers: Collection[NumberOfCell], campaign_ids: Collection[int]
) -> dict[NumberOfCell, EarlierPoints]:
    """Return the history of each number without the compared campaigns; numbers without are absent."""
    cell_ids, metrics = {number.cell_id for number in numbers}, {number.metric for number in numbers}
    rows = session.execute(_SERIES, {"cell_ids": sorted(cell_ids), "metrics": sorted(metrics)})
    series = {(row.cell_id, row.metric, frozenset(row.labels.items())): row.id for row in rows}
    known = [(number, series_id) for number in numbers if (series_id := series.get(number.key)) is not None]
    wanted = {
        "series_ids": [series_id for _, series_id in known],
        "befores": [number.before for number, _ in known],
        "campaign_ids": sorted(campaign_ids),
        "points": _MOST_POINTS,
    }
    found = session.execute(_EARLIER, wanted)
    return {known[row.place - 1][0]: EarlierPoints(row.times, row.medians) for row in found}


def points_of_workload(session: Session, wanted: WorkloadMetric, campaign_ids: Collection[int]) -> list[EarlierPoints]:
    """Return the newest points of each of the newest series, without the compared campaigns."""
    limits = {"campaign_ids": sorted(campaign_ids), "points": _MOST_POINTS, "series": _MOST_SERIES}
    rows = session.execute(_OF_WORKLOAD, asdict(wanted) | limits)
    return [EarlierPoints(row.times, row.medians) for row in rows]
