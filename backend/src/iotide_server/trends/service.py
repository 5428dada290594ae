"""What follows a result: the points of its cell, and a mark where the environment changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.principal import Principal
from iotide_server.kit.errors import InvalidInputError
from iotide_server.kit.pagination import Page, PageRequest
from iotide_server.kit.work import want_all, want_work
from iotide_server.live import service as live
from iotide_server.results import reading as results
from iotide_server.results.gangs import in_own_series, node_totals
from iotide_server.results.headlines import put_headlines
from iotide_server.results.values import RunValue, run_values
from iotide_server.runs.models import Run
from iotide_server.statistics.gaps import FoundGaps, find_gaps, missing_days
from iotide_server.statistics.thinning import thinned
from iotide_server.trends import event_repository, repository
from iotide_server.trends.environment import environment_change, environment_differences
from iotide_server.trends.event_repository import SeenChange
from iotide_server.trends.event_schemas import Event
from iotide_server.trends.failures import failed_cells
from iotide_server.trends.models import ChangePoint, SeriesCourse
from iotide_server.trends.outliers import outlier_flags
from iotide_server.trends.points import cell_points
from iotide_server.trends.schemas import ChangeFilter, NamedChange, Points, SeriesAnalysis, SeriesChange
from iotide_wire.measured import Flag, FlagCode

ANALYSIS: Final = "analysis"
"""Kind of the work that analyses a series; its key is the series."""

ALERTS: Final = "alerts"
"""Kind of the work that raises the alerts of a series; its key is the series."""

PEERS: Final = "peers"
"""Kind of the work that marks the odd ones among equals; its key is the campaign."""

JUDGED_AFTER: Final = timedelta(minutes=1)
"""Equals are judged so long after a cell has all its runs, at a full minute: cells end one after the other, and
campaigns that measure at once are judged together."""

JUDGED_MEANWHILE: Final = timedelta(minutes=10)
"""And so long after a run to which others of its cell are still to come."""

MOST_SERIES: Final = 64
"""A page of small charts asks for so many series at once."""

MOST_TIMES: Final = 10_000
"""Points of a series, the newest, between which gaps are looked for."""
MOST_GAPS: Final = 100

ANALYSED_AFTER: Final = timedelta(seconds=5)
"""An analysis waits so long for more news of its series: the points of a campaign come one after the other."""


def recompute_points(session: Session, cell_id: int) -> None:
    """Make the points of a cell say what its valid finished runs say; harmless to do twice, also at once.

    Marks its runs whose environment differs from the previous run's, and those that lie far from the others, first, so
    that the points carry the marks, tells browsers which series changed, has these analysed, and judged
    among their equals.
    """
    cell = repository.lock_cell(session, cell_id)
    if cell is None:
        return
    cluster_id, now = repository.cluster_and_time(session, cell.campaign_id)
    runs = repository.lock_finished_runs(session, cell_id)
    event_ids = _note_environment_changes(session, cluster_id, cell_id, runs)
    points = cell_points(_values_with_outliers(session, cell_id, runs))
    touched = repository.put_points(session, cell, points)
    put_headlines(session, [cell_id])
    event_repository.link(session, event_ids, [point.series_id for point in points])
    if event_ids:  # what they did is judged anew
        touched |= {point.series_id for point in points}
    live.publish_all(session, [("series", series_id, cluster_id) for series_id in sorted(touched)])
    want_all(session, ANALYSIS, touched, now + ANALYSED_AFTER)
    if touched:
        has_all = not repository.has_open_runs(session, cell_id)
        at = now + (JUDGED_AFTER if has_all else JUDGED_MEANWHILE)
        want_work(session, PEERS, cell.campaign_id, at.replace(second=0, microsecond=0) + timedelta(minutes=1))


def _note_environment_changes(session: Session, cluster_id: int, cell_id: int, runs: Sequence[Run]) -> set[int]:
    """Mark the runs that met another environment than the one before them; the ids of the events that this makes."""
    event_ids: set[int] = set()
    previous = repository.previous_runs(session, cell_id)
    unlike = {
        run.id: previous[run.id]
        for run in runs
        if run.id in previous and run.environment_sha256 not in {None, previous[run.id].environment_sha256}
    }
    digests = {before.environment_sha256 for before in unlike.values()}
    digests |= {str(run.environment_sha256) for run in runs if run.id in unlike}
    node_ids = repository.node_ids(session, cell_id) if unlike else []
    facts = repository.facts(session, list(digests)) if unlike else {}
    for run in runs:
        before = unlike.get(run.id)
        if before is None or run.environment_sha256 is None or run.started_at is None:
            replace_flags(run, FlagCode.ENV_CHANGED, [])
            continue
        old, new = facts[before.environment_sha256], facts[run.environment_sha256]
        change = environment_change(old, new, before.id)
        replace_flags(run, FlagCode.ENV_CHANGED, [] if change is None else [change])
        if change is not None:
            words = environment_differences(old, new)
            seen = SeenChange(cluster_id, node_ids, before.started_at, run.started_at, words, run.id)
            event_ids.add(event_repository.note(session, seen))
    session.flush()
    return event_ids


def _values_with_outliers(session: Session, cell_id: int, runs: Sequence[Run]) -> list[RunValue]:
    """The cell's numbers, after those runs were marked that lie far from the others."""
    values = _values(session, cell_id)
    flags: Mapping[int, Sequence[Flag]] = {}
    if len(runs) > 1:
        measures = repository.measures(session, {value.series_id for value in values})
        flags = outlier_flags(values, measures, repository.primary_of(session, cell_id))
    before = {run.id: run.flags for run in runs}
    for run in runs:
        replace_flags(run, FlagCode.OUTLIER, flags.get(run.id, []))
    if all(run.flags == before[run.id] for run in runs):
        return values
    session.flush()
    return _values(session, cell_id)


def _values(session: Session, cell_id: int) -> list[RunValue]:
    """The numbers of the cell's valid runs, with the sums over the nodes of a gang."""
    own = list(run_values(session, [cell_id]))
    return own + in_own_series(session, cell_id, node_totals(session, own))


def replace_flags(run: Run, code: FlagCode, flags: Sequence[Flag]) -> None:
    """The run's flags of this code are exactly `flags`."""
    others = [flag for flag in run.flags if flag["code"] != code]
    run.flags = [*others, *(flag.model_dump(mode="json") for flag in flags)]


@dataclass(frozen=True, slots=True)
class Span:
    """Which points of a series are wanted.

    Attributes:
        limit: the newest of the span, so many at most.
        shown: so many of these at most, as `thinning.thinned` selects them; None: all of them.
        since, until: the span, its ends included; None: open.
    """

    limit: int
    shown: int | None = None
    since: datetime | None = None
    until: datetime | None = None


def series_points(session: Session, principal: Principal, series_id: int, span: Span, now: datetime) -> Points:
    """Points of a series in time order, column by column.

    Raises:
        SeriesNotFoundError: there is none that the caller may see.
        InvalidInputError: the span ends before it begins.
    """
    series = results.series(session, principal, series_id)
    if span.since is not None and span.until is not None and span.since > span.until:
        remedy = f"give a moment after {span.since.isoformat()}, or none"
        raise InvalidInputError(
            "to: the span ends before it begins", field="to", value=span.until.isoformat(), remedy=remedy
        )
    points = repository.newest_points(session, series_id, span.limit, span.since, span.until)
    if span.shown is not None:
        times, medians = [point.at.timestamp() for point in points], [point.median for point in points]
        points = [points[index] for index in thinned(times, medians, span.shown)]
    total = repository.count_points(session, series_id, span.since, span.until)
    return Points.of(
        series,
        points,
        max(0, total - len(points)),
        _gaps(repository.newest_times(session, series_id, MOST_TIMES), span, now),
        failed_cells(session, series, span.since, span.until),
    )


def _gaps(times: Sequence[datetime], span: Span, now: datetime) -> FoundGaps:
    """The newest gaps that reach into a span; points outside of it may be their ends."""
    gaps = [
        gap
        for gap in find_gaps(times, now)
        if (span.since is None or gap.until is None or gap.until > span.since)
        and (span.until is None or gap.since < span.until)
    ]
    return FoundGaps(gaps[-MOST_GAPS:], missing_days(times))


def points_of_series(
    session: Session, principal: Principal, series_ids: Sequence[int], span: Span, now: datetime
) -> list[Points]:
    """Points of several series, in the order of the ids; each series once.

    Raises:
        SeriesNotFoundError: there is none of such an id that the caller may see.
        InvalidInputError: the span ends before it begins.
    """
    return [series_points(session, principal, series_id, span, now) for series_id in dict.fromkeys(series_ids)]


def series_analysis(session: Session, principal: Principal, series_id: int) -> SeriesAnalysis:
    """How a series went by its last analysis.

    Raises:
        SeriesNotFoundError: there is none that the caller may see.
    """
    series = results.series(session, principal, series_id)
    return SeriesAnalysis.of(
        series,
        session.get(SeriesCourse, series_id),
        repository.told_changes(session, series_id),
        event_repository.effects(session, series_id),
    )


def list_changes(
    session: Session, principal: Principal, wanted: ChangeFilter, paging: PageRequest
) -> Page[NamedChange]:
    """Changes of the series that the caller may see, the newest found first."""
    found = repository.changes_page(session, principal.visible_clusters(), wanted, paging)
    series = results.series_by_id(session, {row.series_id for row in found.rows})
    events = event_repository.events_near(session, [row.id for row in found.rows])

    def named(row: ChangePoint) -> NamedChange:
        own = series[row.series_id]
        near = events[row.id]
        return NamedChange(
            series=own,
            change=SeriesChange.of(row, own.better),
            events=[Event.model_validate(event) for event in near.shown],
            events_more=near.more,
        )

    return found.page(named)
