"""The engine of comparisons: it reads cells, and says of rows of them what each side's numbers allow.

A question gives the rows, one cell a side, and the side that is the baseline.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.kit.pagination import PageRequest
from iotide_server.results.figures import measurements
from iotide_server.results.figures.judging import judgement
from iotide_server.results.figures.measurements import MeasureChoice
from iotide_server.results.schemas import CampaignMetric, MeasuredCell, Measurement
from iotide_server.statistics.comparison import Comparison, compare, discoveries, two_modes
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

_MOST_CELLS: Final = 10_000  # no plan has more
_NOT_SHOWN: Final = frozenset({"node_count", "campaign"})  # differences that the cells themselves show


@dataclass(frozen=True, slots=True)
class ReadCell(SideCell):
    """A cell as it is measured, its campaign's names, and its numbers by metric, target and labels."""

    cell: MeasuredCell
    campaign: AnyRow
    numbers: dict[tuple[str, str | None, frozenset[tuple[str, object]]], Measurement]


class ComparedNumber:
    """One number of every side of a row, and the place of the baseline."""

    def __init__(self, metric: CampaignMetric, sides: Sequence[Measurement | None], against: int = 0) -> None:
        self.metric, self.sides, self.against = metric, sides, against
        self.first = next(filter(None, sides))
        self.modes = [None if one is None else two_modes(one.values) for one in sides]

    def against_baseline(self) -> list[Comparison | None]:
        """Compare each other side with the baseline; None where one of them has no number."""
        baseline = self.sides[self.against]
        return [
            None
            if one is None or baseline is None or side == self.against
            else compare(baseline.values, one.values, (self.modes[self.against], self.modes[side]))
            for side, one in enumerate(self.sides)
        ]


class ReadCells:
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

    def rows(self, rows: Sequence[Sequence[ReadCell | None]], by: str, against: int) -> list[SidesRow]:
        """Return what is said of each row; discoveries are those among all of them."""
        metrics = judge([list(self._numbers(row, against)) for row in rows])
        return [_row(row, by, row[against], said) for row, said in zip(rows, metrics, strict=True)]

    def _numbers(self, row: Sequence[ReadCell | None], against: int) -> Iterator[ComparedNumber]:
        present = [cell for cell in row if cell is not None]
        for key in dict.fromkeys(key for cell in present for key in cell.numbers):
            workloads = [cell.cell.workload for cell in present if key in cell.numbers]
            if len(workloads) > 1:
                sides = [None if cell is None else cell.numbers.get(key) for cell in row]
                yield ComparedNumber(self._metrics[workloads[0], key[0]], sides, against)


def _row(row: Sequence[ReadCell | None], by: str, baseline: ReadCell | None, said: list[SidesMetric]) -> SidesRow:
    present = [cell for cell in row if cell is not None]
    first = present[0].cell
    unlike = [name for name in differences(present, by) if name not in _NOT_SHOWN]
    return SidesRow(
        workload=first.workload,
        options={name: value for name, value in first.options.items() if f"{OPTION}{name}" != by},
        cells=[cell and _side_of_row(cell, baseline, by) for cell in row],
        differences=[
            SidesDifference(name=name, values=[cell and cell.parts.get(name) for cell in row]) for name in unlike
        ],
        metrics=said,
    )


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


def judge(rows: Sequence[Sequence[ComparedNumber]]) -> list[list[SidesMetric]]:
    """Say what the numbers of each side allow; those that stand for whole runs are judged among all of these."""
    compared = [
        (number, number.against_baseline(), is_whole)
        for row in rows
        for number, is_whole in zip(row, _stand_for_runs(row), strict=True)
    ]
    p_values = (one.p_value for _, found, is_whole in compared if is_whole for one in found if one is not None)
    judged = iter(discoveries([p_value for p_value in p_values if p_value is not None]))

    def verdict(found: Comparison | None, *, is_whole: bool) -> SideVerdict | None:
        if found is None:
            return None
        more = {
            "words": found.words.removeprefix("B "),
            "is_discovery": (found.p_value is not None and next(judged)) if is_whole else None,
            "runs_missing": max(0, ENOUGH_RUNS - found.run_count),
        }
        return SideVerdict.model_validate(judgement(found) | more)

    said = (
        SidesMetric.of_row(
            number.metric,
            labels=number.first.labels,
            target_name=number.first.target_name,
            numbers=[
                one and SideNumbers.of_row(one, modes=own) for one, own in zip(number.sides, number.modes, strict=True)
            ],
            verdicts=[verdict(one, is_whole=is_whole) for one in found],
        )
        for number, found, is_whole in compared
    )
    return [list(islice(said, len(row))) for row in rows]


def _stand_for_runs(row: Sequence[ComparedNumber]) -> list[bool]:
    measured = [(number.metric.metric, number.first.labels, at) for at, number in enumerate(row)]
    whole = set(of_whole_runs(measured, {number.metric.metric for number in row if number.metric.is_primary}))
    return [at in whole for at in range(len(row))]
