"""One campaign against another, cell by cell: what is unlike about them, and by what ratio they differ."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import reading as campaigns
from iotide_server.kit.errors import ErrorKind
from iotide_server.kit.pagination import PageRequest
from iotide_server.results.figures import measurements
from iotide_server.results.figures.judging import judged_together, judgement
from iotide_server.results.figures.measurements import MeasureChoice
from iotide_server.results.schemas import CampaignMetric, MeasuredCell, Measurement
from iotide_server.statistics.comparison import compare
from iotide_server.trends.comparison.pairing import pair_cells
from iotide_server.trends.comparison.schemas import (
    CampaignComparison,
    ComparedCell,
    ComparedMetric,
    ComparedPair,
    Difference,
    Side,
    TwoModes,
)
from iotide_server.trends.comparison.sides_schemas import SidesMetric
from iotide_server.workloads.primary import of_whole_runs

MOST_CELLS: Final = 10_000
"""No plan has more."""
_MOST_NAMED: Final = 20

_Measured = Mapping[tuple[str, str | None, frozenset[tuple[str, object]]], Measurement]
"""By metric, target and labels."""

COMPARED_CELL_NOT_FOUND = ErrorKind(404, "cell_not_found", field="{side}_cell", shows="ordinal").says(
    "campaign {campaign_id} has no cell {ordinal}", "it has {known}"
)
NOTHING_ALIKE = ErrorKind(422, "nothing_alike", field="a").says(
    "campaigns {a} and {b} have no cells that clearly belong together", "name a cell of each by a_cell and b_cell"
)


def compare_campaigns(session: Session, principal: Principal, a: Side, b: Side) -> CampaignComparison:
    """Compare the cells of two campaigns that belong together, or the two that are named.

    Raises:
        CAMPAIGN_NOT_FOUND: there is none that the caller may see.
        COMPARED_CELL_NOT_FOUND: a campaign has no cell of that number.
        NOTHING_ALIKE: it is not clear which cells belong together.
    """
    for side in (a, b):
        campaigns.visible_campaign(session, principal, side.campaign_id)
    metrics = {
        (metric.workload, metric.metric): metric
        for side in (a, b)
        for metric in measurements.campaign_measures(session, side.campaign_id).metrics
    }
    names = list(dict.fromkeys(metric.metric for metric in metrics.values()))
    cells_a, measured_a = _cells(session, a, names)
    cells_b, measured_b = _cells(session, b, names)
    pairs = pair_cells(cells_a, cells_b)
    if not pairs:
        raise NOTHING_ALIKE(a=a.campaign_id, b=b.campaign_id)
    compared = [
        _pair(a, b, pair, list(_compared(metrics, pair, measured_a[pair[0].id], measured_b[pair[1].id])))
        for pair in pairs
    ]
    paired_a, paired_b = ({cell.id for cell in side} for side in zip(*pairs, strict=True))
    return CampaignComparison(
        pairs=with_discoveries(compared),
        only_a=[cell.ordinal for cell in cells_a if cell.id not in paired_a],
        only_b=[cell.ordinal for cell in cells_b if cell.id not in paired_b],
    )


def _cells(session: Session, side: Side, metrics: Sequence[str]) -> tuple[list[MeasuredCell], dict[int, _Measured]]:
    cells: list[MeasuredCell] = []
    measured: dict[int, dict[tuple[str, str | None, frozenset[tuple[str, object]]], Measurement]] = {}
    for metric in metrics:
        choice = MeasureChoice(metric=metric)
        cells = measurements.measured_cells(session, side.campaign_id, choice, PageRequest(MOST_CELLS, None)).items
        for cell in cells:
            of_cell = measured.setdefault(cell.id, {})
            for found in cell.measurements:
                of_cell[metric, found.target_name, frozenset(found.labels.items())] = found
    if side.ordinal is None:
        return cells, dict(measured)
    chosen = [cell for cell in cells if cell.ordinal == side.ordinal]
    if not chosen:
        known = ", ".join(str(cell.ordinal) for cell in cells[:_MOST_NAMED]) or "none"
        raise COMPARED_CELL_NOT_FOUND(side=side.name, campaign_id=side.campaign_id, ordinal=side.ordinal, known=known)
    return chosen, dict(measured)


def _compared(
    metrics: Mapping[tuple[str, str], CampaignMetric],
    pair: tuple[MeasuredCell, MeasuredCell],
    a: _Measured,
    b: _Measured,
) -> Iterator[ComparedMetric]:
    for key in a:
        if key not in b:
            continue
        yield compared_metric(metrics[pair[0].workload, key[0]], a[key], b[key])


def compared_metric(metric: CampaignMetric, of_a: Measurement, of_b: Measurement) -> ComparedMetric:
    """One number of two cells; whether it is a discovery is known once all are there."""
    found = compare(of_a.values, of_b.values)
    return ComparedMetric(
        metric=metric.metric,
        title=metric.title,
        unit=metric.unit,
        better=metric.better,
        labels=of_a.labels,
        target_name=of_a.target_name,
        n_a=of_a.n,
        n_b=of_b.n,
        values_a=of_a.values,
        values_b=of_b.values,
        median_a=of_a.median,
        median_b=of_b.median,
        flags=sorted({*of_a.flags, *of_b.flags}),
        flags_a=of_a.flags,
        flags_b=of_b.flags,
        is_primary=metric.is_primary,
        **judgement(found),
        modes_a=None if found.modes_a is None else TwoModes.model_validate(found.modes_a),
        modes_b=None if found.modes_b is None else TwoModes.model_validate(found.modes_b),
    )


def with_discoveries(pairs: Sequence[ComparedPair]) -> list[ComparedPair]:
    """Return the same pairs, each number that stands for whole runs judged among all of these."""
    family = [is_whole for pair in pairs for is_whole in stand_for_runs(pair.metrics)]
    found = iter(judged_together([metric for pair in pairs for metric in pair.metrics], family))
    return [pair.model_copy(update={"metrics": list(islice(found, len(pair.metrics)))}) for pair in pairs]


def stand_for_runs(metrics: Sequence[ComparedMetric | SidesMetric]) -> list[bool]:
    """Check of each number of two or more cells that it stands for their whole runs."""
    measured = [(metric.metric, metric.labels, number) for number, metric in enumerate(metrics)]
    whole = set(of_whole_runs(measured, {metric.metric for metric in metrics if metric.is_primary}))
    return [number in whole for number in range(len(metrics))]


def _pair(a: Side, b: Side, pair: tuple[MeasuredCell, MeasuredCell], metrics: list[ComparedMetric]) -> ComparedPair:
    of_a, of_b = _described(pair[0]), _described(pair[1])
    differences = [
        Difference(name=name, a=of_a.get(name), b=of_b.get(name))
        for name in dict.fromkeys([*of_a, *of_b])
        if of_a.get(name) != of_b.get(name)
    ]
    is_alike = pair[0].workload == pair[1].workload and pair[0].options == pair[1].options
    return ComparedPair(
        a=ComparedCell.of(a.campaign_id, pair[0]),
        b=ComparedCell.of(b.campaign_id, pair[1]),
        differences=differences,
        is_alike=is_alike and len(pair[0].node_names) == len(pair[1].node_names),
        metrics=metrics,
    )


def _described(cell: MeasuredCell) -> dict[str, Any]:
    """What a cell is, by the names that a person knows."""
    return {
        "workload": cell.workload,
        **{f"options.{name}": value for name, value in cell.options.items()},
        "nodes": ", ".join(cell.node_names),
        "targets": ", ".join(cell.target_names),
        "variant": cell.variant,
    }
