"""SQL of changes, and of the analyses that find them."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, func, select, text
from sqlalchemy.orm import Session, aliased

from iotide_server.kit.db import in_clusters
from iotide_server.kit.pagination import PageRequest, Slice, newest_first
from iotide_server.results.models import Series
from iotide_server.trends.changes.reasons import POINTS_ON_EACH_SIDE, FlaggedRuns, change_reasons
from iotide_server.trends.models import ChangePoint, SeriesCourse
from iotide_server.trends.schemas import ChangeFilter

_NEAR_CHANGES: Final = text(
    """
    SELECT change.id, near.is_after, near.run_count, coalesce(near.flag_runs, (
               SELECT jsonb_object_agg(code, near.run_count) FROM jsonb_array_elements_text(near.flags) AS code
           ), '{}') AS flag_runs
    FROM change_point AS change CROSS JOIN LATERAL (
        (SELECT false AS is_after, run_count, flag_runs, flags FROM point
         WHERE series_id = change.series_id AND at <= change.previous_at ORDER BY at DESC LIMIT :points)
        UNION ALL
        (SELECT true, run_count, flag_runs, flags FROM point
         WHERE series_id = change.series_id AND at >= change.at ORDER BY at LIMIT :points)
    ) AS near
    WHERE change.id = ANY(:change_ids)
    """
)
# Only earlier changes and events need the full analysis with so few points.
_YOUNG: Final = text(
    """
    WITH counted AS (
        SELECT series.id, series.cluster_id, series.workload, count(point.id) AS points, min(point.at) AS first_at
        FROM series LEFT JOIN point ON point.series_id = series.id
        WHERE series.id = ANY(:series_ids) GROUP BY series.id
    ), looked_at AS (
        SELECT counted.*, points < :fewest
               AND NOT EXISTS (SELECT FROM change_point WHERE series_id = counted.id)
               AND NOT EXISTS (SELECT FROM event_effect WHERE series_id = counted.id)
               AND NOT EXISTS (SELECT FROM event WHERE event.cluster_id = counted.cluster_id
                               AND kind = 'manual' AND at >= first_at) AS is_young
        FROM counted
    ), written AS (
        INSERT INTO series_course AS course
            (series_id, course, point_count, missing_points, memory, detector, analysed_at)
        SELECT id, 'too_short', points, :answered - points, 0, :detector, now()
        FROM looked_at WHERE is_young ORDER BY id
        ON CONFLICT (series_id) DO UPDATE SET
            course = excluded.course, point_count = excluded.point_count, missing_points = excluded.missing_points,
            memory = 0, scatter_ratio = NULL, drift = NULL, noise = NULL, suspect = NULL,
            detector = excluded.detector, analysed_at = excluded.analysed_at
    )
    SELECT looked_at.id, cluster_id, is_young,
           course.course IS DISTINCT FROM 'too_short' OR course.point_count <> points AS is_news,
           course.course IS NULL AND NOT EXISTS (
               SELECT FROM series JOIN series_course ON series_course.series_id = series.id
               WHERE series.cluster_id = looked_at.cluster_id AND series.workload = looked_at.workload) AS is_first
    FROM looked_at LEFT JOIN series_course AS course ON course.series_id = looked_at.id
    """
)


def write_young(
    session: Session, series_ids: Sequence[int], fewest: int, answered: int, detector: str
) -> list[Row[Any]]:
    """Store TOO_SHORT for series with fewer than `fewest` points; a result needs `answered`.

    Returns:
        id, cluster_id, `is_young` (was stored), `is_news` (changed), `is_first` (first of its cluster and workload).
    """
    values = {"series_ids": list(series_ids), "fewest": fewest, "answered": answered, "detector": detector}
    return list(session.execute(_YOUNG, values))


def series_of_other_detectors(session: Session, detector: str) -> Sequence[int]:
    return session.scalars(select(SeriesCourse.series_id).where(SeriesCourse.detector != detector)).all()


def change_points(session: Session, series_id: int) -> Sequence[ChangePoint]:
    statement = select(ChangePoint).where(ChangePoint.series_id == series_id).order_by(ChangePoint.at, ChangePoint.id)
    return session.scalars(statement).all()


def listed(rows: Sequence[ChangePoint]) -> list[ChangePoint]:
    """Return those that are present or over, as `is_listed`."""
    return [row for row in rows if row.gone_at is None or row.over_at is not None]


def reasons(session: Session, change_ids: Collection[int]) -> dict[int, list[str]]:
    """Return the flags that may explain each change."""
    sides = {change_id: (FlaggedRuns(), FlaggedRuns()) for change_id in change_ids}
    near = {"change_ids": list(change_ids), "points": POINTS_ON_EACH_SIDE}
    for row in session.execute(_NEAR_CHANGES, near) if change_ids else ():
        sides[row.id][row.is_after].add(row.run_count, row.flag_runs)
    return {change_id: change_reasons(*both) for change_id, both in sides.items()}


def changes_page(
    session: Session, visible: frozenset[int] | None, wanted: ChangeFilter, paging: PageRequest
) -> Slice[ChangePoint]:
    """Return listed changes, newest first, without recoveries of listed ones."""
    conditions = [is_listed(), has_own_line()]
    conditions += in_clusters(Series.cluster_id, visible, wanted.cluster_id)
    if not wanted.with_unconfirmed:
        conditions.append(ChangePoint.confirmed_at.is_not(None))
    if wanted.workload is not None:
        conditions.append(Series.workload == wanted.workload)
    if wanted.direction is not None:
        # As in `words.direction`; a rise from 0 has no ratio.
        is_higher = func.coalesce(ChangePoint.shift_ratio, 1) > 0
        way = "higher" if wanted.direction == "better" else "lower"
        conditions.append(Series.better != "neither")
        conditions.append(is_higher == (Series.better == way))
        if wanted.direction == "better":
            conditions.append(~ChangePoint.is_recovery)
    statement = select(ChangePoint).join(Series, Series.id == ChangePoint.series_id).where(*conditions)
    return newest_first(session, statement, ChangePoint.id, paging)


def is_listed() -> ColumnElement[bool]:
    """Return the condition of changes that are present or over."""
    return ChangePoint.gone_at.is_(None) | is_over()


def is_over() -> ColumnElement[bool]:
    return ChangePoint.over_at.is_not(None)


def has_own_line() -> ColumnElement[bool]:
    """Return the condition that excludes recoveries, which are shown with the change that they end."""
    ended = aliased(ChangePoint)
    takes_back = select(ended.id).where(ended.recovered_by_id == ChangePoint.id).exists()
    return ~(ChangePoint.is_recovery & takes_back)
