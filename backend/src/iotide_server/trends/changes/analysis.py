"""The analysis of a series after its points changed: its course, its changes, and what looks suspect.

The worker alone imports it: what it computes with takes a second and 80 MB to load.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from math import isfinite
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.change_feed import service as live
from iotide_server.kit.db import Json, transaction_time
from iotide_server.kit.work import want_all, want_work
from iotide_server.results.models import Point, Series
from iotide_server.statistics.changepoints import DETECTOR, FEWEST_RUNS, MOST_RUNS, analyse
from iotide_server.statistics.course import CONFIRMING_RUNS, LOOKS_AFTER, SAME_RUNS, Analysis, Course, LevelChange
from iotide_server.statistics.events import event_effect
from iotide_server.statistics.outliers import FEWEST_RUNS as FEWEST_SUSPECTED
from iotide_server.statistics.outliers import suspect
from iotide_server.trends.changes.drift import Drift
from iotide_server.trends.changes.noise import NoiseChange, noise_change
from iotide_server.trends.changes.recoveries import write_recoveries
from iotide_server.trends.events import repository as event_repository
from iotide_server.trends.models import ChangePoint, SeriesCourse
from iotide_server.trends.points import repository
from iotide_server.trends.points.service import ALERTS

_QUIET: Final = frozenset({Course.STEADY, Course.TOO_SHORT})


def analyse_series(session: Session, series_id: int) -> None:
    """Write what the points of a series say now; harmless to do twice, also at once.

    A change that an earlier analysis found too keeps its row, and is confirmed by an analysis of CONFIRMING_RUNS more
    points if it was found by all in between: what comes and goes with each point is none.
    """
    series = repository.lock_series(session, series_id)
    if series is None:
        return
    points = repository.newest_points(session, series_id, MOST_RUNS)
    values = [point.median for point in points]
    found = analyse(values)
    last = found.changes[-1].index if found.changes else 0
    suspected = suspect(values[last:])
    point_count, now = repository.count_points(session, series_id), transaction_time(session)
    course = SeriesCourse(
        series_id=series_id,
        course=found.course,
        point_count=point_count,
        missing_points=found.missing_runs,
        memory=found.memory,
        drift=_drift(found, points),
        noise=_noise(session.get(SeriesCourse, series_id), found, points, point_count, now),
        suspect=None if suspected is None else asdict(suspected),
        detector=DETECTOR,
        analysed_at=now,
    )
    was_quiet = _is_quiet(session.get(SeriesCourse, series_id))
    session.merge(course)
    session.flush()
    repository.put_usual_gaps(session, [series_id])
    _keep_changes(session, series, course, found.changes, points)
    if points:
        _judge_events(session, series, points)
    want_work(session, ALERTS, series_id, course.analysed_at)
    live.publish(session, "series", series_id, series.cluster_id)
    if not (was_quiet and _is_quiet(course)):
        live.publish(session, "standing", series.cluster_id, series.cluster_id)


def _is_quiet(course: SeriesCourse | None) -> bool:
    """Whether there is nothing to say of the series but that it goes on."""
    return course is not None and course.course in _QUIET and course.noise is None and course.suspect is None


def analyse_young(session: Session, series_ids: Sequence[int]) -> list[int]:
    """As `analyse_series`, of series with too few points for any answer and nothing else; return the others."""
    looked_at = repository.write_young(session, series_ids, FEWEST_SUSPECTED, FEWEST_RUNS, DETECTOR)
    young = [row for row in looked_at if row.is_young]
    repository.put_usual_gaps(session, [row.id for row in young])
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


def _keep_changes(
    session: Session, series: Series, course: SeriesCourse, changes: Sequence[LevelChange], points: Sequence[Point]
) -> None:
    rows = repository.change_points(session, course.series_id)
    # What changed before the newest points begin is not looked at any more, and stays as it was.
    seen = [row for row in rows if points and row.at >= points[0].at]
    matched = match_changes(changes, [row.at for row in seen], [point.at for point in points])
    for change, index in matched.known:
        row = seen[index]
        _write(row, change, points)
        if row.gone_at is not None or row.found_points > course.point_count:
            row.gone_at, row.found_points = None, course.point_count
        if row.confirmed_at is None and course.point_count - row.found_points >= CONFIRMING_RUNS:
            row.confirmed_at = course.analysed_at
    for change in matched.new:
        row = ChangePoint(series_id=course.series_id, found_at=course.analysed_at, found_points=course.point_count)
        _write(row, change, points)
        session.add(row)
    for index in matched.gone:
        seen[index].gone_at = seen[index].gone_at or course.analysed_at
    session.flush()  # new rows need their ids
    write_recoveries(repository.change_points(session, series.id), series.better)


def _write(row: ChangePoint, change: LevelChange, points: Sequence[Point]) -> None:
    first, last = points[change.index], points[change.index - 1]
    row.at, row.previous_at, row.cell_id = first.at, last.at, first.cell_id
    row.points_before, row.points_after = change.runs_before, change.runs_after
    row.median_before, row.median_after = change.median_before, change.median_after
    row.shift_ratio = change.shift_ratio if isfinite(change.shift_ratio) else None
    row.p_value, row.detector = change.p_value, DETECTOR


def _judge_events(session: Session, series: Series, points: Sequence[Point]) -> None:
    """Each event once by the first four points after it, and once more by the first eight."""
    event_repository.link_told(session, series, points[0].at)
    values, times = [point.median for point in points], [point.at for point in points]
    for event, stored in event_repository.effects(session, series.id):
        first_after = bisect_left(times, event.at)
        look = next((look for look in reversed(LOOKS_AFTER) if len(points) - first_after >= look), LOOKS_AFTER[0])
        judged = event_effect(values, first_after, look)
        stored.look = look if judged.p_value is not None else 0
        stored.effect, stored.shift_ratio, stored.p_value = judged.effect, judged.shift_ratio, judged.p_value
        stored.points_before, stored.points_after = judged.runs_before, judged.runs_after


@dataclass(frozen=True, slots=True)
class Matched:
    """The changes of an analysis beside the stored ones."""

    known: tuple[tuple[LevelChange, int], ...]  # each change that was stored, with the index of its row
    new: tuple[LevelChange, ...]  # those that were not
    gone: tuple[int, ...]  # indices of the rows that the analysis did not find


def match_changes(changes: Sequence[LevelChange], stored: Sequence[datetime], times: Sequence[datetime]) -> Matched:
    """Match each change with the nearest stored one within six points that no nearer change is.

    A stored change is where its first point would stand now among the sorted `times`, also if that point is gone.
    """
    places = [bisect_left(times, at) for at in stored]
    distances = sorted(
        (abs(change.index - place), number, row)
        for number, change in enumerate(changes)
        for row, place in enumerate(places)
        if abs(change.index - place) <= SAME_RUNS
    )
    rows: dict[int, int] = {}
    for _, number, row in distances:
        if number not in rows and row not in rows.values():
            rows[number] = row
    return Matched(
        known=tuple((change, rows[number]) for number, change in enumerate(changes) if number in rows),
        new=tuple(change for number, change in enumerate(changes) if number not in rows),
        gone=tuple(row for row in range(len(stored)) if row not in rows.values()),
    )
