"""The status board."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.kit.db import array_of
from iotide_server.kit.people import are_shown
from iotide_server.overview import queries, repository
from iotide_server.overview.attention import (
    Needed,
    StaleSeries,
    in_order,
    of_alerts,
    of_mounts,
    of_nodes,
    of_overdue,
    of_schedules,
    of_stale,
    of_stuck,
)
from iotide_server.overview.causes import nearest_cause
from iotide_server.overview.cell_trends import KnownLevels, cell_line, cell_trend
from iotide_server.overview.outliers import of_outliers
from iotide_server.overview.repository import AnyRow, BoardQuery
from iotide_server.overview.schemas import (
    AttentionItem,
    Board,
    BoardCell,
    BoardCluster,
    BoardNodes,
    CellTrend,
    StandingCount,
)
from iotide_server.overview.standing import (
    ORDER,
    AgreedChange,
    Gone,
    JudgedSeries,
    OverShift,
    SeriesState,
    Spread,
    Summed,
    judge,
    sum_up,
)
from iotide_server.results import reading as results
from iotide_server.results.schemas import SeriesOutput
from iotide_server.schedules.failing import FailingSchedule, failing_schedules
from iotide_server.statistics.course import Course
from iotide_server.trends.changes.drift import Drift
from iotide_server.trends.changes.noise import NoiseChange
from iotide_server.trends.changes.words import gap_words, noise_words, stale_words
from iotide_server.trends.events import repository as events
from iotide_server.trends.points.lateness import scheduled_series

MOST_SERIES: Final = 20_000
MOST_ROWS: Final = 50_000
"""Bounds the memory of an answer, since most series have a separate row."""
MOST_ATTENTION: Final = 100
MOST_TRENDS: Final = 300
"""Cells with a small trend, worst first; each costs 60 index scans."""

Place = tuple[int, str]


def board(session: Session, principal: Principal, since: datetime, now: datetime) -> Board:
    visible = principal.visible_clusters()
    failing = failing_schedules(session, visible, with_names=are_shown())
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
    alerts = repository.open_alerts(session, visible)
    open_alerts = {(row.cluster_id, row.workload): row.alerts for row in alerts}
    odd = queries.flagged_runs(session, {row.id: row.cell_id for row in rows if row.is_odd and not row.is_stale})
    found = [*of_alerts(alerts), *of_outliers(odd), *of_stale(_stopped(rows, stale))]
    needed = [*_needed(session, failing, visible, now), *found]
    return Board(
        since=since,
        until=now,
        clusters=[_cluster(row, open_alerts) for row in repository.clusters(session, visible, now)],
        workloads=sorted({workload for _, workload in by_place}),
        cells=_cells(sums, by_place, open_alerts, _drawn(session, sums, rows, steps, _Period(since, now))),
        attention=_attention(session, in_order(needed)[:MOST_ATTENTION]),
        attention_left_out=max(0, len(needed) - MOST_ATTENTION),
        is_cut=any(row.is_cut for row in rows),
    )


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


def _stopped(rows: Sequence[AnyRow], stale: Mapping[int, str]) -> Iterator[StaleSeries]:
    """Leave out series stopped on purpose, such as by pausing a schedule."""
    for row in rows:
        is_meant = row.schedule_id is not None and not row.is_made_up and not row.is_late
        if row.id in stale and not is_meant:
            known = (row.id, row.cluster_id, row.workload, stale[row.id], row.last_at, row.schedule_id)
            yield StaleSeries(*known, alike=row.alike)


def _needed(
    session: Session, failing: Mapping[int, FailingSchedule], visible: frozenset[int] | None, now: datetime
) -> list[Needed]:
    listed = array_of(visible)
    suspected = {lost.target_id for one in failing.values() for lost in one.lost_mounts}
    mounts = repository.doubtful_mounts(session, listed, sorted(suspected))
    return [
        *of_stuck(repository.stuck_nodes(session, listed)),
        *of_mounts(mounts, failing.values()),
        *of_schedules(failing.values()),
        *of_overdue(repository.overdue_schedules(session, listed, now)),
        *of_nodes(repository.silent_nodes(session, listed, now)),
    ]


def _attention(session: Session, needed: Sequence[Needed]) -> list[AttentionItem]:
    named = results.series_by_id(session, [item.series_id for item in needed if item.series_id is not None])
    return [
        AttentionItem.of_row(item, series=None if item.series_id is None else named[item.series_id]) for item in needed
    ]


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


def _cluster(row: AnyRow, open_alerts: Mapping[Place, int]) -> BoardCluster:
    alerts = sum(count for (cluster_id, _), count in open_alerts.items() if cluster_id == row.id)
    return BoardCluster.of_row(row, nodes=BoardNodes.model_validate(row), open_alerts=alerts)


@dataclass(frozen=True, slots=True)
class _Drawn:
    named: Mapping[int, SeriesOutput]
    trends: Mapping[int, CellTrend]
    lines: Mapping[int, str]


class _Period(NamedTuple):
    since: datetime
    until: datetime


def _drawn(
    session: Session,
    sums: Mapping[Place, Summed],
    rows: Sequence[AnyRow],
    steps: Mapping[int, Sequence[AgreedChange]],
    period: _Period,
) -> _Drawn:
    """Return name, small trend and line of words by the worst series of each cell."""
    by_id = {row.id: row for row in rows}
    worst = sorted(sums.values(), key=lambda one: (ORDER[one.state], one.worst))
    points = queries.drawn_points(session, [one.worst for one in worst[:MOST_TRENDS]], *period)
    begun = {one.worst: _begun(one.judged, steps.get(one.worst, ())) for one in worst}
    near = events.events_near(session, [step.change_id for step in begun.values() if step and step.change_id])
    trends: dict[int, CellTrend] = {}
    lines: dict[int, str] = {}
    for one in worst:
        row, step = by_id[one.worst], begun[one.worst]
        drift = Drift.read(row.drift)
        course = None if row.course is None else Course(row.course)
        known = KnownLevels(course, steps.get(row.id, ()), drift)
        trends[row.id] = cell_trend(points.get(row.id, ()), known, period.since)
        events_of = near[step.change_id].shown if step and step.change_id else []
        cause = nearest_cause(events_of, step.previous_at or step.at, step.at) if step else None
        lines[row.id] = cell_line(one.judged, drift, cause, period.until)
    return _Drawn(results.series_by_id(session, [one.worst for one in worst]), trends, lines)


def _begun(judged: JudgedSeries, steps: Sequence[AgreedChange]) -> AgreedChange | None:
    """Return the change that began the state."""
    if judged.state not in {SeriesState.SLOWER, SeriesState.FASTER}:
        return None
    return next((step for step in steps if step.at == judged.since), None)


def _cells(
    sums: Mapping[Place, Summed],
    rows: Mapping[Place, Sequence[AnyRow]],
    open_alerts: Mapping[Place, int],
    drawn: _Drawn,
) -> list[BoardCell]:
    def cell(place: Place, summed: Summed) -> BoardCell:
        worst: JudgedSeries = summed.judged
        return BoardCell.of_row(
            worst,
            cluster_id=place[0],
            workload=place[1],
            state=summed.state,
            counts=[StandingCount(state=state, series=count) for state, count in summed.counts.items()],
            worst=drawn.named[summed.worst],
            since_cell_id=worst.cell_id,
            line=drawn.lines[summed.worst],
            trend=drawn.trends[summed.worst],
            suspects=sum(row.is_suspect for row in rows[place]),
            open_alerts=open_alerts.get(place, 0),
            last_at=max(row.last_at for row in rows[place]),
        )

    return [cell(place, sums[place]) for place in sorted(sums)]
