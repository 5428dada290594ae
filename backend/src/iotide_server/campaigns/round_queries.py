"""SQL of adaptive repeats."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.campaigns.stopping import CellRuns, EndOfRepeats, Step
from iotide_server.kit.work import BEGUN

_OPEN_RUNS: Final = text(
    """
    SELECT EXISTS (
        SELECT FROM run JOIN cell ON cell.id = run.cell_id
        WHERE run.campaign_id = :campaign_id AND run.state IN ('waiting', 'active') AND cell.stage = :stage)
    """
)
# Points decide which values represent runs. Points that fail are not awaited.
_UNREAD_RESULTS: Final = text(
    """
    SELECT EXISTS (
        SELECT FROM adaptive_cell JOIN work ON work.kind = 'points' AND work.key = adaptive_cell.cell_id
        WHERE adaptive_cell.campaign_id = :campaign_id AND adaptive_cell.ended_at IS NULL
          AND work.done_version < work.version AND coalesce(work.failure, :begun) = :begun)
    """
).bindparams(begun=BEGUN)
_FIRST_START: Final = text(
    """
    SELECT min(run.started_at) FROM cell JOIN run ON run.cell_id = cell.id
    WHERE cell.campaign_id = :campaign_id AND cell.stage = :stage
    """
)
_WAITING: Final = text(
    """
    SELECT run.id FROM run JOIN cell ON cell.id = run.cell_id
    WHERE run.campaign_id = :campaign_id AND run.state = 'waiting' AND cell.stage = :stage
    ORDER BY run.id FOR NO KEY UPDATE OF run
    """
)
_PUT_STEPS: Final = text(
    """
    UPDATE adaptive_cell
    SET runs = made.runs, half_width_ratio = made.half_width_ratio, resembles_before = made.resembles_before,
        ended_because = made.ended_because,
        ended_at = CASE WHEN made.ended_because IS NOT NULL THEN CAST(:now AS timestamptz) END
    FROM unnest(CAST(:cell_ids AS bigint[]), CAST(:runs AS bigint[]), CAST(:half_width_ratios AS float8[]),
                CAST(:resemble AS boolean[]), CAST(:because AS text[]))
         AS made (cell_id, runs, half_width_ratio, resembles_before, ended_because)
    WHERE adaptive_cell.cell_id = made.cell_id
    """
)
_CELL_RUNS: Final = text(
    """
    SELECT adaptive_cell.cell_id, counted.run_count, adaptive_cell.runs AS looked_at, counted.values
    FROM adaptive_cell JOIN cell ON cell.id = adaptive_cell.cell_id
    CROSS JOIN LATERAL (
        SELECT count(*) AS run_count, coalesce(array_agg(value ORDER BY run.started_at, run.id) FILTER (
                   WHERE value IS NOT NULL AND run.state = 'finished' AND run.validity = 'valid'), '{}') AS values
        FROM run LEFT JOIN run_headline ON run_headline.run_id = run.id
        WHERE run.cell_id = adaptive_cell.cell_id
    ) AS counted
    WHERE adaptive_cell.campaign_id = :campaign_id AND adaptive_cell.ended_at IS NULL AND cell.stage = :stage
    ORDER BY cell.ordinal
    """
)


def add_cells(session: Session, campaign_id: int) -> None:
    """Make all cells of a new campaign adaptive."""
    statement = text(
        "INSERT INTO adaptive_cell (cell_id, campaign_id) SELECT id, campaign_id FROM cell"
        " WHERE campaign_id = :campaign_id"
    )
    session.execute(statement, {"campaign_id": campaign_id})


def current_stage(session: Session, campaign_id: int) -> int | None:
    """Return the first stage with cells that may get more repeats."""
    statement = text(
        "SELECT min(cell.stage) FROM adaptive_cell JOIN cell ON cell.id = adaptive_cell.cell_id"
        " WHERE adaptive_cell.campaign_id = :campaign_id AND adaptive_cell.ended_at IS NULL"
    )
    stage: int | None = session.scalar(statement, {"campaign_id": campaign_id})
    return stage


def has_open_runs(session: Session, campaign_id: int, stage: int) -> bool:
    return bool(session.scalar(_OPEN_RUNS, {"campaign_id": campaign_id, "stage": stage}))


def has_unread_results(session: Session, campaign_id: int) -> bool:
    """Return true if results have arrived, but the values of their runs are not known yet."""
    return bool(session.scalar(_UNREAD_RESULTS, {"campaign_id": campaign_id}))


def first_start(session: Session, campaign_id: int, stage: int) -> datetime | None:
    started_at: datetime | None = session.scalar(_FIRST_START, {"campaign_id": campaign_id, "stage": stage})
    return started_at


def lock_waiting(session: Session, campaign_id: int, stage: int) -> Sequence[int]:
    return session.scalars(_WAITING, {"campaign_id": campaign_id, "stage": stage}).all()


def cell_runs(session: Session, campaign_id: int, stage: int) -> list[CellRuns]:
    """Return the cells that may get more repeats, in the order of the plan."""
    rows = session.execute(_CELL_RUNS, {"campaign_id": campaign_id, "stage": stage})
    return [CellRuns(row.cell_id, row.run_count, row.looked_at, row.values) for row in rows]


def put_steps(session: Session, steps: Mapping[int, Step], now: datetime) -> None:
    """Store looks and ends by cell, in one statement: a plan may have thousands of cells."""
    values = {
        "cell_ids": list(steps),
        "runs": [step.looked_at for step in steps.values()],
        "half_width_ratios": [step.half_width_ratio for step in steps.values()],
        "resemble": [step.resembles_before for step in steps.values()],
        "because": [step.ended_because for step in steps.values()],
        "now": now,
    }
    session.execute(_PUT_STEPS, values)


def end_cells(session: Session, campaign_id: int, because: EndOfRepeats, now: datetime) -> None:
    """Give the campaign's cells no more repeats."""
    statement = text(
        "UPDATE adaptive_cell SET ended_at = :now, ended_because = :because"
        " WHERE campaign_id = :campaign_id AND ended_at IS NULL"
    )
    session.execute(statement, {"campaign_id": campaign_id, "because": because, "now": now})
