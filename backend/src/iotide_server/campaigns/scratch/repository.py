"""SQL of stages that make file systems on scratch sets."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.orm import Session


def preparing_runs(session: Session, campaign_id: int, ordinal: int) -> Sequence[Row[Any]]:
    """Return the runs that make, fill and mount a stage's file system before it; none if an operator prepares it."""
    statement = text(
        "SELECT run.id, run.state, run.ended_at, preparing.does FROM campaign_stage AS preparing"
        " JOIN cell ON cell.campaign_id = preparing.campaign_id AND cell.stage = preparing.ordinal"
        " JOIN run ON run.cell_id = cell.id"
        " WHERE preparing.campaign_id = :campaign_id AND preparing.ordinal < :ordinal"
        " AND preparing.does IN ('make', 'fill', 'mount') AND preparing.ordinal >= ("
        "  SELECT max(ordinal) FROM campaign_stage"
        "  WHERE campaign_id = :campaign_id AND ordinal < :ordinal AND does = 'make'"
        " ) ORDER BY preparing.ordinal, run.id"
    )
    return session.execute(statement, {"campaign_id": campaign_id, "ordinal": ordinal}).all()


def work_of(session: Session, cell_id: int) -> Row[Any] | None:
    """Return set, work and variant of a cell that makes or cleans; None for every other one."""
    statement = text(
        "SELECT scratch_set_id, does, campaign_stage.variant FROM cell"
        " JOIN campaign_stage ON campaign_stage.campaign_id = cell.campaign_id"
        "  AND campaign_stage.ordinal = cell.stage AND does IN ('make', 'clean')"
        " WHERE cell.id = :cell_id AND scratch_set_id IS NOT NULL"
    )
    return session.execute(statement, {"cell_id": cell_id}).one_or_none()


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


def past_work(session: Session, set_id: int, since: datetime, most: int) -> Sequence[Row[Any]]:
    """Return the newest finished makes and fills on a set, with the options of their make."""
    statement = text(
        "SELECT work.does, extract(epoch FROM run.ended_at - run.started_at) AS seconds, cell.bytes_moved,"
        " (SELECT making.options -> 'make' FROM campaign_stage AS maker JOIN cell AS making"
        "   ON making.campaign_id = maker.campaign_id AND making.stage = maker.ordinal"
        "  WHERE maker.campaign_id = work.campaign_id AND maker.ordinal <= work.ordinal AND maker.does = 'make'"
        "  ORDER BY maker.ordinal DESC LIMIT 1) AS make"
        " FROM campaign_stage AS work"
        " JOIN cell ON cell.campaign_id = work.campaign_id AND cell.stage = work.ordinal"
        " JOIN run ON run.cell_id = cell.id"
        " WHERE work.scratch_set_id = :set_id AND work.does IN ('make', 'fill') AND run.state = 'finished'"
        " AND run.started_at >= :since AND run.ended_at > run.started_at"
        " ORDER BY run.ended_at DESC LIMIT :most"
    )
    return session.execute(statement, {"set_id": set_id, "since": since, "most": most}).all()
