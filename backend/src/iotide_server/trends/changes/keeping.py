"""Stored changes of a series after its next analysis."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite

from iotide_server.results.models import Point
from iotide_server.statistics.changepoints import DETECTOR, FEWEST_RUNS
from iotide_server.statistics.course import CONFIRMING_RUNS, SAME_RUNS, Analysis, LevelChange
from iotide_server.statistics.withdrawal import Reported, Reviewed, review
from iotide_server.trends.models import ChangePoint


@dataclass(frozen=True, slots=True)
class AnalysedPoints:
    points: Sequence[Point]  # in time order; the newest of the series
    point_count: int  # of the series
    analysed_at: datetime


def keep_changes(rows: Sequence[ChangePoint], found: Analysis, analysed: AnalysedPoints) -> list[ChangePoint]:
    """Update the stored changes to an analysis, and return the new ones.

    A known change keeps its row. It is confirmed once it is still found with CONFIRMING_RUNS more points, and was
    found by every analysis in between. A confirmed one that is no longer found stays, is over or is withdrawn as
    `withdrawal.review` decides. Changes before the analysed points stay as they are.
    """
    points, now = analysed.points, analysed.analysed_at
    times = [point.at for point in points]
    seen = [row for row in rows if times and row.at >= times[0]]
    matched = match_changes(found.changes, [StoredChange(row.at, is_up(row)) for row in seen], times)
    for change, index in matched.known:
        row = seen[index]
        _write(row, change, points)
        if row.gone_at is not None or row.found_points > analysed.point_count:
            row.gone_at, row.found_points = None, analysed.point_count
        row.over_at = None
        if row.confirmed_at is None and analysed.point_count - row.found_points >= CONFIRMING_RUNS:
            row.confirmed_at = now
    missed = [row for row in (seen[index] for index in matched.missed) if row.gone_at is None]
    _settle([row for row in missed if row.confirmed_at is not None], found, analysed)
    for row in missed:
        if row.confirmed_at is None:
            row.gone_at = now
    return [_made(change, analysed) for change in matched.new]


def is_up(row: ChangePoint) -> bool:
    return row.median_after > row.median_before


def _settle(rows: Sequence[ChangePoint], found: Analysis, analysed: AnalysedPoints) -> None:
    times = [point.at for point in analysed.points]
    placed = [(row, bisect_left(times, row.at)) for row in rows]
    # Points that left the analysed ones are missing before such a change, so they say nothing about it.
    least = FEWEST_RUNS if analysed.point_count > len(times) else 0
    known = [change.index for change in found.changes] + [place for _, place in placed if place < least]
    tested = [(row, place) for row, place in placed if place >= least]
    reported = [Reported(place, is_up(row)) for row, place in tested]
    values = [point.median for point in analysed.points]
    for (row, _), reviewed in zip(tested, review(values, known, reported), strict=True):
        _apply(row, reviewed, analysed)


def _apply(row: ChangePoint, reviewed: Reviewed, analysed: AnalysedPoints) -> None:
    if reviewed.change is None:
        row.gone_at = analysed.analysed_at
        return
    _write(row, reviewed.change, analysed.points)
    if reviewed.over_index is not None:
        row.gone_at, row.over_at = analysed.analysed_at, analysed.points[reviewed.over_index].at


def _made(change: LevelChange, analysed: AnalysedPoints) -> ChangePoint:
    row = ChangePoint(found_at=analysed.analysed_at, found_points=analysed.point_count)
    _write(row, change, analysed.points)
    return row


def _write(row: ChangePoint, change: LevelChange, points: Sequence[Point]) -> None:
    first, last = points[change.index], points[change.index - 1]
    row.at, row.previous_at, row.cell_id = first.at, last.at, first.cell_id
    row.points_before, row.points_after = change.runs_before, change.runs_after
    row.median_before, row.median_after = change.median_before, change.median_after
    row.shift_ratio = change.shift_ratio if isfinite(change.shift_ratio) else None
    row.p_value, row.detector = change.p_value, DETECTOR


@dataclass(frozen=True, slots=True)
class StoredChange:
    at: datetime
    is_up: bool


@dataclass(frozen=True, slots=True)
class Matched:
    known: tuple[tuple[LevelChange, int], ...]
    new: tuple[LevelChange, ...]
    missed: tuple[int, ...]


def match_changes(changes: Sequence[LevelChange], stored: Sequence[StoredChange], times: Sequence[datetime]) -> Matched:
    """Match each change with the nearest stored one of its direction within SAME_RUNS points, one to one.

    The place of a stored change is where its time sorts into `times`.
    """
    places = [bisect_left(times, one.at) for one in stored]
    distances = sorted(
        (abs(change.index - place), number, row)
        for number, change in enumerate(changes)
        for row, place in enumerate(places)
        if abs(change.index - place) <= SAME_RUNS and (change.median_after > change.median_before) == stored[row].is_up
    )
    rows: dict[int, int] = {}
    for _, number, row in distances:
        if number not in rows and row not in rows.values():
            rows[number] = row
    return Matched(
        known=tuple((change, rows[number]) for number, change in enumerate(changes) if number in rows),
        new=tuple(change for number, change in enumerate(changes) if number not in rows),
        missed=tuple(row for row in range(len(stored)) if row not in rows.values()),
    )
