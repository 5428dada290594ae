"""The engine of comparisons: it reads cells, and says of rows of them what each side's numbers allow.

A question gives the rows, one cell a side, and the side that is the baseline.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.kit.pagination import PageRequest
from iotide_server.results.figures import measurements
from iotide_server.results.figures.judging import judged_together, judgement
from iotide_server.results.figures.measurements import MeasureChoice
from iotide_server.results.schemas import CampaignMetric, MeasuredCell, Measurement
from iotide_server.statistics.comparison import compare
from iotide_server.statistics.modes import two_modes
from iotide_server.statistics.summary import ENOUGH_RUNS
from iotide_server.trends.comparison import repository
from iotide_server.trends.comparison.matching import OPTION, SideCell, differences, ran_the_same
from iotide_server.trends.comparison.repository import AnyRow
from iotide_server.trends.comparison.schemas import (
    SideNumbers,
    SideOfRow,
    SidesDifference,
    SidesMetric,
    SidesRow,
    SideVerdict,
)
from iotide_server.workloads.primary import of_whole_runs

_MOST_CELLS: Final = 10_000
"""No plan has more."""
_NOT_SHOWN: Final = frozenset({"node_count", "campaign"})
"""Differences that the cells themselves show."""


@dataclass(frozen=True, slots=True)
class ReadCell(SideCell):
    """A cell as it is measured, its campaign's names, and its numbers by metric, target and labels."""

    cell: MeasuredCell
    campaign: AnyRow
    numbers: dict[tuple[str, str | None, frozenset[tuple[str, object]]], Measurement]


class Comparison:
    """The measured cells of campaigns, by id and in the order of their plans."""

    def __init__(self, session: Session, campaign_ids: Iterable[int]) -> None:
        """Read them."""
        ids = list(dict.fromkeys(campaign_ids))
        self._metrics = {
            (metric.workload, metric.metric): metric
            for campaign_id in ids
            for metric in measurements.campaign_measures(session, campaign_id).metrics
        }
        self.cells: dict[int, ReadCell] = {}
        names = repository.campaign_names(session, ids)
        for campaign_id, metric in product(ids, dict.fromkeys(metric for _, metric in self._metrics)):
            choice = MeasureChoice(metric=metric)
            for cell in measurements.measured_cells(session, campaign_id, choice, PageRequest(_MOST_CELLS, None)).items:
                if cell.id not in self.cells:
                    self.cells[cell.id] = read_cell(cell, names[campaign_id])
                for found in cell.measurements:
                    self.cells[cell.id].numbers[metric, found.target_name, frozenset(found.labels.items())] = found

    def rows(self, rows: Iterable[Sequence[ReadCell | None]], by: str, against: int) -> list[SidesRow]:
        """Return what is said of each row, with discoveries among all of them."""
        return with_discoveries([self._row(row, by, against) for row in rows])

    def _row(self, row: Sequence[ReadCell | None], by: str, against: int) -> SidesRow:
        baseline, present = row[against], [cell for cell in row if cell is not None]
        first = present[0].cell
        unlike = [name for name in differences(present, by) if name not in _NOT_SHOWN]
        return SidesRow(
            workload=first.workload,
            options={name: value for name, value in first.options.items() if f"{OPTION}{name}" != by},
            cells=[cell and _side_of_row(cell, baseline, by) for cell in row],
            differences=[
                SidesDifference(name=name, values=[cell and cell.parts.get(name) for cell in row]) for name in unlike
            ],
            metrics=list(self._numbers(row, present, against)),
        )

    def _numbers(
        self, row: Sequence[ReadCell | None], present: Sequence[ReadCell], against: int
    ) -> Iterator[SidesMetric]:
        for key in dict.fromkeys(key for cell in present for key in cell.numbers):
            workloads = [cell.cell.workload for cell in present if key in cell.numbers]
            if len(workloads) > 1:
                numbers = [None if cell is None else cell.numbers.get(key) for cell in row]
                yield compared_number(self._metrics[workloads[0], key[0]], numbers, against)


def read_cell(cell: MeasuredCell, campaign: AnyRow) -> ReadCell:
    """Return a cell without its numbers; the name of what is absent is left out, so that it is no side."""
    parts = {
        "workload": cell.workload,
        "campaign": f"{campaign.name} ({campaign.id})",
        "cluster": campaign.cluster_name,
        "node": " + ".join(cell.node_names),
        "node_count": len(cell.node_names),
        "target": " + ".join(cell.target_names),
        "variant": cell.variant,
        **{f"{OPTION}{name}": value for name, value in cell.options.items()},
    }
    named = {name: value for name, value in parts.items() if value != ""}
    return ReadCell(cell.id, campaign.id, named, cell, campaign, {})


def _side_of_row(one: ReadCell, baseline: SideCell | None, by: str) -> SideOfRow:
    return SideOfRow.of_row(
        one.cell,
        campaign_id=one.campaign_id,
        campaign_name=one.campaign.name,
        cluster_name=one.campaign.cluster_name,
        cell_id=one.id,
        is_alike=baseline is None or ran_the_same(baseline, one, by),
    )


def compared_number(metric: CampaignMetric, sides: Sequence[Measurement | None], against: int = 0) -> SidesMetric:
    """Return one number of each side; whether it is a discovery is known once all are there."""
    first, baseline = next(filter(None, sides)), sides[against]
    return SidesMetric.of_row(
        metric,
        labels=first.labels,
        target_name=first.target_name,
        numbers=[one and SideNumbers.of_row(one, modes=two_modes(one.values)) for one in sides],
        verdicts=[
            one and baseline and _verdict(baseline.values, one.values) if side != against else None
            for side, one in enumerate(sides)
        ],
    )


def _verdict(baseline: Sequence[float], values: Sequence[float]) -> SideVerdict:
    found = compare(baseline, values)
    words = {"words": found.words.removeprefix("B ")}
    return SideVerdict(runs_missing=max(0, ENOUGH_RUNS - found.run_count), **judgement(found) | words)


def with_discoveries(rows: Sequence[SidesRow]) -> list[SidesRow]:
    """Return the same rows, each verdict on numbers that stand for whole runs judged among all of these."""
    judged_as = [
        (verdict, is_whole)
        for row in rows
        for metric, is_whole in zip(row.metrics, _stand_for_runs(row.metrics), strict=True)
        for verdict in metric.verdicts
        if verdict is not None
    ]
    found = iter(judged_together([verdict for verdict, _ in judged_as], [is_whole for _, is_whole in judged_as]))

    def judged(metric: SidesMetric) -> SidesMetric:
        return metric.model_copy(update={"verdicts": [one and next(found) for one in metric.verdicts]})

    return [row.model_copy(update={"metrics": [judged(metric) for metric in row.metrics]}) for row in rows]


def _stand_for_runs(metrics: Sequence[SidesMetric]) -> list[bool]:
    measured = [(metric.metric, metric.labels, number) for number, metric in enumerate(metrics)]
    whole = set(of_whole_runs(measured, {metric.metric for metric in metrics if metric.is_primary}))
    return [number in whole for number in range(len(metrics))]
