"""The status board."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.kit.db import array_of
from iotide_server.kit.people import are_shown
from iotide_server.overview import queries, repository
from iotide_server.overview.attention import (
    Needed,
    OpenIncident,
    StaleSeries,
    in_order,
    of_incidents,
    of_mounts,
    of_nodes,
    of_overdue,
    of_schedules,
    of_stale,
    of_stuck,
)
from iotide_server.overview.causes import nearest_cause
from iotide_server.overview.cell_trends import KnownLevels, cell_line, cell_trend, stale_line
from iotide_server.overview.judging import JudgedSite, Place, counts_of, judged_site, urgency
from iotide_server.overview.outliers import of_outliers
from iotide_server.overview.repository import AnyRow
from iotide_server.overview.schemas import (
    AttentionItem,
    Board,
    BoardCell,
    BoardCluster,
    BoardNodes,
    CellTrend,
    StandingCount,
)
from iotide_server.overview.standing import AgreedChange, JudgedSeries, SeriesState, Summed
from iotide_server.results import reading as results
from iotide_server.results.schemas import SeriesOutput
from iotide_server.schedules.failing import FailingSchedule, failing_schedules
from iotide_server.statistics.course import Course
from iotide_server.trends.changes.drift import Drift
from iotide_server.trends.changes.words import stale_words
from iotide_server.trends.events import repository as events

MOST_ATTENTION: Final = 100
MOST_TRENDS: Final = 300
"""Cells with a small trend, worst first; each costs 60 index scans."""


def board(session: Session, principal: Principal, since: datetime, now: datetime) -> Board:
    visible = principal.visible_clusters()
    failing = failing_schedules(session, visible, with_names=are_shown())
    site = judged_site(session, visible, failing, since, now)
    incidents = repository.open_incidents(session, visible, now)
    old = repository.old_incidents(session, visible, now)
    by_cluster = Counter(one.cluster_id for one in incidents)
    odd = queries.flagged_runs(session, {row.id: row.cell_id for row in site.rows if row.is_odd and not row.is_stale})
    found = [
        *of_incidents(incidents, old),
        *of_outliers(odd),
        *of_stale(_stopped(site, failing)),
    ]
    needed = [*_needed(session, failing, visible, now), *found]
    return Board(
        since=since,
        until=now,
        clusters=[_cluster(row, by_cluster[row.id]) for row in repository.clusters(session, visible, now)],
        workloads=sorted({workload for _, workload in site.by_place}),
        cells=_cells(site, incidents, _drawn(session, site, _Period(since, now))),
        attention=_attention(session, in_order(needed)[:MOST_ATTENTION]),
        attention_left_out=max(0, len(needed) - MOST_ATTENTION),
        is_cut=any(row.is_cut for row in site.rows),
    )


def _stopped(site: JudgedSite, failing: Mapping[int, FailingSchedule]) -> Iterator[StaleSeries]:
    for row in site.rows:
        if row.id in site.stale and not _is_meant(row):
            words, schedule = site.stale[row.id], failing.get(row.schedule_id)
            if schedule is not None:
                words = stale_words(row.last_at, f"schedule {schedule.name} fails")  # its own item has the reason
            known = (row.id, row.cluster_id, row.workload, words, row.last_at, row.schedule_id)
            yield StaleSeries(*known, alike=row.alike)


def _is_meant(row: AnyRow) -> bool:
    """Return whether a user stopped the stale series, such as by pausing its schedule."""
    return row.schedule_id is not None and not row.is_made_up and not row.is_late


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


def _cluster(row: AnyRow, open_incidents: int) -> BoardCluster:
    return BoardCluster.of_row(row, nodes=BoardNodes.model_validate(row), open_incidents=open_incidents)


@dataclass(frozen=True, slots=True)
class _Drawn:
    named: Mapping[int, SeriesOutput]
    trends: Mapping[int, CellTrend]
    lines: Mapping[int, str]


class _Period(NamedTuple):
    since: datetime
    until: datetime


def _drawn(session: Session, site: JudgedSite, period: _Period) -> _Drawn:
    """Return name, small trend and line of words by the worst series of each cell."""
    by_id = {row.id: row for row in site.rows}
    worst = sorted(site.sums.values(), key=urgency)
    points = queries.drawn_points(session, [one.worst for one in worst[:MOST_TRENDS]], *period)
    begun = {one.worst: _begun(one.judged, site.steps.get(one.worst, ())) for one in worst}
    near = events.events_near(session, [step.change_id for step in begun.values() if step and step.change_id])
    trends: dict[int, CellTrend] = {}
    lines: dict[int, str] = {}
    for one in worst:
        row, step = by_id[one.worst], begun[one.worst]
        drift = Drift.read(row.drift)
        course = None if row.course is None else Course(row.course)
        known = KnownLevels(course, site.steps.get(row.id, ()), drift)
        trends[row.id] = cell_trend(points.get(row.id, ()), known, period.since)
        events_of = near[step.change_id].shown if step and step.change_id else []
        cause = nearest_cause(events_of, step.previous_at or step.at, step.at) if step else None
        if one.judged.state is SeriesState.STALE and not _is_meant(row):
            lines[row.id] = stale_line(row.last_at, period.until)  # the attention list has the reason
        else:
            lines[row.id] = cell_line(one.judged, drift, cause, period.until)
    counts = counts_of(by_id[one.worst] for one in worst)
    return _Drawn(results.series_by_id(session, trends, counts), trends, lines)


def _begun(judged: JudgedSeries, steps: Sequence[AgreedChange]) -> AgreedChange | None:
    """Return the change that began the state."""
    if judged.state not in {SeriesState.SLOWER, SeriesState.FASTER}:
        return None
    return next((step for step in steps if step.at == judged.since), None)


def _cells(site: JudgedSite, incidents: Sequence[OpenIncident], drawn: _Drawn) -> list[BoardCell]:
    open_incidents = Counter((one.cluster_id, workload) for one in incidents for workload in one.workloads)

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
            suspects=sum(row.is_suspect for row in site.by_place[place]),
            open_incidents=open_incidents[place],
            last_at=max(row.last_at for row in site.by_place[place]),
        )

    return [cell(place, site.sums[place]) for place in sorted(site.sums)]
