"""Comparison of rows of cells, one cell per side."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, product
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.kit.pagination import PageRequest
from iotide_server.results.figures import measurements
from iotide_server.results.figures.bases import Compared, MeasuredRunValue, MeasuredSide, with_bases
from iotide_server.results.figures.flagged import SIDES, reasons, unlike, unlike_words
from iotide_server.results.figures.judging import judgement
from iotide_server.results.figures.measurements import MeasureChoice, joined
from iotide_server.results.schemas import CampaignMetric, MeasuredCell, Measurement
from iotide_server.statistics.comparison import Comparison, Sides, Verdict, compare_board
from iotide_server.statistics.modes import two_modes
from iotide_server.statistics.summary import ENOUGH_RUNS
from iotide_server.trends.comparison import repository
from iotide_server.trends.comparison.matching import OPTION, SideCell, differences, ran_the_same, side_key
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
_NOT_SHOWN: Final = frozenset({"node_count", "campaign"})


@dataclass(frozen=True, slots=True)
class ReadCell(SideCell):
    cell: MeasuredCell
    campaign: AnyRow
    numbers: dict[tuple[str, str | None, frozenset[tuple[str, object]]], Measurement]
    makes: Mapping[int, int]  # by run, on scratch disks: the stage whose file system it ran on
    joined_ids: tuple[int, ...] = ()  # of all cells, if it joins several

    @property
    def cell_ids(self) -> tuple[int, ...]:
        return self.joined_ids or (self.id,)


class ComparedNumber:
    def __init__(
        self,
        metric: CampaignMetric,
        sides: Sequence[Measurement | None],
        against: int = 0,
        cells: Sequence[ReadCell | None] = (),
    ) -> None:
        self.metric, self.sides, self.against = metric, sides, against
        self.cells = cells or [None for _ in sides]
        self.first = next(filter(None, sides))
        self.modes = [None if one is None else two_modes(self._units(side, one)) for side, one in enumerate(sides)]

    @property
    def compared(self) -> list[int]:
        """Return the other sides that have a value, if the baseline has one."""
        if self.sides[self.against] is None:
            return []
        return [side for side, one in enumerate(self.sides) if one is not None and side != self.against]

    def _units(self, side: int, measurement: Measurement) -> Sequence[float]:
        """Return the values whose modes count: the scatter between makes is part of the error, and no second mode."""
        means = self.measured(side).means
        return means if len(means) > 1 else measurement.values

    def unlike(self, side: int) -> Comparison | None:
        a, b = self.sides[self.against], self.sides[side]
        return None if a is None or b is None else unlike(a.flags, b.flags, min(a.n, b.n))

    def measured(self, side: int) -> MeasuredSide:
        cell, measurement = self.cells[side], self.sides[side]
        if measurement is None:
            raise ValueError(f"side {side} has no value")
        of_run = {run.id: run for run in cell.cell.runs} if cell else {}
        makes = cell.makes if cell else {}
        runs = []
        for run_id, value in zip(measurement.run_ids, measurement.values, strict=True):
            run = of_run.get(run_id)
            repeat, started_at = (None, None) if run is None else (run.repeat, run.started_at)
            runs.append(MeasuredRunValue(value, repeat, started_at, makes.get(run_id)))
        cell_ids, campaign_id = (cell.cell_ids, cell.campaign_id) if cell else ((0,), 0)
        cluster_id = cell.campaign.cluster_id if cell else 0
        number = self.metric.workload, self.metric.metric, measurement.labels
        return MeasuredSide(cell_ids, campaign_id, cluster_id, *number, runs)


def by_runs(compared: Sequence[Compared]) -> list[Sides]:
    """Return the sides as if each was measured on the same day."""
    return [Sides(a.values, b.values) for a, b in compared]


class ReadCells:
    def __init__(self, session: Session, campaign_ids: Iterable[int]) -> None:
        ids = list(dict.fromkeys(campaign_ids))
        self._bases = partial(with_bases, session)
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
        metrics = judge([list(self._numbers(row, against)) for row in rows], self._bases)
        return [_row(row, by, row[against], said) for row, said in zip(rows, metrics, strict=True)]

    def _numbers(self, row: Sequence[ReadCell | None], against: int) -> Iterator[ComparedNumber]:
        present = [cell for cell in row if cell is not None]
        for key in dict.fromkeys(key for cell in present for key in cell.numbers):
            workloads = [cell.cell.workload for cell in present if key in cell.numbers]
            if len(workloads) > 1:
                sides = [None if cell is None else cell.numbers.get(key) for cell in row]
                yield ComparedNumber(self._metrics[workloads[0], key[0]], sides, against, row)


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
    """Return a cell without measurements. Empty names are left out, so that they are no side."""
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
    makes = {run.id: cell.stage for run in cell.runs} if campaign.is_on_scratch else {}
    return ReadCell(cell.id, campaign.id, named, cell, campaign, {}, makes)


def with_rounds_joined(cells: Iterable[ReadCell]) -> list[ReadCell]:
    """Join the cells of a campaign on scratch disks that differ only in their make, in the order of the first."""
    alike: defaultdict[object, list[ReadCell]] = defaultdict(list)
    for cell in cells:
        alike[(cell.campaign_id, side_key(cell.parts)) if cell.campaign.is_on_scratch else cell.id].append(cell)
    return [rounds[0] if len(rounds) == 1 else _joined(rounds) for rounds in alike.values()]


def _joined(rounds: Sequence[ReadCell]) -> ReadCell:
    keys = dict.fromkeys(key for cell in rounds for key in cell.numbers)
    return replace(
        rounds[0],
        cell=rounds[0].cell.model_copy(update={"runs": [run for cell in rounds for run in cell.cell.runs]}),
        numbers={key: joined([cell.numbers[key] for cell in rounds if key in cell.numbers]) for key in keys},
        makes={run_id: make for cell in rounds for run_id, make in cell.makes.items()},
        joined_ids=tuple(cell.id for cell in rounds),
    )


def _side_of_row(one: ReadCell, baseline: SideCell | None, by: str) -> SideOfRow:
    return SideOfRow.of_row(
        one.cell,
        campaign_id=one.campaign_id,
        campaign_name=one.campaign.name,
        cluster_name=one.campaign.cluster_name,
        cell_id=one.id,
        is_alike=baseline is None or ran_the_same(baseline, one, by),
    )


def judge(
    rows: Sequence[Sequence[ComparedNumber]], bases: Callable[[Sequence[Compared]], list[Sides]] = by_runs
) -> list[list[SidesMetric]]:
    """Compare the sides of each row; primary values of whole runs are one family, others are not judged."""
    numbers = [number for row in rows for number in row]
    is_whole = [whole for row in rows for whole in _stand_for_runs(row)]
    apart = {(place, side): number.unlike(side) for place, number in enumerate(numbers) for side in number.compared}
    wanted = [pair for pair, found in apart.items() if found is None]
    compared = [
        (numbers[place].measured(numbers[place].against), numbers[place].measured(side)) for place, side in wanted
    ]
    board = [
        replace(
            sides,
            is_judged=is_whole[place],
            modes=(numbers[place].modes[numbers[place].against], numbers[place].modes[side]),
        )
        for (place, side), sides in zip(wanted, bases(compared), strict=True)
    ]
    judged = apart | dict(zip(wanted, compare_board(board), strict=True))

    def said(place: int, number: ComparedNumber) -> SidesMetric:
        return SidesMetric.of_row(
            number.metric,
            labels=number.first.labels,
            target_name=number.first.target_name,
            numbers=[
                one and SideNumbers.of_row(one, modes=own) for one, own in zip(number.sides, number.modes, strict=True)
            ],
            verdicts=[_verdict(number, side, judged.get((place, side))) for side in range(len(number.sides))],
        )

    answers = (said(place, number) for place, number in enumerate(numbers))
    return [list(islice(answers, len(row))) for row in rows]


def _verdict(number: ComparedNumber, side: int, found: Comparison | None) -> SideVerdict | None:
    a, b = number.sides[number.against], number.sides[side]
    if found is None or a is None or b is None:
        return None
    is_unlike = found.verdict is Verdict.UNLIKE
    more = {
        "words": unlike_words(a.flags, b.flags, SIDES) if is_unlike else found.words.removeprefix("B "),
        "runs_missing": max(0, ENOUGH_RUNS - min(a.n, b.n)),
        "reasons": reasons(found.verdict, a.flags, b.flags, SIDES),
    }
    return SideVerdict.model_validate(judgement(found) | more)


def _stand_for_runs(row: Sequence[ComparedNumber]) -> list[bool]:
    measured = [(number.metric.metric, number.first.labels, at) for at, number in enumerate(row)]
    whole = set(of_whole_runs(measured, {number.metric.metric for number in row if number.metric.is_primary}))
    return [at in whole for at in range(len(row))]
