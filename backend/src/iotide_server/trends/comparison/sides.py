"""Many sides beside each other: file systems, clusters or options of campaigns, or cells that were named."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import reading as campaigns
from iotide_server.kit.errors import ErrorKind
from iotide_server.kit.pagination import PageRequest
from iotide_server.results.figures import measurements
from iotide_server.results.figures.judging import judged_together, judgement
from iotide_server.results.figures.measurements import MeasureChoice
from iotide_server.results.schemas import CampaignMetric, MeasuredCell, Measurement
from iotide_server.statistics.comparison import compare
from iotide_server.statistics.modes import two_modes
from iotide_server.statistics.summary import ENOUGH_RUNS
from iotide_server.trends.comparison import repository as sides_repository
from iotide_server.trends.comparison import siding
from iotide_server.trends.comparison.campaigns import MOST_CELLS, stand_for_runs
from iotide_server.trends.comparison.repository import AnyRow
from iotide_server.trends.comparison.schemas import TwoModes
from iotide_server.trends.comparison.sides_schemas import (
    MOST_ROWS,
    MOST_SIDES,
    SideNumbers,
    SideOfRow,
    SidesChoice,
    SidesComparison,
    SidesDifference,
    SidesMetric,
    SidesRow,
    SideVerdict,
)
from iotide_server.trends.comparison.siding import SideCell

_Key = tuple[str, str | None, frozenset[tuple[str, object]]]
"""Metric, target and labels."""

SIDES_WANTED = ErrorKind(422, "sides_wanted", field="campaign", shows="").says(
    "campaign: name campaigns or cells, and not both", "give campaign=12, or two cells"
)
DIMENSION_UNKNOWN = ErrorKind(422, "dimension_unknown", field="by").says(
    "by: these cells do not vary in {by}", "{remedy}"
)
SIDE_CELL_NOT_FOUND = ErrorKind(404, "cell_not_found", field="cell", shows="cell_id").says("there is no cell {cell_id}")


@dataclass(frozen=True, slots=True)
class _Found:
    """A cell with its numbers and where it belongs."""

    side: SideCell
    cell: MeasuredCell
    campaign: AnyRow
    measured: dict[_Key, Measurement]


@dataclass(frozen=True, slots=True)
class _Comparison:
    by: str
    sides: Sequence[str]
    against: int
    metrics: Mapping[tuple[str, str], CampaignMetric]


def compare_sides(session: Session, principal: Principal, wanted: SidesChoice) -> SidesComparison:
    """Compare what the cells of campaigns differ in, or cells that are named.

    Raises:
        SIDES_WANTED, DIMENSION_UNKNOWN: it is not clear what is compared.
        CAMPAIGN_NOT_FOUND, SIDE_CELL_NOT_FOUND: there is none that the caller may see.
    """
    if bool(wanted.campaign) == bool(wanted.cell):
        raise SIDES_WANTED()
    campaign_ids = _campaign_ids(session, principal, wanted)
    metrics = {
        (metric.workload, metric.metric): metric
        for campaign_id in campaign_ids
        for metric in measurements.campaign_measures(session, campaign_id).metrics
    }
    found = _found(session, campaign_ids, list(dict.fromkeys(metric.metric for metric in metrics.values())))
    if wanted.cell:
        found = {cell_id: found[cell_id] for cell_id in dict.fromkeys(wanted.cell) if cell_id in found}
    cells = [one.side for one in found.values()]
    known = siding.dimensions(cells)
    by = siding.CELL if wanted.cell else wanted.by or next(iter(known), None)
    if by is None or not found:
        return SidesComparison(by=None, dimensions=[], sides=[], against=0, rows=[], sides_left_out=[], rows_left_out=0)
    if by not in known and by != siding.CELL:
        remedy = f"choose one of {', '.join(known)}" if known else "these cells are all alike"
        raise DIMENSION_UNKNOWN(by=by, remedy=remedy)
    return _compared(found, known, by, wanted.against, metrics)


def _campaign_ids(session: Session, principal: Principal, wanted: SidesChoice) -> list[int]:
    if wanted.cell is None:
        for campaign_id in wanted.campaign or ():
            campaigns.visible_campaign(session, principal, campaign_id)
        return list(dict.fromkeys(wanted.campaign or ()))
    rows = sides_repository.campaigns_of_cells(session, wanted.cell)
    for cell_id in wanted.cell:
        missing = SIDE_CELL_NOT_FOUND(cell_id=cell_id)
        if cell_id not in rows:
            raise missing
        principal.require(Role.VIEWER, rows[cell_id].cluster_id, missing)
    return list(dict.fromkeys(rows[cell_id].campaign_id for cell_id in wanted.cell))


def _found(session: Session, campaign_ids: Sequence[int], metrics: Sequence[str]) -> dict[int, _Found]:
    """The cells of the campaigns by id, in the order of their plans."""
    names = sides_repository.campaign_names(session, campaign_ids)
    found: dict[int, _Found] = {}
    for campaign_id in campaign_ids:
        for metric in metrics:
            choice = MeasureChoice(metric=metric)
            for cell in measurements.measured_cells(session, campaign_id, choice, PageRequest(MOST_CELLS, None)).items:
                if cell.id not in found:
                    found[cell.id] = _Found(_side_cell(cell, names[campaign_id]), cell, names[campaign_id], {})
                for measured in cell.measurements:
                    key = metric, measured.target_name, frozenset(measured.labels.items())
                    found[cell.id].measured[key] = measured
    return found


def _side_cell(cell: MeasuredCell, campaign: AnyRow) -> SideCell:
    """The name of what is absent is left out, so that it is no side."""
    places = {
        "workload": cell.workload,
        "campaign": f"{campaign.name} ({campaign.id})",
        "cluster": campaign.cluster_name,
        "node": " + ".join(cell.node_names),
        "node_count": len(cell.node_names),
        "target": " + ".join(cell.target_names),
        "variant": cell.variant,
    }
    options = {f"{siding.OPTION}{name}": value for name, value in cell.options.items()}
    return SideCell(cell.id, campaign.id, {name: value for name, value in (places | options).items() if value != ""})


def _compared(
    found: Mapping[int, _Found],
    known: list[str],
    by: str,
    against: int,
    metrics: Mapping[tuple[str, str], CampaignMetric],
) -> SidesComparison:
    cells = [one.side for one in found.values()]
    values = siding.sides(cells, by)
    shown = values[:MOST_SIDES]
    place = min(against, len(shown) - 1)
    comparison = _Comparison(by, [siding.side_key(value) for value in shown], place, metrics)
    sided = [row for row in siding.rows(cells, by) if sum(side in row for side in comparison.sides) > 1]
    rows = [_row(found, comparison, row) for row in sided[:MOST_ROWS]]
    return SidesComparison(
        by=by,
        dimensions=known,
        sides=shown,
        against=place,
        rows=with_discoveries(rows),
        sides_left_out=values[MOST_SIDES:],
        rows_left_out=max(0, len(sided) - MOST_ROWS),
    )


def _row(found: Mapping[int, _Found], comparison: _Comparison, row: Mapping[str, SideCell]) -> SidesRow:
    cells = [row.get(side) for side in comparison.sides]
    present = [cell for cell in cells if cell is not None]
    baseline = cells[comparison.against]
    of_cells = [None if cell is None else found[cell.id] for cell in cells]
    first = found[present[0].id].cell
    return SidesRow(
        workload=first.workload,
        options={name: value for name, value in first.options.items() if f"{siding.OPTION}{name}" != comparison.by},
        cells=[None if one is None else _shown(one, baseline, comparison.by) for one in of_cells],
        differences=[
            SidesDifference(name=name, values=[None if cell is None else cell.parts.get(name) for cell in cells])
            for name in siding.differences(present, comparison.by)
            if name not in {"node_count", "campaign"}
        ],
        metrics=list(_metrics(of_cells, comparison)),
    )


def _shown(one: _Found, baseline: SideCell | None, by: str) -> SideOfRow:
    return SideOfRow(
        campaign_id=one.campaign.id,
        campaign_name=one.campaign.name,
        cluster_name=one.campaign.cluster_name,
        cell_id=one.cell.id,
        ordinal=one.cell.ordinal,
        node_names=one.cell.node_names,
        target_names=one.cell.target_names,
        variant=one.cell.variant,
        is_alike=baseline is None or siding.ran_the_same(baseline, one.side, by),
    )


def _metrics(cells: Sequence[_Found | None], comparison: _Comparison) -> Iterator[SidesMetric]:
    known = {key: measured.labels for one in cells if one is not None for key, measured in one.measured.items()}
    for key, labels in known.items():
        numbers = [None if one is None else one.measured.get(key) for one in cells]
        if sum(of_side is not None for of_side in numbers) < 2:  # noqa: PLR2004 - nothing to compare it with
            continue
        workload = next(one.cell.workload for one in cells if one is not None and key in one.measured)
        metric = comparison.metrics[workload, key[0]]
        baseline = numbers[comparison.against]
        yield SidesMetric(
            metric=metric.metric,
            title=metric.title,
            unit=metric.unit,
            better=metric.better,
            labels=labels,
            is_primary=metric.is_primary,
            target_name=key[1],
            numbers=[None if of_side is None else side_numbers(of_side) for of_side in numbers],
            verdicts=[
                None
                if baseline is None or of_side is None or side == comparison.against
                else side_verdict(baseline.values, of_side.values)
                for side, of_side in enumerate(numbers)
            ],
        )


def side_numbers(measured: Measurement) -> SideNumbers:
    """What is shown of a side by itself."""
    modes = two_modes(measured.values)
    return SideNumbers(
        n=measured.n,
        median=measured.median,
        values=measured.values,
        run_ids=measured.run_ids,
        flags=measured.flags,
        modes=None if modes is None else TwoModes.model_validate(modes),
    )


def side_verdict(baseline: Sequence[float], values: Sequence[float]) -> SideVerdict:
    """A side in terms of the baseline; whether it is a discovery is known once all are there."""
    found = compare(baseline, values)
    words = {"words": found.words.removeprefix("B ")}
    return SideVerdict(runs_missing=max(0, ENOUGH_RUNS - found.run_count), **judgement(found) | words)


def with_discoveries(rows: Sequence[SidesRow]) -> list[SidesRow]:
    """Return the same rows, each verdict on numbers that stand for whole runs judged among all of these."""
    judged_as = [
        (verdict, is_whole)
        for row in rows
        for metric, is_whole in zip(row.metrics, stand_for_runs(row.metrics), strict=True)
        for verdict in metric.verdicts
        if verdict is not None
    ]
    found = iter(judged_together([verdict for verdict, _ in judged_as], [is_whole for _, is_whole in judged_as]))

    def judged(metric: SidesMetric) -> SidesMetric:
        shown = [None if verdict is None else next(found) for verdict in metric.verdicts]
        return metric.model_copy(update={"verdicts": shown})

    return [row.model_copy(update={"metrics": [judged(metric) for metric in row.metrics]}) for row in rows]
