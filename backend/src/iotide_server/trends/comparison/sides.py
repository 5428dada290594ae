"""Many sides beside each other: file systems, clusters or options of campaigns, or cells that were named."""

from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import reading as campaigns
from iotide_server.kit.errors import ErrorKind
from iotide_server.trends.comparison import matching, repository
from iotide_server.trends.comparison.engine import ReadCells
from iotide_server.trends.comparison.schemas import MOST_ROWS, MOST_SIDES, SidesChoice, SidesComparison

SIDES_WANTED = ErrorKind(422, "sides_wanted", field="campaign", shows="").says(
    "campaign: name campaigns or cells, and not both", "give campaign=12, or two cells"
)
DIMENSION_UNKNOWN = ErrorKind(422, "dimension_unknown", field="by").says(
    "by: these cells do not vary in {by}", "{remedy}"
)
SIDE_CELL_NOT_FOUND = ErrorKind(404, "cell_not_found", field="cell", shows="cell_id").says("there is no cell {cell_id}")


def compare_sides(session: Session, principal: Principal, wanted: SidesChoice) -> SidesComparison:
    """Compare what the cells of campaigns differ in, or cells that are named.

    Raises:
        SIDES_WANTED, DIMENSION_UNKNOWN: it is not clear what is compared.
        CAMPAIGN_NOT_FOUND, SIDE_CELL_NOT_FOUND: there is none that the caller may see.
    """
    if bool(wanted.campaign) == bool(wanted.cell):
        raise SIDES_WANTED()
    found = ReadCells(session, _campaign_ids(session, principal, wanted))
    named = found.cells if wanted.cell is None else dict.fromkeys(wanted.cell)
    cells = [found.cells[cell_id] for cell_id in named if cell_id in found.cells]
    known = matching.dimensions(cells)
    by = matching.CELL if wanted.cell else wanted.by or next(iter(known), None)
    if by is None or not cells:
        return SidesComparison(by=None, dimensions=[], sides=[], against=0, rows=[], sides_left_out=[], rows_left_out=0)
    if by not in known and by != matching.CELL:
        remedy = f"choose one of {', '.join(known)}" if known else "these cells are all alike"
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


def _campaign_ids(session: Session, principal: Principal, wanted: SidesChoice) -> list[int]:
    if wanted.cell is None:
        for campaign_id in wanted.campaign or ():
            campaigns.visible_campaign(session, principal, campaign_id)
        return wanted.campaign or []
    rows = repository.campaigns_of_cells(session, wanted.cell)
    return [
        principal.require_row(Role.VIEWER, rows.get(cell_id), SIDE_CELL_NOT_FOUND(cell_id=cell_id)).campaign_id
        for cell_id in wanted.cell
    ]
