"""Points of a cell, and what follows from them."""

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
from iotide_server.statistics.summary import ENOUGH_RUNS
from iotide_server.statistics.thinning import thinned
from iotide_server.trends.changes import repository as change_repository
from iotide_server.trends.changes.words import environment_change, environment_differences
from iotide_server.trends.events import repository as event_repository
from iotide_server.trends.events.schemas import EventOutput
from iotide_server.trends.models import ChangePoint, Event, SeriesCourse
from iotide_server.trends.peers.outliers import outlier_flags
from iotide_server.trends.points import repository
from iotide_server.trends.points.levels import CellLevels
from iotide_server.trends.points.of_cell import cell_points
from iotide_server.trends.points.repository import FinishedRun
from iotide_server.trends.schemas import ChangeFilter, NamedChange, Points, SeriesAnalysis, SeriesChange, SpanChoice
from iotide_wire.measured import Flag, FlagCode

ANALYSIS: Final = "analysis"
ALERTS: Final = "alerts"
PEERS: Final = "peers"

JUDGED_AFTER: Final = timedelta(minutes=1)
"""Delay after a cell's last run, up to a full minute, so that concurrent campaigns are judged together."""

JUDGED_MEANWHILE: Final = timedelta(minutes=10)
MOST_SERIES: Final = 64  # small multiples on a page
MOST_TIMES: Final = 10_000  # newest points searched for gaps
MOST_GAPS: Final = 100

POINTS_AT_ONCE: Final = 2_000
_UNLIKE_AT_ONCE: Final = 20  # environments in memory, up to 128 KiB each

ANALYSED_AFTER: Final = timedelta(seconds=5)
"""Delay, because a campaign's points arrive one after the other."""


def recompute_points(session: Session, cell_id: int) -> None:
    """Compute the points of a cell from its valid finished runs. Safe to repeat, also concurrently.

    Flags environment changes and outliers first. Then requests analysis and the judgement of peers.
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
    repository.put_usual_flags(session, cell_id)
    put_headlines(session, [cell_id])
    if has_touched:
        has_all = not repository.has_open_runs(session, cell_id)
        at = now + (JUDGED_AFTER if has_all else JUDGED_MEANWHILE)
        want_work(session, PEERS, cell.campaign_id, at.replace(second=0, microsecond=0) + timedelta(minutes=1))


def _put_points(
    session: Session, cell: Cell, runs: Sequence[FinishedRun], event_ids: Collection[int]
) -> Iterator[set[int]]:
    """Yield the changed series of each part."""
    levels = CellLevels(session, cell.id, ignored_code=FlagCode.OUTLIER)
    flags = outlier_flags(levels.series, repository.primary_of(session, cell.id)) if len(runs) >= ENOUGH_RUNS else {}
    repository.put_flags(session, FlagCode.OUTLIER, {run.id: flags.get(run.id, []) for run in runs})
    points = cell_points(levels.series(), {run.id: run.began_at for run in runs}, flags)
    after_id = 0
    for part in in_parts(points, POINTS_AT_ONCE):
        series_ids = {point.series_id for point in part}
        touched = repository.drop_points(session, cell.id, series_ids, after_id, part[-1].series_id)
        touched |= repository.put_points(session, cell, part)
        event_repository.link(session, event_ids, sorted(series_ids))
        if event_ids:
            touched |= series_ids
        if touched:
            yield touched
        after_id = part[-1].series_id
    if gone := repository.drop_points(session, cell.id, (), after_id):
        yield gone


def _note_environment_changes(session: Session, cluster_id: int, cell_id: int, runs: Sequence[FinishedRun]) -> set[int]:
    """Flag runs whose environment differs from the previous run; return the event ids."""
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
    """Return points in time order by column; raises SERIES_NOT_FOUND or InvalidInputError."""
    series = results.series(session, principal, series_id)
    require_span(span.since, span.until)
    points = repository.newest_rows(session, series_id, span.limit, span.since, span.until)
    if span.since is None and span.until is None and len(points) < min(span.limit, MOST_TIMES):
        times, total = [point.at for point in points], len(points)
    else:
        times = repository.newest_times(session, series_id, MOST_TIMES)
        total = repository.count_points(session, series_id, span.since, span.until)
    if span.points is not None:
        stamps, medians = [point.at.timestamp() for point in points], [point.median for point in points]
        points = [points[index] for index in thinned(stamps, medians, span.points)]
    return Points.of(
        series,
        points,
        max(0, total - len(points)),
        _gaps(times, span, now),
        repository.failed_cells(session, series, span.since, span.until),
    )


def _gaps(times: Sequence[datetime], span: SpanChoice, now: datetime) -> FoundGaps:
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
    return [series_points(session, principal, series_id, span, now) for series_id in dict.fromkeys(series_ids)]


def series_analysis(session: Session, principal: Principal, series_id: int) -> SeriesAnalysis:
    """Return the last analysis, or raise SERIES_NOT_FOUND."""
    series = results.series(session, principal, series_id)
    changes = change_repository.listed(change_repository.change_points(session, series_id))
    return SeriesAnalysis.of(
        series,
        session.get(SeriesCourse, series_id),
        changes,
        event_repository.effects(session, series_id),
        change_repository.reasons(session, [change.id for change in changes]),
    )


def list_changes(
    session: Session, principal: Principal, wanted: ChangeFilter, paging: PageRequest
) -> Page[NamedChange]:
    found = change_repository.changes_page(session, principal.visible_clusters(), wanted, paging)
    series = results.series_by_id(session, {row.series_id for row in found.rows})
    events = event_repository.events_near(session, [row.id for row in found.rows])
    reasons = change_repository.reasons(session, [row.id for row in found.rows])

    def named(row: ChangePoint) -> NamedChange:
        own = series[row.series_id]
        near = events[row.id]
        return NamedChange(
            series=own,
            change=SeriesChange.of(row, own.better, reasons[row.id]),
            events=[EventOutput.model_validate(event) for event in near.shown],
            events_more=near.more,
        )

    return found.page(named)


def point_columns(found: Sequence[Points]) -> list[Column]:
    """Return a row per point in base units, with labels and options as JSON."""

    def series_column(name: str, kind: type[str] | type[int], of: Callable[[SeriesOutput], Value]) -> Column:
        return Column(name, kind, [of(points.series) for points in found for _ in points.at])

    return [
        series_column("series_id", int, lambda series: series.id),
        series_column("cluster_id", int, lambda series: series.cluster_id),
        series_column("nodes", str, lambda series: " ".join(series.node_names)),
        series_column("targets", str, lambda series: " ".join(series.target_names)),
        series_column("variant", str, lambda series: series.variant),
        series_column("workload", str, lambda series: series.workload),
        series_column("options", str, lambda series: json.dumps(series.options, sort_keys=True)),
        series_column("metric", str, lambda series: series.metric),
        series_column("labels", str, lambda series: json.dumps(series.labels, sort_keys=True)),
        series_column("unit", str, lambda series: series.unit),
        Column("at", datetime, [at for points in found for at in points.at]),
        Column("median", float, [value for points in found for value in points.median]),
        Column("low", float, [value for points in found for value in points.low]),
        Column("high", float, [value for points in found for value in points.high]),
        Column("n", int, [n for points in found for n in points.n]),
        Column("campaign_id", int, [key for points in found for key in points.campaign_id]),
        Column("cell_id", int, [key for points in found for key in points.cell_id]),
        Column("flags", str, [" ".join(flags) for points in found for flags in points.flags]),
    ]
