"""One campaign against another, cell by cell: what is unlike about them, and by what ratio they differ."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import reading as campaigns
from iotide_server.kit.errors import ErrorKind
from iotide_server.statistics.comparison import Verdict
from iotide_server.trends.comparison.engine import ReadCell, ReadCells
from iotide_server.trends.comparison.matching import PAIR, pair_cells
from iotide_server.trends.comparison.schemas import (
    CampaignComparison,
    ComparedCell,
    ComparedMetric,
    ComparedPair,
    Difference,
    Side,
    SidesMetric,
    SidesRow,
)

_MOST_NAMED: Final = 20
_OF_EACH_SIDE: Final = ("n", "values", "median", "flags")

COMPARED_CELL_NOT_FOUND = ErrorKind(404, "cell_not_found", field="{side}_cell", shows="ordinal").says(
    "campaign {campaign_id} has no cell {ordinal}", "it has {known}"
)
NOTHING_ALIKE = ErrorKind(422, "nothing_alike", field="a").says(
    "campaigns {a} and {b} have no cells that clearly belong together", "name a cell of each by a_cell and b_cell"
)


def compare_campaigns(session: Session, principal: Principal, a: Side, b: Side) -> CampaignComparison:
    """Compare the cells of two campaigns that belong together, or the two that are named.

    Raises:
        CAMPAIGN_NOT_FOUND, COMPARED_CELL_NOT_FOUND: there is none that the caller may see.
        NOTHING_ALIKE: it is not clear which cells belong together.
    """
    for side in (a, b):
        campaigns.visible_campaign(session, principal, side.campaign_id)
    found = ReadCells(session, [a.campaign_id, b.campaign_id])
    of_a, of_b = (_cells(found, side) for side in (a, b))
    pairs = pair_cells(of_a, of_b)
    if not pairs:
        raise NOTHING_ALIKE(a=a.campaign_id, b=b.campaign_id)
    paired = [{cell.id for cell in side} for side in zip(*pairs, strict=True)]
    return CampaignComparison(
        pairs=list(map(_pair, found.rows(pairs, PAIR, against=0), pairs)),
        only_a=[cell.cell.ordinal for cell in of_a if cell.id not in paired[0]],
        only_b=[cell.cell.ordinal for cell in of_b if cell.id not in paired[1]],
    )


def _cells(found: ReadCells, side: Side) -> list[ReadCell]:
    cells = [cell for cell in found.cells.values() if cell.campaign_id == side.campaign_id]
    chosen = [cell for cell in cells if side.ordinal in {None, cell.cell.ordinal}]
    if side.ordinal is not None and not chosen:
        known = ", ".join(str(cell.cell.ordinal) for cell in cells[:_MOST_NAMED]) or "none"
        raise COMPARED_CELL_NOT_FOUND(side=side.name, campaign_id=side.campaign_id, ordinal=side.ordinal, known=known)
    return chosen


def _pair(row: SidesRow, cells: Sequence[ReadCell]) -> ComparedPair:
    a, b = (ComparedCell.of_row(one.cell, campaign_id=one.campaign_id, cell_id=one.id) for one in cells)
    of_a, of_b = _described(a), _described(b)
    return ComparedPair(
        a=a,
        b=b,
        differences=[
            Difference(name=name, a=of_a.get(name), b=of_b.get(name))
            for name in of_a | of_b
            if of_a.get(name) != of_b.get(name)
        ],
        is_alike=all(side.is_alike for side in row.cells if side is not None),
        metrics=[of_two(metric) for metric in row.metrics],
    )


def of_two(metric: SidesMetric) -> ComparedMetric:
    """Return a number of two sides with B in terms of A; modes only where they are why there is no ratio."""
    (a, b), verdict = filter(None, metric.numbers), next(filter(None, metric.verdicts))
    is_told = verdict.verdict in {Verdict.HIGHER, Verdict.LOWER}
    has_modes = verdict.verdict is Verdict.TWO_MODES
    sides = {f"{name}_{side}": getattr(own, name) for side, own in (("a", a), ("b", b)) for name in _OF_EACH_SIDE}
    more = {
        "words": f"B {verdict.words}" if is_told else verdict.words,
        "flags": sorted({*a.flags, *b.flags}),
        "modes_a": a.modes if has_modes else None,
        "modes_b": b.modes if has_modes else None,
    }
    return ComparedMetric.model_validate(dict(metric) | dict(verdict) | sides | more)


def _described(cell: ComparedCell) -> dict[str, Any]:
    """Return what a cell is, by the names that a person knows."""
    return {
        "workload": cell.workload,
        **{f"options.{name}": value for name, value in cell.options.items()},
        "nodes": ", ".join(cell.node_names),
        "targets": ", ".join(cell.target_names),
        "variant": cell.variant,
    }
