"""Number of flags that a row of the runs table shows."""

from statistics import fmean, median

from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Cell
from iotide_server.runs.models import Run
from iotide_wire.cautions import ranked
from iotide_wire.measured import Flag, FlagRank


def shown_flags(session: Session) -> tuple[float, float]:
    """Return median and mean over all valid runs of their flags of rank 1 and 2, gained or missing.

    Flags that the runs before usually had are grey and do not count.
    """
    columns = select(Run.flags, Cell.usual_flags).join(Cell, Cell.id == Run.cell_id)
    rows = session.execute(columns.where(Run.state == "finished", Run.validity == "valid"))
    counts = []
    for row in rows:
        flags = [Flag.model_validate(flag) for flag in row.flags]
        doubts = {flag.code for flag in flags if flag.rank <= FlagRank.UNLIKE}
        counts.append(len(doubts ^ set(ranked(row.usual_flags, FlagRank.UNLIKE))))
    return median(counts), fmean(counts)
