"""Comparison of campaigns, or of several sides."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import reading as campaigns
from iotide_server.kit.errors import ErrorKind
from iotide_server.results.figures.flagged import PAIR as PAIR_NAMES
from iotide_server.results.figures.flagged import reasons, unlike_words
from iotide_server.statistics.comparison import Verdict
from iotide_server.trends.comparison import matching, repository
from iotide_server.trends.comparison.engine import ReadCell, ReadCells, with_rounds_joined
from iotide_server.trends.comparison.matching import PAIR, pair_cells
from iotide_server.trends.comparison.schemas import (
    MOST_ROWS,
    MOST_SIDES,
    CampaignComparison,
    ComparedCell,
    ComparedMetric,
    ComparedPair,
    Difference,
    Side,
    SidesChoice,
    SidesComparison,
    SidesMetric,
    SidesRow,
)

_MOST_NAMED: Final = 20
_OF_EACH_SIDE: Final = ("n", "values", "median", "flags")

COMPARED_CELL_NOT_FOUND = ErrorKind(404, "cell_not_found", field="{side}_cell", shows="ordinal").says(
    "campaign {campaign_id} has no cell {ordinal}", "it has {known}"
)
NOTHING_ALIKE = ErrorKind(422, "nothing_alike", field="a").says(
    "campaigns {a} and {b} have no configurations that match unambiguously",
    "select one configuration of each (a_cell and b_cell)",
)


def compare_campaigns(session: Session, principal: Principal, a: Side, b: Side) -> CampaignComparison:
    """Compare the matching cells of two campaigns, or two named cells.

    Raises:
        CAMPAIGN_NOT_FOUND, COMPARED_CELL_NOT_FOUND: unknown or not visible.
        NOTHING_ALIKE: no cells match unambiguously.
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
    return with_rounds_joined(chosen) if side.ordinal is None else chosen


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
    """B is relative to A; modes are set only where they prevent a ratio."""
    (a, b), verdict = filter(None, metric.numbers), next(filter(None, metric.verdicts))
    has_direction = verdict.verdict in {Verdict.HIGHER, Verdict.LOWER}
    has_modes = verdict.verdict is Verdict.TWO_MODES
    sides = {f"{name}_{side}": getattr(own, name) for side, own in (("a", a), ("b", b)) for name in _OF_EACH_SIDE}
    words = unlike_words(a.flags, b.flags, PAIR_NAMES) if verdict.verdict is Verdict.UNLIKE else verdict.words
    more = {
        "words": f"B {words}" if has_direction else words,
        "reasons": reasons(verdict.verdict, a.flags, b.flags, PAIR_NAMES),
        "flags": sorted({*a.flags, *b.flags}),
        "modes_a": a.modes if has_modes else None,
        "modes_b": b.modes if has_modes else None,
    }
    return ComparedMetric.model_validate(dict(metric) | dict(verdict) | sides | more)


def _described(cell: ComparedCell) -> dict[str, Any]:
    return {
        "workload": cell.workload,
        **{f"options.{name}": value for name, value in cell.options.items()},
        "nodes": ", ".join(cell.node_names),
        "targets": ", ".join(cell.target_names),
        "variant": cell.variant,
    }


SIDES_WANTED = ErrorKind(422, "sides_wanted", field="campaign", shows="").says(
    "campaign: choose either campaigns or cells", "set campaign=12, or two cells"
)
DIMENSION_UNKNOWN = ErrorKind(422, "dimension_unknown", field="by").says(
    "by: these cells do not vary in {by}", "{remedy}"
)
SIDE_CELL_NOT_FOUND = ErrorKind(404, "cell_not_found", field="cell", shows="cell_id").says("there is no cell {cell_id}")


def compare_sides(session: Session, principal: Principal, wanted: SidesChoice) -> SidesComparison:
    """Compare the cells of campaigns along one dimension, or single cells.

    Raises:
        SIDES_WANTED, DIMENSION_UNKNOWN: it is unclear what to compare.
        CAMPAIGN_NOT_FOUND, SIDE_CELL_NOT_FOUND: unknown or not visible.
    """
    found = ReadCells(session, visible_campaigns(session, principal, wanted))
    named = found.cells if wanted.cell is None else dict.fromkeys(wanted.cell)
    cells = [found.cells[cell_id] for cell_id in named if cell_id in found.cells]
    cells = with_rounds_joined(cells) if wanted.cell is None else cells
    known = matching.dimensions(cells)
    by = matching.CELL if wanted.cell else wanted.by or next(iter(known), None)
    if by is None or not cells:
        return SidesComparison(by=None, dimensions=[], sides=[], against=0, rows=[], sides_left_out=[], rows_left_out=0)
    if by not in known and by != matching.CELL:
        remedy = f"choose one of {', '.join(known)}" if known else "these cells do not differ"
        raise DIMENSION_UNKNOWN(by=by, remedy=remedy)
    values = matching.sides(cells, by)
    shown = values[:MOST_SIDES]
    against = min(wanted.against, len(shown) - 1)
    keys = [matching.side_key(value) for value in shown]
    rows = [[row.get(key) for key in keys] for row in matching.rows(cells, by) if sum(key in row for key in keys) > 1]
    return SidesComparison(
        by=by,
        dimensions=known,
        sides=shown,
        against=against,
        rows=found.rows(rows[:MOST_ROWS], by, against),
        sides_left_out=values[MOST_SIDES:],
        rows_left_out=max(0, len(rows) - MOST_ROWS),
    )


def visible_campaigns(session: Session, principal: Principal, wanted: SidesChoice) -> list[int]:
    """Return the ids of the compared campaigns. Raise SIDES_WANTED, CAMPAIGN_NOT_FOUND or SIDE_CELL_NOT_FOUND."""
    if bool(wanted.campaign) == bool(wanted.cell):
        raise SIDES_WANTED()
    if wanted.cell is None:
        for campaign_id in wanted.campaign or ():
            campaigns.visible_campaign(session, principal, campaign_id)
        return wanted.campaign or []
    rows = repository.campaigns_of_cells(session, wanted.cell)
    return [
        principal.require_row(Role.VIEWER, rows.get(cell_id), SIDE_CELL_NOT_FOUND(cell_id=cell_id)).campaign_id
        for cell_id in wanted.cell
    ]
