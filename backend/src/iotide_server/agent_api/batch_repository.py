"""SQL of gateways' reports."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.clusters.maintenance import START_TAKES

_OPEN_JOBS: Final = text(
    """
    SELECT batch_job.attempt_id, batch_job.system, batch_job.state, batch_job.job_id, batch_job.ending,
           batch_job.words, batch_job.started_at, attempt.run_id, attempt.fence, attempt.state = 'open' AS is_open,
           attempt.ended_at, run.cluster_id,
           -- In its job a run may also wait until its node is idle.
           run.time_limit_seconds + CASE campaign.plan ->> 'quiet'
               WHEN 'wait' THEN CAST(campaign.plan ->> 'quiet_wait_seconds' AS float8) ELSE 0 END AS job_seconds,
           EXISTS (SELECT FROM campaign_window WHERE campaign_window.campaign_id = campaign.id
                   AND (NOT campaign_window.is_open OR campaign_window.start_by <= :now))
               OR EXISTS (SELECT FROM blackout WHERE blackout.cluster_id = run.cluster_id AND blackout.ends_at > :now
                          AND blackout.starts_at <= :now + (run.time_limit_seconds + :start_seconds) * interval '1 s')
               AS is_too_late
    FROM batch_job JOIN attempt ON attempt.id = batch_job.attempt_id JOIN run ON run.id = attempt.run_id
    JOIN campaign ON campaign.id = run.campaign_id
    WHERE batch_job.cluster_id = :cluster_id AND NOT batch_job.is_over
    ORDER BY attempt.run_id FOR NO KEY UPDATE OF batch_job
    """
)
_WORKING: Final = text(
    """
    SELECT node.name FROM node JOIN node_beat ON node_beat.node_id = node.id
    WHERE node.cluster_id = :cluster_id AND node.role = 'gateway' AND node.retired_at IS NULL
      AND node.id < :node_id AND node_beat.seen_at >= :seen_after
    ORDER BY node.id LIMIT 1
    """
)
_LOADS: Final = text(
    """
    SELECT node_order.attempt_id, node_order.id, node.name, node_order.state, node_order.silent_since,
           node_order.cancel_wanted_at
    FROM node_order JOIN node ON node.id = node_order.node_id
    WHERE node_order.attempt_id = ANY(:attempt_ids) AND node_order.role = 'load' AND node_order.state <> 'ended'
    ORDER BY node_order.id
    """
)
_LOCKED_LOADS: Final = text(_LOADS.text + " FOR NO KEY UPDATE OF node_order")
_MOVE: Final = text(
    """
    UPDATE batch_job SET state = :state, job_id = :job_id, ending = :ending, words = :words, started_at = :started_at
    WHERE attempt_id = :attempt_id
    """
)
_OVER: Final = text("UPDATE batch_job SET is_over = true WHERE attempt_id = ANY(:attempt_ids)")
_VOUCH: Final = text(
    # The silence of a node with an order must show. Skip locked rows, whose own agent is sending a heartbeat.
    """
    WITH vouched AS MATERIALIZED (
        SELECT node_beat.node_id, node_beat.seen_at, node.cluster_id
        FROM node JOIN node_beat ON node_beat.node_id = node.id
        WHERE node.cluster_id = :cluster_id AND node.name = ANY(:names) AND node.role <> 'gateway'
          AND node.retired_at IS NULL AND NOT EXISTS (
              SELECT FROM node_order WHERE node_order.node_id = node.id AND node_order.role = 'load'
              AND node_order.state NOT IN ('offered', 'ended'))
        ORDER BY node_beat.node_id FOR NO KEY UPDATE OF node_beat SKIP LOCKED
    ), heard AS (
        UPDATE node_beat SET seen_at = greatest(node_beat.seen_at, :now) FROM vouched
        WHERE node_beat.node_id = vouched.node_id
    )
    SELECT node_id, cluster_id FROM vouched WHERE seen_at < :seen_after
    """
)
_WRITE_HOST_PROBLEMS: Final = text(
    # A gateway only clears problems with its prefix.
    """
    WITH said AS (
        SELECT * FROM unnest(CAST(:names AS text[]), CAST(:problems AS text[])) AS said (name, problem)
    ), changed AS (
        SELECT node.id, said.problem FROM node JOIN said ON said.name = node.name
        WHERE node.cluster_id = :cluster_id AND node.role <> 'gateway' AND node.retired_at IS NULL
          AND node.problem IS DISTINCT FROM said.problem
          AND (node.problem IS NULL OR starts_with(node.problem, :prefix))
        ORDER BY node.id FOR NO KEY UPDATE OF node
    )
    UPDATE node SET problem = changed.problem FROM changed WHERE node.id = changed.id
    RETURNING node.id AS node_id, node.cluster_id
    """
)


@dataclass(frozen=True, slots=True)
class MovedJob:
    attempt_id: int
    state: str
    job_id: str | None
    ending: str | None
    words: str
    started_at: datetime | None


def gateway_before(session: Session, cluster_id: int, node_id: int, seen_after: datetime) -> str | None:
    values = {"cluster_id": cluster_id, "node_id": node_id, "seen_after": seen_after}
    found: str | None = session.scalar(_WORKING, values)
    return found


def lock_open_jobs(session: Session, cluster_id: int, now: datetime) -> Sequence[Row[Any]]:
    values = {"cluster_id": cluster_id, "now": now, "start_seconds": START_TAKES.total_seconds()}
    return session.execute(_OPEN_JOBS, values).all()


def unended_loads(session: Session, attempt_ids: Collection[int]) -> Sequence[Row[Any]]:
    return session.execute(_LOADS, {"attempt_ids": list(attempt_ids)}).all()


def lock_unended_loads(session: Session, attempt_ids: Collection[int]) -> Sequence[Row[Any]]:
    """Return `unended_loads`, locked against claims and heartbeats. Lock their runs first."""
    return session.execute(_LOCKED_LOADS, {"attempt_ids": list(attempt_ids)}).all()


def move(session: Session, job: MovedJob) -> None:
    session.execute(_MOVE, asdict(job))


def close(session: Session, attempt_ids: Collection[int]) -> None:
    if attempt_ids:
        session.execute(_OVER, {"attempt_ids": list(attempt_ids)})


def vouch(
    session: Session, cluster_id: int, names: Collection[str], seen_after: datetime, now: datetime
) -> Sequence[Row[Any]]:
    """Count these idle nodes as online. Return id and cluster of those that were silent."""
    values = {"cluster_id": cluster_id, "names": list(names), "seen_after": seen_after, "now": now}
    return session.execute(_VOUCH, values).all()


def write_host_problems(
    session: Session, cluster_id: int, problems: Collection[tuple[str, str | None]], prefix: str
) -> Sequence[Row[Any]]:
    """Return id and cluster of the changed nodes."""
    values = {
        "cluster_id": cluster_id,
        "names": [name for name, _ in problems],
        "problems": [problem for _, problem in problems],
        "prefix": prefix,
    }
    return session.execute(_WRITE_HOST_PROBLEMS, values).all()
