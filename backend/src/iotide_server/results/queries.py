"""SQL that reads results."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import BigInteger, LargeBinary, Result, Row, Select, bindparam, func, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Cell
from iotide_server.clusters.models import Node
from iotide_server.kit.db import Json, any_of, any_text_of, array_of, in_clusters
from iotide_server.kit.pagination import PageRequest, Slice
from iotide_server.results.ingest.curves import Stretch
from iotide_server.results.models import Artefact, Blob, CurveChunk, Environment, Point, Sample, Series
from iotide_server.results.schemas import SeriesFilter
from iotide_server.runs.models import Order, Run
from iotide_server.targets.models import Target
from iotide_server.workloads.models import Workload
from iotide_wire.messages import OrderRole

AnyRow = Row[Any]

_ROWS_AT_ONCE: Final = 100

# Columns, because mapped objects take four times the memory, and a campaign has thousands.
_POINT = (
    *(Point.cell_id, Point.series_id, Point.run_count.label("n"), Point.median, Point.low, Point.high),
    *(Point.variation_ratio, Point.robust_spread_ratio, Point.flags, Point.usual_flags),
    *(Series.metric, Series.title, Series.unit, Series.better, Series.labels),
)

_POINT_COUNT = "(SELECT count(*) FROM point WHERE series_id = series.id)"
_DESCRIBED_SERIES = """
    SELECT series.*,
           ARRAY(SELECT name FROM node WHERE id = ANY(series.node_ids) ORDER BY name) AS node_names,
           ARRAY(SELECT name FROM target WHERE id = ANY(series.target_ids) ORDER BY name) AS target_names,
           {point_count} AS point_count,
           newest.median AS last_value,
           newest.at AS last_at
    FROM series
    LEFT JOIN LATERAL (SELECT median, at FROM point WHERE series_id = series.id ORDER BY at DESC LIMIT 1) AS newest
           ON true
"""
_NAMED_SERIES = text(
    _DESCRIBED_SERIES.format(point_count=f"CASE WHEN series.id <> ALL(:counted) THEN {_POINT_COUNT} END")
    + "WHERE series.id = ANY(:ids)"
).bindparams(bindparam("counted", type_=ARRAY(BigInteger)))
_SERIES_PAGE = text(
    _DESCRIBED_SERIES.format(point_count=_POINT_COUNT)
    + """
    WHERE (CAST(:visible AS bigint[]) IS NULL OR series.cluster_id = ANY(:visible))
      AND (CAST(:cluster_id AS bigint) IS NULL OR series.cluster_id = :cluster_id)
      AND (CAST(:node_id AS bigint) IS NULL OR :node_id = ANY(series.node_ids))
      AND (CAST(:target_id AS bigint) IS NULL OR :target_id = ANY(series.target_ids))
      AND (CAST(:workload AS text) IS NULL OR series.workload = :workload)
      AND (CAST(:metric AS text) IS NULL OR series.metric = :metric)
      AND series.superseded = '' AND series.id < :before_id
    ORDER BY series.id DESC
    LIMIT :limit
    """
)

_OPTION_NAMES = text(
    "SELECT DISTINCT jsonb_object_keys(options) AS name FROM cell WHERE campaign_id = :campaign_id ORDER BY name"
)
_LABEL_NAMES = text(
    """
    SELECT DISTINCT jsonb_object_keys(labels) AS name FROM series
    WHERE id IN (SELECT sample.series_id FROM sample JOIN run ON run.id = sample.run_id
                 JOIN cell ON cell.id = run.cell_id WHERE cell.campaign_id = :campaign_id)
    ORDER BY name
    """
)
# First the rows of the piece by their keys alone: a run may have many samples, and reading all columns of the
# remaining ones for each piece took minutes.
_CAMPAIGN_SAMPLES = text(
    """
    WITH piece AS MATERIALIZED (
        SELECT cell.ordinal, cell.id AS cell_id, run.id AS run_id, run.repeat, sample.id AS sample_id,
               sample.order_id, sample.series_id, sample.value
        FROM cell
        JOIN run ON run.cell_id = cell.id
        JOIN sample ON sample.run_id = run.id
        JOIN series ON series.id = sample.series_id
        WHERE cell.campaign_id = :campaign_id AND cell.ordinal >= :cell AND series.superseded = ''
          AND (cell.ordinal, run.repeat, sample.id) > (:cell, :repeat, :sample_id)
        ORDER BY cell.ordinal, run.repeat, sample.id
        LIMIT :limit
    )
    SELECT campaign.id AS campaign_id, campaign.name AS campaign, cell.ordinal AS cell, cell.stage, cell.variant,
           run.id AS run_id, run.repeat, attempt.ordinal AS attempt, run.state, run.validity,
           ARRAY(SELECT DISTINCT flag ->> 'code' FROM jsonb_array_elements(run.flags) AS flag ORDER BY 1) AS flags,
           run.started_at, run.ended_at,
           ARRAY(SELECT name FROM node JOIN cell_node ON node_id = id WHERE cell_id = cell.id ORDER BY name) AS nodes,
           ARRAY(SELECT name FROM target JOIN cell_target ON target_id = id WHERE cell_id = cell.id ORDER BY name)
               AS targets,
           workload.name AS workload, coalesce(newest.workload_revision, workload.revision) AS workload_revision,
           cell.options, series.id AS series_id, series.metric, series.labels, piece.value, series.unit,
           piece.sample_id
    FROM piece
    JOIN cell ON cell.id = piece.cell_id
    JOIN campaign ON campaign.id = cell.campaign_id
    JOIN workload ON workload.id = cell.workload_id
    JOIN run ON run.id = piece.run_id
    JOIN series ON series.id = piece.series_id
    JOIN node_order ON node_order.id = piece.order_id
    JOIN attempt ON attempt.id = node_order.attempt_id
    LEFT JOIN LATERAL (
        SELECT workload_revision FROM reading WHERE order_id = node_order.id ORDER BY ordinal DESC LIMIT 1
    ) AS newest ON true
    ORDER BY piece.ordinal, piece.repeat, piece.sample_id
    """
)


def series_named(session: Session, series_ids: Sequence[int], counted: Collection[int] = ()) -> Sequence[AnyRow]:
    """Return series. The `counted` ones have no `point_count`, because counting reads all points of a series."""
    return session.execute(_NAMED_SERIES, {"ids": list(series_ids), "counted": list(counted)}).all()


_CAMPAIGN_CELLS = text(
    """
    SELECT cell.id, cell.ordinal, cell.stage, cell.variant, workload.name AS workload, cell.options,
           ARRAY(SELECT name FROM node JOIN cell_node ON node_id = id WHERE cell_id = cell.id ORDER BY name)
               AS node_names,
           ARRAY(SELECT name FROM target JOIN cell_target ON target_id = id WHERE cell_id = cell.id ORDER BY name)
               AS target_names,
           ARRAY(SELECT run.id FROM run WHERE run.cell_id = cell.id ORDER BY repeat) AS runs,
           ARRAY(SELECT run.id FROM run
                 WHERE run.cell_id = cell.id AND run.state = 'finished' AND run.validity = 'valid'
                 ORDER BY repeat) AS counted_runs,
           (SELECT to_jsonb(adaptive_cell) || jsonb_build_object(
                'series_id', (SELECT max(series_id) FROM run JOIN run_headline ON run_id = run.id
                              WHERE run.cell_id = cell.id))
            FROM adaptive_cell WHERE cell_id = cell.id) AS adaptive
    FROM cell JOIN workload ON workload.id = cell.workload_id
    WHERE cell.campaign_id = :campaign_id AND cell.id > :after_id
      AND NOT EXISTS (SELECT FROM campaign_stage WHERE campaign_stage.campaign_id = cell.campaign_id
                      AND campaign_stage.ordinal = cell.stage AND does <> 'measure')
    ORDER BY cell.id LIMIT :limit
    """
)


def series_page(
    session: Session, visible: frozenset[int] | None, wanted: SeriesFilter, paging: PageRequest
) -> Slice[AnyRow]:
    values = {**asdict(wanted), "visible": array_of(visible), "before_id": paging.before_id, "limit": paging.limit + 1}
    rows = session.execute(_SERIES_PAGE, values).all()
    return paging.cut(rows, key=lambda row: int(row.id))


def _samples() -> Select[*tuple[Any, ...]]:
    described = (Series.metric, Series.title, Series.unit, Series.better, Series.labels, Series.superseded)
    own = (Sample.id, Sample.run_id, Sample.order_id, Sample.series_id, Sample.target_id, Sample.value)
    statement = select(*own, Target.name.label("target_name"), *described).join(Series, Series.id == Sample.series_id)
    return statement.outerjoin(Target, Target.id == Sample.target_id)


def samples_page(
    session: Session,
    visible: frozenset[int] | None,
    paging: PageRequest,
    *,
    run_id: int | None,
    series_id: int | None,
) -> Slice[AnyRow]:
    statement = _samples().where(Sample.id < paging.before_id)
    statement = statement.where(*in_clusters(Series.cluster_id, visible))
    if run_id is not None:
        statement = statement.where(Sample.run_id == run_id)
    if series_id is not None:
        statement = statement.where(Sample.series_id == series_id)
    rows = session.execute(statement.order_by(Sample.id.desc()).limit(paging.limit + 1)).all()
    return paging.cut(rows, key=lambda row: int(row.id))


def run_samples(session: Session, run_id: int) -> Sequence[AnyRow]:
    return session.execute(_samples().where(Sample.run_id == run_id).order_by(Sample.id)).all()


def environment(session: Session, sha256: str | None) -> Json:
    """Return the facts; empty while unknown."""
    return session.scalar(select(Environment.facts).where(Environment.sha256 == sha256)) or {}


def observations(session: Session, run_id: int) -> Sequence[Row[int, str, Mapping[str, Any]]]:
    statement = (
        select(Order.id.label("order_id"), Node.name.label("node_name"), Environment.facts.label("environment"))
        .join(Node, Node.id == Order.node_id)
        .join(Environment, Environment.sha256 == Order.environment_sha256)
        .where(Order.run_id == run_id, Order.role == OrderRole.OBSERVE)
    )
    return session.execute(statement.order_by(Order.id)).all()


def run_counters(session: Session, run_id: int) -> Sequence[str]:
    statement = select(CurveChunk.counter).join(Order, Order.id == CurveChunk.order_id).where(Order.run_id == run_id)
    return session.scalars(statement.distinct().order_by(CurveChunk.counter)).all()


def run_curves(session: Session, run_id: int, counters: Sequence[str] | None) -> Iterator[tuple[int, str, Stretch]]:
    """Yield order, counter and stretch, by counter in time order; `counters` None: all."""
    columns = (CurveChunk.order_id, CurveChunk.counter, CurveChunk.started_at, CurveChunk.step_seconds)
    statement = (
        select(*columns, CurveChunk.values, CurveChunk.lows, CurveChunk.highs)
        .join(Order, Order.id == CurveChunk.order_id)
        .where(Order.run_id == run_id)
        .order_by(CurveChunk.order_id, CurveChunk.counter, CurveChunk.started_at)
    )
    if counters is not None:
        statement = statement.where(CurveChunk.counter == any_text_of(counters))
    # Streamed, because a run has up to millions of values.
    for row in session.execute(statement, execution_options={"yield_per": _ROWS_AT_ONCE}):
        ranges = (row.lows and tuple(row.lows), row.highs and tuple(row.highs))
        yield row.order_id, row.counter, Stretch(row.started_at, row.step_seconds, tuple(row.values), *ranges)


def curve_sizes(session: Session, run_id: int, counters: Sequence[str] | None) -> Sequence[int]:
    statement = (
        select(func.count())
        .select_from(CurveChunk)
        .join(Order, Order.id == CurveChunk.order_id)
        .where(Order.run_id == run_id)
    )
    if counters is not None:
        statement = statement.where(CurveChunk.counter == any_text_of(counters))
    return session.scalars(statement.group_by(CurveChunk.order_id, CurveChunk.counter)).all()


def run_artefacts(session: Session, run_id: int) -> Sequence[Artefact]:
    return session.scalars(
        select(Artefact).where(Artefact.run_id == run_id).order_by(Artefact.order_id, Artefact.name)
    ).all()


def artefact(session: Session, artefact_id: int) -> Row[*tuple[Any, ...]] | None:
    statement: Select[*tuple[Any, ...]] = select(Artefact, Run.cluster_id).join(Run, Run.id == Artefact.run_id)
    return session.execute(statement.where(Artefact.id == artefact_id)).one_or_none()


def blob_piece(session: Session, sha256: str, start: int, size_bytes: int) -> bytes | None:
    piece = func.substring(Blob.content, start + 1, size_bytes, type_=LargeBinary)
    return session.scalars(select(piece).where(Blob.sha256 == sha256)).one_or_none()


def cell_points(session: Session, cell_ids: Sequence[int]) -> Result[Any]:
    """Stream points as rows of `_POINT`, in a stable order."""
    statement = (
        select(*_POINT)
        .join(Series, Series.id == Point.series_id)
        .where(Point.cell_id == any_of(cell_ids))
        .order_by(Point.cell_id, Series.id)
    )
    return session.execute(statement)


def announced_metrics(session: Session, cell_ids: Iterable[int]) -> Mapping[int, Sequence[Mapping[str, Any]]]:
    cells = dict(session.execute(select(Cell.id, Cell.workload_id).where(Cell.id == any_of(list(cell_ids)))).all())
    metrics = select(Workload.id, Workload.metrics).where(Workload.id == any_of(set(cells.values())))
    by_workload: dict[int, Sequence[Mapping[str, Any]]] = dict(session.execute(metrics).all())
    return {cell_id: by_workload[workload_id] for cell_id, workload_id in cells.items()}


def metrics_of_run(session: Session, run_id: int) -> Sequence[Mapping[str, Any]]:
    statement = select(Workload.metrics).join(Cell, Cell.workload_id == Workload.id).join(Run, Run.cell_id == Cell.id)
    metrics: Sequence[Mapping[str, Any]] = session.scalars(statement.where(Run.id == run_id)).one()
    return metrics


def campaign_cells(session: Session, campaign_id: int, paging: PageRequest) -> Slice[AnyRow]:
    rows = session.execute(
        _CAMPAIGN_CELLS, {"campaign_id": campaign_id, "after_id": paging.after_id, "limit": paging.limit + 1}
    ).all()
    return paging.cut(rows, key=lambda row: int(row.id))


def campaign_names(session: Session, campaign_id: int) -> tuple[list[str], list[str]]:
    named = {"campaign_id": campaign_id}
    return list(session.scalars(_OPTION_NAMES, named)), list(session.scalars(_LABEL_NAMES, named))


def campaign_samples(session: Session, campaign_id: int, after: AnyRow | None, limit: int) -> Result[Any]:
    """Return the samples after the row `after`, by cell and repeat."""
    place = {"cell": 0, "repeat": 0, "sample_id": 0}
    if after is not None:
        place = {"cell": after.cell, "repeat": after.repeat, "sample_id": after.sample_id}
    return session.execute(_CAMPAIGN_SAMPLES, {"campaign_id": campaign_id, **place, "limit": limit})
