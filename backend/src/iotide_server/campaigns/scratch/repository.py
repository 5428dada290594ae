"""SQL of stages that make file systems on scratch sets."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.orm import Session


def runs_before(session: Session, campaign_id: int, ordinal: int) -> Sequence[Row[Any]]:
    """Return id, state, end and verb of the runs that prepare a stage's mounts; none if an operator does."""
    statement = text(
        "SELECT run.id, run.state, run.ended_at, campaign_stage.does FROM campaign_stage"
        " JOIN cell ON cell.campaign_id = campaign_stage.campaign_id AND cell.stage = campaign_stage.ordinal"
        " JOIN run ON run.cell_id = cell.id"
        " WHERE campaign_stage.campaign_id = :campaign_id AND campaign_stage.ordinal = :ordinal - 1"
        " AND campaign_stage.does IN ('make', 'mount') ORDER BY run.id"
    )
    return session.execute(statement, {"campaign_id": campaign_id, "ordinal": ordinal}).all()


def cleaning_runs(session: Session, campaign_id: int) -> Sequence[int]:
    """Return the open run that cleans the set which the campaign holds."""
    statement = text(
        "SELECT run.id FROM campaign_stage"
        " JOIN cell ON cell.campaign_id = campaign_stage.campaign_id AND cell.stage = campaign_stage.ordinal"
        " JOIN run ON run.cell_id = cell.id"
        " WHERE campaign_stage.campaign_id = :campaign_id AND campaign_stage.does = 'clean'"
        " AND run.state IN ('waiting', 'active')"
        " AND EXISTS (SELECT FROM scratch_set WHERE scratch_set.id = campaign_stage.scratch_set_id"
        "  AND scratch_set.campaign_id = campaign_stage.campaign_id)"
    )
    return session.scalars(statement, {"campaign_id": campaign_id}).all()


def release_sets(session: Session) -> None:
    """Release the sets of campaigns without open runs."""
    session.execute(
        text(
            "UPDATE scratch_set SET campaign_id = NULL WHERE campaign_id IS NOT NULL AND NOT EXISTS ("
            " SELECT FROM run WHERE run.campaign_id = scratch_set.campaign_id AND run.state IN ('waiting', 'active'))"
        )
    )
