"""Data of a campaign's figures, cell by cell."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from statistics import median
from typing import Annotated, Any, Final

from fastapi import Query
from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.kit.pagination import Page, PageRequest
from iotide_server.results.errors import NOTHING_TO_SHOW
from iotide_server.results.ingest.gangs import node_totals
from iotide_server.results.ingest.keys import Label
from iotide_server.results.queries import AnyRow
from iotide_server.results.schemas import CampaignMeasures, CampaignMetric, MeasuredCell, MeasuredRun, Measurement
from iotide_server.results.values import RunValue, run_values
from iotide_server.statistics.summary import summarize, tier
from iotide_server.workloads.primary import primary_metrics

_RUNS_ASKED_FOR_COUNTERS = 20

_METRICS = text(
    """
    SELECT workload.name AS workload, series.metric, series.unit, series.better,
           (array_agg(series.title ORDER BY series.id DESC))[1] AS title,
           coalesce(max(announced.metric ->> 'description'), '') AS description,
           array_agg(DISTINCT label) FILTER (WHERE label IS NOT NULL) AS labels, min(announced.place) AS place,
           (SELECT newest.metrics FROM workload AS newest WHERE newest.id = max(workload.id)) AS announced
    FROM cell
    JOIN workload ON workload.id = cell.workload_id
    JOIN point ON point.cell_id = cell.id
    JOIN series ON series.id = point.series_id
    LEFT JOIN LATERAL jsonb_object_keys(series.labels) AS label ON true
    LEFT JOIN LATERAL jsonb_array_elements(workload.metrics) WITH ORDINALITY AS announced (metric, place)
           ON announced.metric ->> 'name' = series.metric
    WHERE cell.campaign_id = :campaign_id
    GROUP BY workload.name, series.metric, series.unit, series.better
    ORDER BY min(min(cell.ordinal)) OVER (PARTITION BY workload.name), place, series.metric
    """
)
_COUNTERS = text(
    """
    SELECT DISTINCT counter
    FROM (
        SELECT id FROM run WHERE campaign_id = :campaign_id AND state = 'finished' ORDER BY id DESC LIMIT :runs
    ) AS newest
    JOIN node_order ON node_order.run_id = newest.id
    JOIN curve_chunk ON curve_chunk.order_id = node_order.id
    ORDER BY counter
    """
)
_CELLS = text(
    """
    SELECT cell.id, cell.ordinal, cell.stage, cell.variant, workload.name AS workload, cell.options,
           ARRAY(SELECT name FROM node JOIN cell_node ON node_id = id WHERE cell_id = cell.id ORDER BY name)
               AS node_names,
           (SELECT jsonb_object_agg(id, name) FROM target JOIN cell_target ON target_id = id WHERE cell_id = cell.id)
               AS targets
    FROM cell JOIN workload ON workload.id = cell.workload_id
    WHERE cell.campaign_id = :campaign_id AND cell.id > :after_id
      AND (CAST(:workload AS text) IS NULL OR workload.name = :workload)
      AND NOT EXISTS (SELECT FROM campaign_stage WHERE campaign_stage.campaign_id = cell.campaign_id
                      AND campaign_stage.ordinal = cell.stage AND does <> 'measure')
    ORDER BY cell.id LIMIT :limit
    """
)
_NUMBERS = text(
    """
    SELECT run.cell_id, count(*) AS numbers
    FROM run JOIN sample ON sample.run_id = run.id JOIN series ON series.id = sample.series_id
    WHERE run.cell_id = ANY(:cell_ids) AND series.metric = :metric
    GROUP BY run.cell_id
    """
)
_RUNS = text("SELECT id, cell_id, repeat, started_at FROM run WHERE cell_id = ANY(:cell_ids) ORDER BY cell_id, repeat")
_CURVE_MEANS = text(
    # An observing node samples, by its own clock, from before the run until after it.
    """
    SELECT run.cell_id, run.id AS run_id, CASE WHEN node_order.role = 'observe' THEN node.name END AS observer,
           sum(value * step_seconds) / sum(step_seconds) AS mean
    FROM run
    JOIN attempt ON attempt.run_id = run.id AND attempt.state = 'finished'
    JOIN node_order ON node_order.attempt_id = attempt.id
    JOIN node ON node.id = node_order.node_id
    JOIN curve_chunk ON curve_chunk.order_id = node_order.id
    CROSS JOIN LATERAL unnest(curve_chunk.values) WITH ORDINALITY AS measured (value, place)
    WHERE run.cell_id = ANY(:cell_ids) AND run.state = 'finished' AND run.validity = 'valid'
      AND curve_chunk.counter = :counter
      AND (node_order.role = 'load' OR curve_chunk.started_at + (place - 0.5) * step_seconds * interval '1 s'
           BETWEEN run.started_at AND run.ended_at)
    GROUP BY run.cell_id, run.id, observer
    ORDER BY run.id, observer NULLS FIRST
    """
)
MOST_NUMBERS: Final = 20_000
"""Limit of a page, unless its first cell has more: ten times what a figure shows, and less than a second of work."""
OBSERVER: Final = "observer"  # label of a counter's mean on a node that only observed

_TOTAL: Final = "total_"
_Labels = Mapping[str, Label]


@dataclass(frozen=True, slots=True)
class MeasureChoice:
    """Query parameters of a figure: a metric or a counter."""

    metric: Annotated[str | None, Query(max_length=100, examples=["throughput"])] = None
    counter: Annotated[str | None, Query(max_length=100, examples=["cpu_user_ratio"])] = None
    workload: Annotated[str | None, Query(max_length=100, examples=["dd"])] = None


@dataclass(frozen=True, slots=True)
class _CurveMean:
    labels: _Labels
    run_id: int
    value: float
    target_id: None = None
    flags: frozenset[str] = frozenset()


_Number = RunValue | _CurveMean


def campaign_measures(session: Session, campaign_id: int) -> CampaignMeasures:
    """Return the metrics in the order of the workloads' announcements, and the counters."""
    metrics = session.execute(_METRICS, {"campaign_id": campaign_id})
    counters = session.scalars(_COUNTERS, {"campaign_id": campaign_id, "runs": _RUNS_ASKED_FOR_COUNTERS})
    shown = [
        CampaignMetric.of_row(
            row, labels=sorted(row.labels or ()), is_primary=row.metric in primary_metrics(row.announced)
        )
        for row in metrics
    ]
    return CampaignMeasures(metrics=shown, counters=list(counters))


def measured_cells(
    session: Session, campaign_id: int, wanted: MeasureChoice, paging: PageRequest, *, with_single_writers: bool = False
) -> Page[MeasuredCell]:
    """Return the cells in the order of the matrix, with each valid run's value; may raise NOTHING_TO_SHOW.

    With `with_single_writers`, a total also includes the rates of cells with one writer, which have no total.
    """
    if (wanted.metric is None) == (wanted.counter is None):
        raise NOTHING_TO_SHOW()
    place = {"campaign_id": campaign_id, "after_id": paging.after_id, "limit": paging.limit + 1}
    rows = session.execute(_CELLS, {**place, "workload": wanted.workload}).all()
    found = paging.cut(rows, key=lambda row: int(row.id))
    cell_ids = [row.id for row in found.rows]
    if wanted.counter is None:
        numbers = _metric_numbers(session, cell_ids, wanted.metric)
        if with_single_writers and wanted.metric and wanted.metric.startswith(_TOTAL):
            alone = [cell_id for cell_id in cell_ids if cell_id not in numbers]
            numbers |= _metric_numbers(session, alone, wanted.metric.removeprefix(_TOTAL))
    else:
        numbers = _curve_means(session, cell_ids, wanted.counter)
    runs: dict[int, list[MeasuredRun]] = defaultdict(list)
    for run in session.execute(_RUNS, {"cell_ids": cell_ids}):
        runs[run.cell_id].append(MeasuredRun.model_validate(run))
    return found.page(lambda row: _measured_cell(row, runs[row.id], numbers.pop(row.id, ())))


def page_of_cells(session: Session, campaign_id: int, wanted: MeasureChoice, paging: PageRequest) -> Page[MeasuredCell]:
    """Limit `measured_cells` to `MOST_NUMBERS` values, but at least one cell."""
    place = {"campaign_id": campaign_id, "after_id": paging.after_id, "limit": paging.limit}
    cell_ids = [row.id for row in session.execute(_CELLS, {**place, "workload": wanted.workload})]
    counts = session.execute(_NUMBERS, {"cell_ids": cell_ids, "metric": wanted.metric})
    of_cell = {row.cell_id: row.numbers for row in counts}
    together = accumulate(of_cell.get(cell_id, 0) for cell_id in cell_ids)
    limit = max(1, sum(numbers <= MOST_NUMBERS for numbers in together))
    return measured_cells(session, campaign_id, wanted, replace(paging, limit=limit), with_single_writers=True)


def _metric_numbers(session: Session, cell_ids: Sequence[int], metric: str | None) -> dict[int, list[_Number]]:
    numbers: dict[int, list[_Number]] = defaultdict(list)
    values = list(run_values(session, cell_ids, metric))
    for value in chain(values, node_totals(session, values)):
        numbers[value.cell_id].append(value)
    return numbers


def _curve_means(session: Session, cell_ids: Sequence[int], counter: str) -> dict[int, list[_Number]]:
    numbers: dict[int, list[_Number]] = defaultdict(list)
    for row in session.execute(_CURVE_MEANS, {"cell_ids": cell_ids, "counter": counter}):
        labels = {} if row.observer is None else {OBSERVER: row.observer}
        numbers[row.cell_id].append(_CurveMean(labels, row.run_id, row.mean))
    return numbers


def _measured_cell(cell: AnyRow, runs: list[MeasuredRun], numbers: Iterable[_Number]) -> MeasuredCell:
    alike: dict[tuple[int | None, frozenset[tuple[str, Label]]], list[_Number]] = defaultdict(list)
    loads_several = len(cell.targets) > 1
    for number in numbers:
        target_id = number.target_id if loads_several else None
        alike[target_id, frozenset(number.labels.items())].append(number)
    return MeasuredCell.of_row(
        cell,
        target_names=sorted(cell.targets.values()),
        runs=runs,
        measurements=[_measurement(of_key[0], group, cell.targets) for of_key, group in alike.items()],
    )


def _measurement(target_id: int | None, numbers: Sequence[_Number], target_names: Mapping[str, str]) -> Measurement:
    by_run: dict[int, list[float]] = defaultdict(list)
    for number in numbers:
        by_run[number.run_id].append(number.value)
    return Measurement(
        labels=dict(numbers[0].labels),
        target_name=None if target_id is None else target_names[str(target_id)],
        **_summary({run_id: median(own) for run_id, own in by_run.items()}),
        flags=sorted(frozenset().union(*(number.flags for number in numbers))),
    )


def joined(parts: Sequence[Measurement]) -> Measurement:
    """Return one number of several cells as that of all their runs."""
    values = {run_id: value for part in parts for run_id, value in zip(part.run_ids, part.values, strict=True)}
    flags = sorted({flag for part in parts for flag in part.flags})
    return replace(parts[0], **_summary(values), flags=flags)


def _summary(values: Mapping[int, float]) -> dict[str, Any]:
    """Return the fields of a `Measurement` that depend on the values of its runs."""
    summary = summarize(list(values.values()))
    return {
        "n": summary.run_count,
        "median": summary.median,
        "low": summary.low,
        "high": summary.high,
        "tier": tier(summary.run_count),
        "run_ids": list(values),
        "values": list(values.values()),
    }
