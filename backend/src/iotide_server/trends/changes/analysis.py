"""Analysis of a series. Imported only by the worker, because it takes a second and 80 MB to load."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Final

import numpy as np
from sqlalchemy.orm import Session

from iotide_server.change_feed import service as live
from iotide_server.kit.db import Json, transaction_time
from iotide_server.kit.work import want_all, want_work
from iotide_server.results.models import Point, Series
from iotide_server.statistics.changepoints import DETECTOR, FEWEST_RUNS, MOST_RUNS, analyse
from iotide_server.statistics.course import LOOKS_AFTER, Analysis, Course
from iotide_server.statistics.events import event_effect
from iotide_server.statistics.noise import scatter_ratio
from iotide_server.statistics.outliers import FEWEST_RUNS as FEWEST_SUSPECTED
from iotide_server.statistics.outliers import suspect
from iotide_server.statistics.ranks import memory
from iotide_server.trends.changes import repository
from iotide_server.trends.changes.drift import Drift
from iotide_server.trends.changes.keeping import AnalysedPoints, keep_changes
from iotide_server.trends.changes.noise import NoiseChange, noise_change
from iotide_server.trends.changes.recoveries import write_recoveries
from iotide_server.trends.events import repository as event_repository
from iotide_server.trends.events.judging import EVENTS, JUDGED_AFTER
from iotide_server.trends.models import ChangePoint, SeriesCourse
from iotide_server.trends.points import repository as point_repository
from iotide_server.trends.points.service import ALERTS, ANALYSIS

REANALYSIS: Final = "reanalysis"
"""Kind of work, requested by the migration of a release with another detector; the key is always 0."""
_QUIET: Final = frozenset({Course.STEADY, Course.TOO_SHORT})


def analyse_series(session: Session, series_id: int) -> None:
    """Store the analysis of a series. Safe to repeat, also concurrently."""
    series = point_repository.lock_series(session, series_id)
    if series is None:
        return
    points = point_repository.newest_points(session, series_id, MOST_RUNS)
    values = [point.median for point in points]
    found = analyse(values)
    point_count, now = point_repository.count_points(session, series_id), transaction_time(session)
    listed = _keep_changes(session, series, found, AnalysedPoints(points, point_count, now)) if points else []
    places = [bisect_left([point.at for point in points], row.at) for row in listed if row.gone_at is None]
    suspected = suspect(values[max(places, default=0) :])
    before = session.get(SeriesCourse, series_id)
    was_quiet = _is_quiet(before)
    course = SeriesCourse(
        series_id=series_id,
        course=Course.CHANGED if found.course is Course.STEADY and listed else found.course,
        point_count=point_count,
        missing_points=found.missing_runs,
        memory=found.memory,
        drift=_drift(found, points),
        noise=_noise(before, found, points, point_count, now),
        suspect=None if suspected is None else asdict(suspected),
        scatter_ratio=scatter_ratio(values, places, found),
        detector=DETECTOR,
        detector_since=_detector_since(before, now),
        analysed_at=now,
    )
    session.merge(course)
    session.flush()
    point_repository.put_usual_gaps(session, [series_id])
    if points:
        _judge_events(session, series, points, _memory(found, values))
    want_work(session, ALERTS, series_id, course.analysed_at)
    live.publish(session, "series", series_id, series.cluster_id)
    if not (was_quiet and _is_quiet(course)):
        live.publish(session, "standing", series.cluster_id, series.cluster_id)


def _is_quiet(course: SeriesCourse | None) -> bool:
    return course is not None and course.course in _QUIET and course.noise is None and course.suspect is None


def _detector_since(before: SeriesCourse | None, now: datetime) -> datetime | None:
    if before is None:
        return None
    return before.detector_since if before.detector == DETECTOR else now


def reanalyse(session: Session, key: int) -> None:
    """Request the analysis of every series that another detector analysed last. Safe to repeat."""
    del key
    want_all(session, ANALYSIS, repository.series_of_other_detectors(session, DETECTOR), transaction_time(session))


def analyse_young(session: Session, series_ids: Sequence[int]) -> list[int]:
    """Return the other series."""
    looked_at = repository.write_young(session, series_ids, FEWEST_SUSPECTED, FEWEST_RUNS, DETECTOR)
    young = [row for row in looked_at if row.is_young]
    point_repository.put_usual_gaps(session, [row.id for row in young])
    want_all(session, ALERTS, [row.id for row in young], transaction_time(session))
    live.publish_all(session, [("series", row.id, row.cluster_id) for row in young if row.is_news])
    firsts = sorted({row.cluster_id for row in young if row.is_first})
    live.publish_all(session, [("standing", cluster_id, cluster_id) for cluster_id in firsts])
    return [row.id for row in looked_at if not row.is_young]


def _drift(found: Analysis, points: Sequence[Point]) -> Json | None:
    if found.drift is None:
        return None
    times = [point.at for point in points]
    return Drift.of(found.drift, times).model_dump(mode="json")


def _noise(
    before: SeriesCourse | None, found: Analysis, points: Sequence[Point], point_count: int, now: datetime
) -> Json | None:
    if found.noise is None:
        return None
    known = NoiseChange.model_validate(before.noise) if before is not None and before.noise is not None else None
    made = noise_change(found.noise, [point.at for point in points], known, point_count, now)
    return made.model_dump(mode="json")


def _keep_changes(session: Session, series: Series, found: Analysis, analysed: AnalysedPoints) -> list[ChangePoint]:
    """Return the present changes of the analysed points, and those that are over."""
    made = keep_changes(repository.change_points(session, series.id), found, analysed)
    for row in made:
        row.series_id = series.id
        session.add(row)
    session.flush()
    rows = repository.change_points(session, series.id)
    write_recoveries(rows, series.better)
    return [row for row in repository.listed(rows) if row.at >= analysed.points[0].at]


def _memory(found: Analysis, values: Sequence[float]) -> float:
    """Return the memory of a series; that of one too short to analyse counts a shift as memory."""
    return memory([np.asarray(values)]) if found.course is Course.TOO_SHORT else found.memory


def _judge_events(session: Session, series: Series, points: Sequence[Point], recalled: float) -> None:
    event_repository.link_user_events(session, series, points[0].at)
    values, times = [point.median for point in points], [point.at for point in points]
    judged_ids = []
    for event, stored in event_repository.effects(session, series.id):
        first_after = bisect_left(times, event.at)
        look = next((look for look in reversed(LOOKS_AFTER) if len(points) - first_after >= look), LOOKS_AFTER[0])
        judged = event_effect(values, first_after, look, recalled)
        if judged.p_value != stored.p_value:
            judged_ids.append(event.id)
        stored.look = look if judged.p_value is not None else 0
        stored.effect, stored.shift_ratio, stored.p_value = judged.effect, judged.shift_ratio, judged.p_value
        stored.points_before, stored.points_after = judged.runs_before, judged.runs_after
    want_all(session, EVENTS, judged_ids, transaction_time(session) + JUDGED_AFTER)
