"""SQL of the node queues. Waiting runs are in them while stage and window of their campaign are open."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.runs import repository
from iotide_server.runs.lifecycle import RunState


def in_open_stages(session: Session, run_ids: Sequence[int]) -> Sequence[int]:
    return session.scalars(
        text(
            "SELECT run.id FROM run JOIN cell ON cell.id = run.cell_id"
            " LEFT JOIN campaign_stage ON campaign_stage.campaign_id = run.campaign_id"
            "  AND campaign_stage.ordinal = cell.stage"
            " WHERE run.id = ANY(:run_ids) AND coalesce(campaign_stage.state, 'open') = 'open' ORDER BY run.id"
        ),
        {"run_ids": list(run_ids)},
    ).all()


def open_stage(session: Session, campaign_id: int, stage: int, now: datetime) -> None:
    """Queue the waiting runs of a stage. Campaigns without stages have stage 1."""
    _hold_window(session, [campaign_id])
    run_ids = lock_waiting_in(session, campaign_id, stage)
    release_evenly(session, campaign_id, run_ids, now)
    _join_queues(session, run_ids)


def lock_waiting_in(session: Session, campaign_id: int, stage: int) -> Sequence[int]:
    """Return the waiting runs of a stage, locked."""
    statement = text(
        "SELECT run.id FROM run JOIN cell ON cell.id = run.cell_id WHERE run.campaign_id = :campaign_id"
        " AND cell.stage = :stage AND run.state = 'waiting' ORDER BY run.id FOR NO KEY UPDATE OF run"
    )
    return session.scalars(statement, {"campaign_id": campaign_id, "stage": stage}).all()


def release_evenly(session: Session, campaign_id: int, run_ids: Sequence[int], now: datetime) -> None:
    """Set when each of these runs may start, if the plan spreads its repeats. Call it before they join queues.

    The first repeat of each cell may start now, each further one spread / repeats later. It then queues as if submitted
    at that time.
    """
    step_seconds = session.scalar(
        text(
            "SELECT CAST(plan ->> 'spread_seconds' AS float8) / CAST(plan ->> 'repeats' AS float8) FROM campaign"
            " WHERE id = :campaign_id"
        ),
        {"campaign_id": campaign_id},
    )
    if step_seconds is None:
        return
    session.execute(
        text(
            "UPDATE run SET not_before = released.at,"
            "  sort_key = sort_key + CAST(extract(epoch FROM released.at - created_at) AS float8)"
            " FROM ("
            "  SELECT id, CAST(:now AS timestamptz) + interval '1 s' * :step_seconds"
            "   * (row_number() OVER (PARTITION BY cell_id ORDER BY repeat) - 1) AS at"
            "  FROM run WHERE id = ANY(:run_ids)"
            " ) AS released WHERE run.id = released.id AND released.at > :now"
        ),
        {"run_ids": list(run_ids), "step_seconds": step_seconds, "now": now},
    )


def is_in_current_stage(session: Session, run_id: int) -> bool:
    """Return true if the run's stage is the newest open one of its campaign; lock the stages."""
    stages = text(
        "SELECT FROM campaign_stage WHERE campaign_id = (SELECT campaign_id FROM run WHERE id = :run_id)"
        " ORDER BY ordinal FOR SHARE"
    )
    session.execute(stages, {"run_id": run_id})
    statement = text(
        "SELECT coalesce(cell.stage = (SELECT max(ordinal) FROM campaign_stage"
        " WHERE campaign_stage.campaign_id = run.campaign_id AND state = 'open'),"
        " NOT EXISTS (SELECT FROM campaign_stage WHERE campaign_stage.campaign_id = run.campaign_id))"
        " FROM run JOIN cell ON cell.id = run.cell_id WHERE run.id = :run_id"
    )
    return bool(session.scalar(statement, {"run_id": run_id}))


def join_queues(session: Session, run_ids: Sequence[int]) -> None:
    """Queue waiting runs, except while the campaign's window is closed."""
    campaign_ids = session.scalars(
        text("SELECT DISTINCT campaign_id FROM run WHERE id = ANY(:run_ids)"), {"run_ids": list(run_ids)}
    ).all()
    _hold_window(session, campaign_ids)
    _join_queues(session, run_ids)


def _join_queues(session: Session, run_ids: Sequence[int]) -> None:
    session.execute(
        text(
            "INSERT INTO line_place (node_id, run_id, sort_key, not_before, owner_id, target_ids, shared_target_ids)"
            " SELECT cell_node.node_id, run.id, run.sort_key, run.not_before, coalesce(campaign.owner_id, 0),"
            "  loaded.target_ids, loaded.shared"
            " FROM run JOIN campaign ON campaign.id = run.campaign_id JOIN cell_node USING (cell_id)"
            # LATERAL keeps the plan fast before PostgreSQL has statistics about runs.
            " CROSS JOIN LATERAL ("
            "  SELECT coalesce(array_agg(target.id ORDER BY target.id), '{}') AS target_ids, coalesce("
            "   array_agg(target.id ORDER BY target.id) FILTER (WHERE target.scope = 'shared'), '{}') AS shared"
            "  FROM cell_target JOIN target ON target.id = cell_target.target_id"
            "  WHERE cell_target.cell_id = run.cell_id"
            " ) AS loaded"
            " LEFT JOIN campaign_window ON campaign_window.campaign_id = run.campaign_id"
            " WHERE run.id = ANY(:run_ids) AND campaign_window.is_open IS NOT FALSE"
        ),
        {"run_ids": list(run_ids)},
    )


def _hold_window(session: Session, campaign_ids: Sequence[int]) -> None:
    """Lock the campaigns' windows, and have the scheduler check idle ones soon."""
    values = {"campaign_ids": list(campaign_ids)}
    at_rest = (
        "UPDATE campaign_window SET turns_at = opens_at WHERE campaign_id = ANY(:campaign_ids) AND turns_at IS NULL"
    )
    session.execute(text(at_rest), values)
    held = "SELECT FROM campaign_window WHERE campaign_id = ANY(:campaign_ids) ORDER BY campaign_id FOR SHARE"
    session.execute(text(held), values)


def open_queues(session: Session, campaign_id: int) -> None:
    join_queues(session, _lock_waiting(session, campaign_id))


def leave_queues(session: Session, campaign_id: int) -> None:
    session.execute(
        text("DELETE FROM line_place WHERE run_id = ANY(:run_ids)"),
        {"run_ids": list(_lock_waiting(session, campaign_id))},
    )


def _lock_waiting(session: Session, campaign_id: int) -> Sequence[int]:
    return session.scalars(
        text(
            "SELECT run.id FROM run JOIN cell ON cell.id = run.cell_id"
            " LEFT JOIN campaign_stage ON campaign_stage.campaign_id = run.campaign_id"
            "  AND campaign_stage.ordinal = cell.stage"
            " WHERE run.campaign_id = :campaign_id AND run.state = 'waiting'"
            " AND coalesce(campaign_stage.state, 'open') = 'open' ORDER BY run.id FOR NO KEY UPDATE OF run"
        ),
        {"campaign_id": campaign_id},
    ).all()


def resort_campaign(session: Session, campaign_id: int, ahead_seconds: float) -> bool:
    """Move the runs ahead by that much, or back; return true if any has not ended."""
    found = repository.lock_runs_of(session, campaign_id, set(RunState) - {RunState.FINISHED})
    if not any(run.state in {RunState.WAITING, RunState.ACTIVE} for run in found):
        return False
    session.execute(
        text(
            "WITH sorted AS ("
            "  UPDATE run SET sort_key = sort_key - :ahead_seconds WHERE id = ANY(:run_ids) RETURNING id, sort_key"
            ") UPDATE line_place SET sort_key = sorted.sort_key FROM sorted WHERE line_place.run_id = sorted.id"
        ),
        {"run_ids": [run.id for run in found], "ahead_seconds": ahead_seconds},
    )
    return True
