"""States of all measured series by cluster and workload."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.overview import repository
from iotide_server.overview.repository import AnyRow, BoardQuery
from iotide_server.overview.standing import (
    ORDER,
    AgreedChange,
    Gone,
    OverShift,
    SeriesState,
    Spread,
    Summed,
    judge,
    sum_up,
)
from iotide_server.schedules.failing import FailingSchedule
from iotide_server.statistics.course import Course
from iotide_server.trends.changes.drift import Drift
from iotide_server.trends.changes.noise import NoiseChange
from iotide_server.trends.changes.words import gap_words, noise_words, stale_words
from iotide_server.trends.points.lateness import scheduled_series

MOST_SERIES: Final = 20_000
MOST_ROWS: Final = 50_000
"""Bounds the memory of an answer, since most series have a separate row."""

_BAD: Final = frozenset({SeriesState.SLOWER, SeriesState.STALE, SeriesState.NOISY})

Place = tuple[int, str]


@dataclass(frozen=True, slots=True)
class JudgedSite:
    rows: Sequence[AnyRow]
    by_place: Mapping[Place, Sequence[AnyRow]]
    steps: Mapping[int, Sequence[AgreedChange]]  # of series
    stale: Mapping[int, str]  # words of stale series
    sums: Mapping[Place, Summed]


def judged_site(
    session: Session,
    visible: frozenset[int] | None,
    failing: Mapping[int, FailingSchedule],
    since: datetime,
    now: datetime,
) -> JudgedSite:
    """Judge the series that were measured since then, or are stale, in these clusters (None: all)."""
    late, on_time = _scheduled(session, failing, visible, now)
    wanted = BoardQuery(since, now, late, on_time, MOST_SERIES, MOST_ROWS)
    rows = repository.measured_series(session, visible, wanted)
    changed = [row.id for row in rows if row.course == Course.CHANGED]
    steps, over = repository.steps(session, changed), repository.last_over(session, changed)
    stale = {row.id: late.get(row.id) or _stale_words(row, failing) for row in rows if row.is_stale}
    by_place: defaultdict[Place, list[AnyRow]] = defaultdict(list)
    for row in rows:
        by_place[row.cluster_id, row.workload].append(row)
    judged = {
        row.id: judge(gone_of(row, steps.get(row.id, ()), over.get(row.id), stale.get(row.id)), since) for row in rows
    }
    sums = {place: sum_up((row.id, judged[row.id], row.alike) for row in own) for place, own in by_place.items()}
    return JudgedSite(rows, by_place, steps, stale, sums)


def urgency(summed: Summed) -> tuple[int, float]:
    """Return the key that sorts cells as the overview shows them, worst first."""
    return ORDER[summed.state], -abs(summed.judged.shift_ratio or 0.0)


def worst_series(site: JudgedSite, workload: str | None) -> int | None:
    """Return the worst series of the first cell of the overview, of one workload or of all; None if none is bad."""
    own = [summed for (_, name), summed in sorted(site.sums.items()) if workload in {None, name}]
    first = min(own, key=urgency, default=None)
    return first.worst if first is not None and first.state in _BAD else None


def _scheduled(
    session: Session, failing: Mapping[int, FailingSchedule], visible: frozenset[int] | None, now: datetime
) -> tuple[dict[int, str], list[int]]:
    late: dict[int, str] = {}
    on_time: list[int] = []
    for one in scheduled_series(session, now, visible):
        if one.lateness.is_late:
            late[one.series_id] = one.words(failing)
        else:
            on_time.append(one.series_id)
    return late, on_time


def _stale_words(row: AnyRow, failing: Mapping[int, FailingSchedule]) -> str:
    known = failing.get(row.schedule_id)
    if known is not None:
        return stale_words(row.last_at, known.words)
    if row.schedule_id is None or row.is_made_up:
        return stale_words(row.last_at, gap_words(timedelta(seconds=row.usual_gap_seconds)))
    ends = {"paused": "is paused", "ended": "has ended"}
    end = "was deleted" if row.is_removed else ends.get(row.schedule_state, "no longer measures it")
    return stale_words(row.last_at, f"schedule {row.schedule_name} {end}")


def counts_of(rows: Iterable[AnyRow]) -> dict[int, int]:
    """Return the numbers of points at the last analyses."""
    return {row.id: row.point_count for row in rows if row.point_count is not None}


def gone_of(row: AnyRow, steps: Sequence[AgreedChange], over: OverShift | None, stale: str | None) -> Gone:
    """Return what is known of a series; the row has its last analysis."""
    return Gone(
        course=None if row.course is None else Course(row.course),
        better=row.better,
        point_count=row.point_count or 0,
        missing_points=row.missing_points or 0,
        last_at=row.last_at,
        steps=steps,
        over=over,
        drift=Drift.read(row.drift),
        noisy=_noisy(row),
        stale_words=stale,
    )


def _noisy(row: AnyRow) -> Spread | None:
    noise = None if row.noise is None else NoiseChange.model_validate(row.noise)
    if noise is None or not noise.is_noisier or noise.confirmed_at is None:
        return None
    words = noise_words(noise.spread_before, noise.spread_after, noise.points_before, noise.points_after)
    return Spread(noise.at, words)
