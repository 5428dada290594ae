"""What follows a result: the points of its cell, and a mark where the environment changed."""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns.models import Cell
from iotide_server.change_feed import service as live
from iotide_server.kit.db import in_parts
from iotide_server.kit.files import Cell as Value
from iotide_server.kit.files import Column
from iotide_server.kit.pagination import Page, PageRequest, require_span
from iotide_server.kit.work import want_all, want_work
from iotide_server.results import reading as results
from iotide_server.results.ingest.headlines import put_headlines
from iotide_server.results.schemas import SeriesOutput
from iotide_server.statistics.lateness import FoundGaps, find_gaps, missing_days
from iotide_server.statistics.thinning import thinned
from iotide_server.trends.changes.words import environment_change, environment_differences
from iotide_server.trends.events import repository as event_repository
from iotide_server.trends.events.schemas import EventOutput
from iotide_server.trends.models import ChangePoint, Event, SeriesCourse
from iotide_server.trends.peers.outliers import Outliers
from iotide_server.trends.points import repository
from iotide_server.trends.points.levels import CellLevels
from iotide_server.trends.points.of_cell import cell_points
from iotide_server.trends.points.repository import FinishedRun
from iotide_server.trends.schemas import ChangeFilter, NamedChange, Points, SeriesAnalysis, SeriesChange, SpanChoice
from iotide_wire.measured import Flag, FlagCode

ANALYSIS: Final = "analysis"  # kind of the work that analyses a series; its key is the series
ALERTS: Final = "alerts"  # kind of the work that raises the alerts of a series; its key is the series
PEERS: Final = "peers"  # kind of the work that marks the odd ones among equals; its key is the campaign

JUDGED_AFTER: Final = timedelta(minutes=1)
"""Equals are judged so long after a cell has all its runs, at a full minute: cells end one after the other, and
campaigns that measure at once are judged together."""

JUDGED_MEANWHILE: Final = timedelta(minutes=10)  # and so long after a run to which others of its cell are still to come
MOST_SERIES: Final = 64  # a page of small charts asks for so many series at once
MOST_TIMES: Final = 10_000  # points of a series, the newest, between which gaps are looked for
MOST_GAPS: Final = 100

POINTS_AT_ONCE: Final = 2_000  # points of a cell that are written together; a cell may have millions
_UNLIKE_AT_ONCE: Final = 20  # runs of which the environments are held at the same time, each of up to 128 KiB

ANALYSED_AFTER: Final = timedelta(seconds=5)
"""An analysis waits so long for more news of its series: the points of a campaign come one after the other."""


def recompute_points(session: Session, cell_id: int) -> None:
    """Make the points of a cell say what its valid finished runs say; safe to repeat, also at once.

    It first marks runs in another environment and outliers, so that the points carry the marks. Then it publishes the
    series that changed, and asks for their analysis and for the judgement of peers.
    """
    cell = repository.lock_cell(session, cell_id)
    if cell is None:
        return
    cluster_id, now = repository.cluster_and_time(session, cell.campaign_id)
    runs = repository.lock_finished_runs(session, cell_id)
    event_ids = _note_environment_changes(session, cluster_id, cell_id, runs)
    has_touched = False
    for touched in _put_points(session, cell, runs, event_ids):
        has_touched = True
        live.publish_all(session, [("series", series_id, cluster_id) for series_id in sorted(touched)])
        want_all(session, ANALYSIS, touched, now + ANALYSED_AFTER)
    put_headlines(session, [cell_id])
    if has_touched:
        has_all = not repository.has_open_runs(session, cell_id)
        at = now + (JUDGED_AFTER if has_all else JUDGED_MEANWHILE)
        want_work(session, PEERS, cell.campaign_id, at.replace(second=0, microsecond=0) + timedelta(minutes=1))


def _put_points(
    session: Session, cell: Cell, runs: Sequence[FinishedRun], event_ids: Collection[int]
) -> Iterator[set[int]]:
    """Write the points, a part at a time; yield the series of each part whose points changed."""
    levels = CellLevels(session, cell.id, besides=FlagCode.OUTLIER)
    outliers = Outliers(repository.primary_of(session, cell.id))
    if len(runs) > 1:
        for series in levels.series():
            outliers.judge(series)
    flags = outliers.flags()
    repository.put_flags(session, FlagCode.OUTLIER, {run.id: flags.get(run.id, []) for run in runs})
    points = cell_points(levels.series(), {run.id: run.began_at for run in runs}, flags)
    after_id = 0
    for part in in_parts(points, POINTS_AT_ONCE):
        series_ids = {point.series_id for point in part}
        touched = repository.drop_points(session, cell.id, series_ids, after_id, part[-1].series_id)
        touched |= repository.put_points(session, cell, part)
        event_repository.link(session, event_ids, sorted(series_ids))
        if event_ids:  # what they did is judged again
            touched |= series_ids
        if touched:
            yield touched
        after_id = part[-1].series_id
    if gone := repository.drop_points(session, cell.id, (), after_id):
        yield gone


def _note_environment_changes(session: Session, cluster_id: int, cell_id: int, runs: Sequence[FinishedRun]) -> set[int]:
    """Mark the runs that met another environment than the one before them; the ids of the events that this makes."""
    event_ids: set[int] = set()
    previous = repository.previous_runs(session, cell_id)
    unlike = [
        (run, before, run.environment_sha256)
        for run in runs
        if (before := previous.get(run.id)) is not None
        and run.environment_sha256 not in {None, before.environment_sha256}
    ]
    node_ids = repository.node_ids(session, cell_id) if unlike else []
    flags: dict[int, list[Flag]] = {run.id: [] for run in runs}
    for some in in_parts(unlike, _UNLIKE_AT_ONCE):
        digests = {before.environment_sha256 for _, before, _ in some} | {str(own) for *_, own in some}
        facts = repository.facts(session, list(digests))
        for run, before, own in some:
            if own is None or run.started_at is None:
                continue
            change = environment_change(facts[before.environment_sha256], facts[own], before.id)
            if change is not None:
                flags[run.id] = [change]
                words = environment_differences(facts[before.environment_sha256], facts[own])
                seen = Event(
                    cluster_id=cluster_id,
                    kind="environment",
                    since=before.started_at,
                    at=run.started_at,
                    text=words,
                    node_ids=node_ids,
                    target_ids=[],
                    run_id=run.id,
                )
                event_ids.add(event_repository.note(session, seen))
    repository.put_flags(session, FlagCode.ENV_CHANGED, flags)
    return event_ids


def series_points(session: Session, principal: Principal, series_id: int, span: SpanChoice, now: datetime) -> Points:
    """Return points of a series in time order, column by column.

    Raises:
        SERIES_NOT_FOUND, InvalidInputError: the caller may see none, or the span ends before it begins.
    """
    series = results.series(session, principal, series_id)
    require_span(span.since, span.until)
    points = repository.newest_points(session, series_id, span.limit, span.since, span.until)
    if span.points is not None:
        times, medians = [point.at.timestamp() for point in points], [point.median for point in points]
        points = [points[index] for index in thinned(times, medians, span.points)]
    total = repository.count_points(session, series_id, span.since, span.until)
    return Points.of(
        series,
        points,
        max(0, total - len(points)),
        _gaps(repository.newest_times(session, series_id, MOST_TIMES), span, now),
        repository.failed_cells(session, series, span.since, span.until),
    )


def _gaps(times: Sequence[datetime], span: SpanChoice, now: datetime) -> FoundGaps:
    """The newest gaps that reach into a span; points outside of it may be their ends."""
    gaps = [
        gap
        for gap in find_gaps(times, now)
        if (span.since is None or gap.until is None or gap.until > span.since)
        and (span.until is None or gap.since < span.until)
    ]
    return FoundGaps(gaps[-MOST_GAPS:], missing_days(times))


def points_of_series(
    session: Session, principal: Principal, series_ids: Sequence[int], span: SpanChoice, now: datetime
) -> list[Points]:
    """As `series_points` of several series, each once, in the order of the ids."""
    return [series_points(session, principal, series_id, span, now) for series_id in dict.fromkeys(series_ids)]


def series_analysis(session: Session, principal: Principal, series_id: int) -> SeriesAnalysis:
    """Return how a series went by its last analysis, or raise SERIES_NOT_FOUND."""
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
            events=[EventOutput.model_validate(event) for event in near.shown],
            events_more=near.more,
        )

    return found.page(named)


def point_columns(found: Sequence[Points]) -> list[Column]:
    """Values in the series' base unit, which stands beside them; lists and options as JSON."""

    def told(name: str, kind: type[str] | type[int], of: Callable[[SeriesOutput], Value]) -> Column:
        return Column(name, kind, [of(points.series) for points in found for _ in points.at])

    return [
        told("series_id", int, lambda series: series.id),
        told("cluster_id", int, lambda series: series.cluster_id),
        told("nodes", str, lambda series: " ".join(series.node_names)),
        told("targets", str, lambda series: " ".join(series.target_names)),
        told("variant", str, lambda series: series.variant),
        told("workload", str, lambda series: series.workload),
        told("options", str, lambda series: json.dumps(series.options, sort_keys=True)),
        told("metric", str, lambda series: series.metric),
        told("labels", str, lambda series: json.dumps(series.labels, sort_keys=True)),
        told("unit", str, lambda series: series.unit),
        Column("at", datetime, [at for points in found for at in points.at]),
        Column("median", float, [value for points in found for value in points.median]),
        Column("low", float, [value for points in found for value in points.low]),
        Column("high", float, [value for points in found for value in points.high]),
        Column("n", int, [n for points in found for n in points.n]),
        Column("campaign_id", int, [key for points in found for key in points.campaign_id]),
        Column("cell_id", int, [key for points in found for key in points.cell_id]),
        Column("flags", str, [" ".join(flags) for points in found for flags in points.flags]),
    ]
