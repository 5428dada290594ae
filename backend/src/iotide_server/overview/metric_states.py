"""The states of one metric's series, for a page with their trends."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Final

from fastapi import Query
from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.kit.people import are_shown
from iotide_server.overview import metric_repository, repository
from iotide_server.overview.judging import counts_of, gone_of, judged_site, worst_series
from iotide_server.overview.metric_repository import AnyRow, MetricQuery
from iotide_server.overview.schemas import MeasuredWorkload, MetricBoard, SeriesStanding
from iotide_server.overview.standing import ORDER, JudgedSeries, judge
from iotide_server.results import reading as results
from iotide_server.results.schemas import SeriesOutput
from iotide_server.runs.schemas import OptionalId
from iotide_server.schedules.failing import FailingSchedule, failing_schedules
from iotide_server.statistics.course import Course
from iotide_server.trends.changes.words import gap_words, stale_words
from iotide_server.trends.points.lateness import scheduled_series

MOST_SERIES: Final = 1000
RECOVERIES_SINCE: Final = timedelta(days=365)
OVERVIEW_PERIOD: Final = timedelta(days=90)
"""The overview's default: the worst series is the one that it shows first."""


@dataclass(frozen=True, slots=True)
class MetricChoice:
    cluster_id: OptionalId = None
    workload: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=100,
            description="Default: that of the worst series, else that with the longest",
            examples=["dd"],
        ),
    ] = None
    metric: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=100,
            description="Default: that of the worst series, else the first primary one",
            examples=["write_rate"],
        ),
    ] = None


def metric_board(session: Session, principal: Principal, wanted: MetricChoice, now: datetime) -> MetricBoard:
    """Return the newest series of a metric, worst first; none for a workload or metric without points."""
    visible = principal.visible_clusters()
    failing = failing_schedules(session, visible, with_names=are_shown())
    measured = metric_repository.measured_metrics(session, visible, wanted.cluster_id)
    worst = None if wanted.metric else _worst(session, visible, wanted, failing, now)
    workload, metric = (worst.workload, worst.metric) if worst else (wanted.workload, wanted.metric)
    workload = workload or next(iter(measured), None)
    metrics = measured.get(workload, []) if workload else []
    metric = metric or next((row.metric for row in metrics), None)
    rows: Sequence[AnyRow] = ()
    if workload is not None and metric is not None:
        query = MetricQuery(visible, wanted.cluster_id, workload, metric, MOST_SERIES + 1, now)
        rows = metric_repository.series_of_metric(session, query)
    stale = _stale_words(session, rows, visible, failing, now)
    return MetricBoard(
        workload=workload,
        metric=metric,
        measured=[
            MeasuredWorkload.model_validate({"workload": name, "metrics": known}) for name, known in measured.items()
        ],
        series=list(_standings(session, rows[:MOST_SERIES], stale, now)),
        is_cut=len(rows) > MOST_SERIES,
    )


def _worst(
    session: Session,
    visible: frozenset[int] | None,
    wanted: MetricChoice,
    failing: Mapping[int, FailingSchedule],
    now: datetime,
) -> SeriesOutput | None:
    """Return the worst series of the chosen cluster and workload; None if all are well."""
    own = None if wanted.cluster_id is None else frozenset({wanted.cluster_id})
    visible = visible if own is None else own if visible is None else own & visible
    site = judged_site(session, visible, failing, now - OVERVIEW_PERIOD, now)
    worst = worst_series(site, wanted.workload)
    return None if worst is None else results.series_by_id(session, [worst])[worst]


def _standings(
    session: Session, rows: Sequence[AnyRow], stale: Mapping[int, str], now: datetime
) -> Iterator[SeriesStanding]:
    changed = [row.id for row in rows if row.course == Course.CHANGED]
    steps, over = repository.steps(session, changed), repository.last_over(session, changed)
    judged = {
        row.id: judge(gone_of(row, steps.get(row.id, ()), over.get(row.id), stale.get(row.id)), now - RECOVERIES_SINCE)
        for row in rows
    }
    named = results.series_by_id(session, judged, counts_of(rows))
    for series_id in sorted(judged, key=lambda series_id: _urgency(judged[series_id], series_id)):
        yield SeriesStanding.of_row(judged[series_id], series=named[series_id])


def _urgency(judged: JudgedSeries, series_id: int) -> tuple[int, float, int]:
    return ORDER[judged.state], -abs(judged.shift_ratio or 0.0), series_id


def _stale_words(
    session: Session,
    rows: Sequence[AnyRow],
    visible: frozenset[int] | None,
    failing: Mapping[int, FailingSchedule],
    now: datetime,
) -> dict[int, str]:
    """Return why a series is stale. A schedule that is on time excuses a silence longer than usual."""
    scheduled = {one.series_id: one for one in scheduled_series(session, now, visible)}
    found: dict[int, str] = {}
    for row in rows:
        one = scheduled.get(row.id)
        if one is not None and one.lateness.is_late:
            found[row.id] = one.words(failing)
        elif one is None and row.is_silent:
            found[row.id] = stale_words(row.last_at, gap_words(timedelta(seconds=row.usual_gap_seconds)))
    return found
