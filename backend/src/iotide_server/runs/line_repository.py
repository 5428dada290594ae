"""SQL of the lines of nodes: waiting runs stand in them while the stage and the window of their campaign are open."""

from collections.abc import Sequence

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.runs import repository
from iotide_server.runs.lifecycle import RunState


def in_open_stages(session: Session, run_ids: Sequence[int]) -> Sequence[int]:
    """Return those of the runs whose stage is open, or whose campaign has none."""
    return session.scalars(
        text(
            "SELECT run.id FROM run JOIN cell ON cell.id = run.cell_id"
            " LEFT JOIN campaign_stage ON campaign_stage.campaign_id = run.campaign_id"
            "  AND campaign_stage.ordinal = cell.stage"
            " WHERE run.id = ANY(:run_ids) AND coalesce(campaign_stage.state, 'open') = 'open' ORDER BY run.id"
        ),
        {"run_ids": list(run_ids)},
    ).all()


def open_stage(session: Session, campaign_id: int, stage: int) -> None:
    """Let the waiting runs of a campaign's stage (1 where it has none) stand in the lines of their nodes."""
    _hold_window(session, [campaign_id])
    run_ids = session.scalars(
        text(
            "SELECT run.id FROM run JOIN cell ON cell.id = run.cell_id WHERE run.campaign_id = :campaign_id"
            " AND cell.stage = :stage AND run.state = 'waiting' ORDER BY run.id FOR NO KEY UPDATE OF run"
        ),
        {"campaign_id": campaign_id, "stage": stage},
    ).all()
    _join_lines(session, run_ids)


def is_in_current_stage(session: Session, run_id: int) -> bool:
    """Return whether the run's stage is the last opened one of its campaign, if any; none opens in this transaction."""
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


def join_lines(session: Session, run_ids: Sequence[int]) -> None:
    """Let waiting runs stand in the line of each of their nodes, but for those of campaigns whose window is closed."""
    campaign_ids = session.scalars(
        text("SELECT DISTINCT campaign_id FROM run WHERE id = ANY(:run_ids)"), {"run_ids": list(run_ids)}
    ).all()
    _hold_window(session, campaign_ids)
    _join_lines(session, run_ids)


def _join_lines(session: Session, run_ids: Sequence[int]) -> None:
    session.execute(
        text(
            "INSERT INTO line_place (node_id, run_id, sort_key, not_before, owner_id, target_ids, shared_target_ids)"
            " SELECT cell_node.node_id, run.id, run.sort_key, run.not_before, coalesce(campaign.owner_id, 0),"
            "  loaded.target_ids, loaded.shared"
            " FROM run JOIN campaign ON campaign.id = run.campaign_id JOIN cell_node USING (cell_id)"
            # For each run, so that it is as quick where PostgreSQL knows nothing of how many runs there are.
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
    """Keep these campaigns' windows as they are while the transaction lasts; one that was at rest is looked at soon."""
    values = {"campaign_ids": list(campaign_ids)}
    at_rest = (
        "UPDATE campaign_window SET turns_at = opens_at WHERE campaign_id = ANY(:campaign_ids) AND turns_at IS NULL"
    )
    session.execute(text(at_rest), values)
    held = "SELECT FROM campaign_window WHERE campaign_id = ANY(:campaign_ids) ORDER BY campaign_id FOR SHARE"
    session.execute(text(held), values)


def open_lines(session: Session, campaign_id: int) -> None:
    """Let the waiting runs of the campaign's open stages stand in their lines; its window, which is locked, opens."""
    join_lines(session, _lock_waiting(session, campaign_id))


def leave_lines(session: Session, campaign_id: int) -> None:
    """Take the campaign's waiting runs out of their lines; its window, which is locked, closes."""
    session.execute(
        text("DELETE FROM line_place WHERE run_id = ANY(:run_ids)"),
        {"run_ids": list(_lock_waiting(session, campaign_id))},
    )


def _lock_waiting(session: Session, campaign_id: int) -> Sequence[int]:
    """Lock the waiting runs of stages that are open, as `lock_run` does; return their ids."""
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
    """Sort the campaign's runs as if submitted that much earlier; return whether any of them waits or is active."""
    found = repository.lock_runs_of(session, campaign_id, set(RunState) - {RunState.FINISHED})
    if not any(run.state in {RunState.WAITING, RunState.ACTIVE} for run in found):
        return False
    session.execute(
        text(
            "WITH sorted AS ("
            "  UPDATE run SET sort_key = CAST(extract(epoch FROM created_at) AS float8) - :ahead_seconds"
            "  WHERE id = ANY(:run_ids) RETURNING id, sort_key"
            ") UPDATE line_place SET sort_key = sorted.sort_key FROM sorted WHERE line_place.run_id = sorted.id"
        ),
        {"run_ids": [run.id for run in found], "ahead_seconds": ahead_seconds},
    )
    return True
