"""Read access to results."""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final

from anyio import CapacityLimiter, to_thread
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns.stopping import EndOfRepeats, words_of
from iotide_server.kit.db import Database, Json
from iotide_server.kit.pagination import Page, PageRequest, Slice
from iotide_server.results import queries
from iotide_server.results.errors import (
    ARTEFACT_NOT_FOUND,
    CURVES_TOO_LARGE,
    MOST_PIECES,
    MOST_POINTS,
    SERIES_NOT_FOUND,
)
from iotide_server.results.figures import conduct_queries
from iotide_server.results.ingest import readings, unjudged
from iotide_server.results.ingest.curves import thin
from iotide_server.results.ingest.keys import is_below_clock
from iotide_server.results.models import Artefact
from iotide_server.results.queries import AnyRow
from iotide_server.results.schemas import (
    CellOutput,
    CellRepeats,
    CellResult,
    Curve,
    Observation,
    ReadingOutput,
    RunDetail,
    SampleOutput,
    SeriesFilter,
    SeriesOutput,
    UnansweredCheck,
)
from iotide_server.runs import reading as runs
from iotide_server.runs.errors import RUN_NOT_FOUND
from iotide_server.runs.models import Run as RunRow
from iotide_server.runs.schemas import RunOutput
from iotide_server.statistics.summary import tier, variation
from iotide_server.workloads.primary import metric_places
from iotide_wire.checks import CHECKS
from iotide_wire.measured import FlagCode, NotJudged
from iotide_wire.units import KIB, MIB

FIRST_PIECE_BYTES: Final = 64 * KIB
LARGEST_PIECE_BYTES: Final = MIB
"""PostgreSQL unpacks everything before a piece, so small pieces are slow."""


def list_series(session: Session, principal: Principal, wanted: SeriesFilter, paging: PageRequest) -> Slice[AnyRow]:
    return queries.series_page(session, principal.visible_clusters(), wanted, paging)


def series(session: Session, principal: Principal, series_id: int) -> SeriesOutput:
    row = next(iter(queries.series_named(session, [series_id])), None)
    return SeriesOutput.model_validate(principal.require_row(Role.VIEWER, row, SERIES_NOT_FOUND(series_id=series_id)))


def series_by_id(
    session: Session, series_ids: Iterable[int], point_counts: Mapping[int, int] | None = None
) -> dict[int, SeriesOutput]:
    """Return series; numbers of points that the caller knows are not counted. Permissions are not checked."""
    known = point_counts or {}
    rows = queries.series_named(session, sorted(set(series_ids)), known)
    return {row.id: SeriesOutput.of_row(row, point_count=known.get(row.id, row.point_count)) for row in rows}


def list_samples(
    session: Session, principal: Principal, paging: PageRequest, *, run_id: int | None, series_id: int | None
) -> Slice[AnyRow]:
    visible = principal.visible_clusters()
    return queries.samples_page(session, visible, paging, run_id=run_id, series_id=series_id)


def run_samples(session: Session, run_id: int) -> list[SampleOutput]:
    """Primary metrics come first."""
    samples = [SampleOutput.model_validate(row) for row in queries.run_samples(session, run_id)]
    places = metric_places(queries.metrics_of_run(session, run_id))
    return sorted(samples, key=lambda sample: places.get(sample.metric, len(places)))


def run_counters(session: Session, principal: Principal, run_id: int) -> Sequence[str]:
    """Return the counters with curves, or raise RUN_NOT_FOUND."""
    _visible_run(session, principal, run_id)
    return queries.run_counters(session, run_id)


def run_curves(
    session: Session, principal: Principal, run_id: int, max_points: int, counters: Sequence[str] | None
) -> list[Curve]:
    """Return curves (counters None: all), thinned to at most `max_points`; raises RUN_NOT_FOUND or CURVES_TOO_LARGE."""
    _visible_run(session, principal, run_id)
    pieces = queries.curve_sizes(session, run_id, counters)
    if sum(pieces) > MOST_PIECES or len(pieces) * max_points > MOST_POINTS:
        raise CURVES_TOO_LARGE(curves=len(pieces), pieces=sum(pieces), max_points=max_points)
    return thinned_curves(session, run_id, max_points, counters)


def thinned_curves(session: Session, run_id: int, max_points: int, counters: Sequence[str] | None) -> list[Curve]:
    curves = []
    stretches = queries.run_curves(session, run_id, counters)
    for (order_id, counter), rows in groupby(stretches, key=lambda row: row[:2]):
        thinned = thin([stretch for _, _, stretch in rows], max_points)
        curves.append(Curve.of_row(thinned, order_id=order_id, counter=counter))
    return curves


def _visible_run(session: Session, principal: Principal, run_id: int) -> None:
    principal.require_row(Role.VIEWER, session.get(RunRow, run_id), RUN_NOT_FOUND(run_id=run_id))


def run_artefacts(session: Session, principal: Principal, run_id: int) -> Sequence[Artefact]:
    _visible_run(session, principal, run_id)
    return queries.run_artefacts(session, run_id)


def artefact_start(session: Session, principal: Principal, artefact_id: int) -> tuple[Artefact, bytes]:
    """Return an artefact with the start of its content, or raise ARTEFACT_NOT_FOUND."""
    missing = ARTEFACT_NOT_FOUND(artefact_id=artefact_id)
    artefact: Artefact = principal.require_row(Role.VIEWER, queries.artefact(session, artefact_id), missing).Artefact
    start = queries.blob_piece(session, artefact.sha256, 0, FIRST_PIECE_BYTES)
    if start is None:
        raise missing
    return artefact, start


async def artefact_pieces(
    database: Database, limiter: CapacityLimiter, artefact: Artefact, start: bytes
) -> AsyncIterator[bytes]:
    """Each piece is read in a short transaction; raise ARTEFACT_NOT_FOUND if it is removed meanwhile."""

    def read(first: int, size_bytes: int) -> bytes | None:
        with database.transaction() as session:
            return queries.blob_piece(session, artefact.sha256, first, size_bytes)

    yield start
    del start
    first = FIRST_PIECE_BYTES
    while first < artefact.size_bytes:
        size_bytes = min(max(FIRST_PIECE_BYTES, first // 8), LARGEST_PIECE_BYTES)
        try:
            piece = await to_thread.run_sync(read, first, size_bytes, limiter=limiter)
        except PoolTimeoutError:  # no connection is free; a retry keeps the download alive
            piece = await to_thread.run_sync(read, first, size_bytes, limiter=limiter)
        if piece is None:
            raise ARTEFACT_NOT_FOUND(artefact_id=artefact.id)
        yield piece
        first += size_bytes


def cell_results(session: Session, cell_ids: Sequence[int]) -> dict[int, list[CellResult]]:
    """Return results with computed points, primary metrics first."""
    results: dict[int, list[CellResult]] = defaultdict(list)
    for point in queries.cell_points(session, cell_ids):
        results[point.cell_id].append(_cell_result(point))
    announced = queries.announced_metrics(session, results)
    for cell_id, own in results.items():
        places = metric_places(announced[cell_id])
        own.sort(key=lambda result: places.get(result.metric, len(places)))
    return results


def _cell_result(point: AnyRow) -> CellResult:
    said = {name: value for name, value in point._mapping.items() if name != "cell_id"}
    if is_below_clock(point.labels, point.median):
        said |= {"variation_ratio": None, "robust_spread_ratio": None}
    ratio = said["variation_ratio"]
    return CellResult(**said, tier=tier(point.n), variation=None if ratio is None else variation(ratio))


def campaign_cells(session: Session, campaign_id: int, paging: PageRequest) -> Page[CellOutput]:
    found = queries.campaign_cells(session, campaign_id, paging)
    results = cell_results(session, [row.id for row in found.rows])
    return found.page(
        lambda row: CellOutput(
            **{**row._mapping, "adaptive": row.adaptive and _adaptive(row.adaptive)}, results=results.get(row.id, [])
        )
    )


def _adaptive(cell: Json) -> CellRepeats:
    because = cell["ended_because"] and EndOfRepeats(cell["ended_because"])
    return CellRepeats(
        runs=cell["runs"],
        half_width_ratio=cell["half_width_ratio"],
        resembles_before=cell["resembles_before"],
        ended_because=because,
        series_id=cell["series_id"],
        words=words_of(because, cell["runs"], cell["half_width_ratio"], resembles=cell["resembles_before"]),
    )


def run_detail(session: Session, principal: Principal, run_id: int, now: datetime) -> RunDetail:
    found = runs.run(session, principal, run_id)
    expected = runs.expected_start(session, found, now)
    return RunDetail(
        **RunOutput.model_validate(found).model_dump(),
        attempts=runs.attempts(session, run_id),
        environment=queries.environment(session, found.environment_sha256),
        observations=[Observation.model_validate(row) for row in queries.observations(session, run_id)],
        samples=run_samples(session, run_id),
        readings=[ReadingOutput.model_validate(row) for row in readings.of_run(session, run_id)],
        not_judged=_not_judged(session, found),
        waiting_because=runs.why_waiting(session, found, now),
        expected_start_at=expected and expected.at,
        expected_start_unknown_because=expected and expected.unknown_because,
    )


def _not_judged(session: Session, run: AnyRow) -> list[UnansweredCheck] | None:
    known = conduct_queries.known(session, run.id)
    # Published runs were measured elsewhere; a flag marks them.
    if known is None or any(flag["code"] == FlagCode.PUBLISHED for flag in run.flags):
        return []
    if run.not_judged is None:
        return None
    found = [*map(NotJudged.model_validate, run.not_judged), *unjudged.not_judged(known)]
    return [UnansweredCheck(**answer.model_dump(), title=CHECKS[answer.check].title) for answer in found]
