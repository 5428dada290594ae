"""Differences that a planned campaign can show, from the scatter of earlier runs."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy.orm import Session

from iotide_server.campaigns.planned import PlannedBlock, PlannedCampaign
from iotide_server.results.forecast.past import RepeatedSeries, repeated_series
from iotide_server.results.forecast.power_schemas import PowerOutput, PowerRow, ScatterSource, WorkloadPower
from iotide_server.statistics.adaptive import LOOKS
from iotide_server.workloads.primary import of_whole_runs, primary_metrics
from iotide_wire.power import (
    FEWEST_REPEATS,
    USUAL_SCATTERS,
    pooled_scatter,
    repeats_needed,
    smallest_difference,
)


def forecast_power(session: Session, planned: PlannedCampaign, digests: Mapping[str, Collection[str]]) -> PowerOutput:
    """Return what two such campaigns can show when they are compared.

    Args:
        digests: options of earlier cells that the plan measures again, by workload.
    """
    blocks: defaultdict[str, list[PlannedBlock]] = defaultdict(list)
    for block in planned.blocks:
        blocks[block.option_sets.workload.name].append(block)
    known = {name: _known(session, planned.cluster.id, own, digests[name]) for name, own in blocks.items()}
    numbers = sum(
        block.cell_count * (_numbers_of_cell(known[name][1]) or _announced_numbers(block))
        for name, own in blocks.items()
        for block in own
    )
    repeats = planned.plan.repeats if planned.plan.adaptive is None else LOOKS[0]
    workloads = [_of_workload(name, *known[name], repeats, numbers) for name in blocks]
    is_fixed = planned.plan.adaptive is None
    recommended = _recommended(workloads, numbers) if is_fixed else None
    return PowerOutput(repeats=repeats, numbers=numbers, repeats_recommended=recommended, workloads=workloads)


def _known(
    session: Session, cluster_id: int, blocks: Sequence[PlannedBlock], digests: Collection[str]
) -> tuple[ScatterSource | None, list[RepeatedSeries]]:
    """Return earlier series of the same configurations, else of the same workload in the cluster."""
    name, metrics = blocks[0].option_sets.workload.name, _primary(blocks)
    target_ids = {place.target.target.id for block in blocks for place in block.places}
    measured = repeated_series(session, cluster_id, name, metrics, (digests, target_ids)) if digests else []
    if measured:
        return "configurations", _of_whole_runs(measured, metrics)
    measured = repeated_series(session, cluster_id, name, metrics, None)
    return ("workload" if measured else None), _of_whole_runs(measured, metrics)


def _primary(blocks: Sequence[PlannedBlock]) -> frozenset[str]:
    return frozenset[str]().union(*(primary_metrics(block.option_sets.workload.metrics) for block in blocks))


def _of_whole_runs(measured: Sequence[RepeatedSeries], metrics: Collection[str]) -> list[RepeatedSeries]:
    by_configuration: defaultdict[tuple[object, ...], list[RepeatedSeries]] = defaultdict(list)
    for one in measured:
        by_configuration[one.configuration].append(one)
    return [
        whole
        for own in by_configuration.values()
        for whole in of_whole_runs([(one.metric, one.labels, one) for one in own], metrics)
    ]


def _numbers_of_cell(measured: Sequence[RepeatedSeries]) -> int:
    counts: defaultdict[tuple[object, ...], int] = defaultdict(int)
    for one in measured:
        counts[one.configuration] += 1
    return max(counts.values(), default=0)


def _announced_numbers(block: PlannedBlock) -> int:
    metrics = block.option_sets.workload.metrics
    announced = [(str(metric["name"]), metric["labels"], metric) for metric in metrics]
    return len(of_whole_runs(announced, primary_metrics(metrics)))


def _of_workload(
    name: str, source: ScatterSource | None, measured: Sequence[RepeatedSeries], repeats: int, numbers: int
) -> WorkloadPower:
    points = [point for one in measured for point in one.points]
    scatter = pooled_scatter(points)
    rows = USUAL_SCATTERS if scatter is None else (scatter,)
    return WorkloadPower(
        workload=name,
        scatter_source=source,
        scatter_runs=sum(point.runs for point in points),
        rows=[_row(one, repeats, numbers) for one in rows],
    )


def _row(scatter_ratio: float, repeats: int, numbers: int) -> PowerRow:
    difference = smallest_difference(scatter_ratio, repeats)
    return PowerRow(
        scatter_ratio=scatter_ratio,
        difference_ratio=difference,
        shared_difference_ratio=smallest_difference(scatter_ratio, repeats, numbers),
        repeats_needed=None if difference is None else repeats_needed(difference, scatter_ratio, numbers),
    )


def _recommended(workloads: Sequence[WorkloadPower], numbers: int) -> int | None:
    """Return the fewest repeats that show among all numbers what four repeats show of one; None if more than 1000.

    An unknown scatter counts as ordinary.
    """
    scatters = [own.rows[len(own.rows) // 2].scatter_ratio for own in workloads]
    needed = [_needed_for_all(scatter, numbers) for scatter in scatters]
    known = [count for count in needed if count is not None]
    return max(known, default=None) if len(known) == len(needed) else None


def _needed_for_all(scatter_ratio: float, numbers: int) -> int | None:
    alone = smallest_difference(scatter_ratio, FEWEST_REPEATS)
    return None if alone is None else repeats_needed(alone, scatter_ratio, numbers)
