"""SQL of a gateway's reports: the jobs that are not over, their orders, and the nodes that it vouches for."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.clusters.blackouts import START_TAKES

_OPEN_JOBS: Final = text(
    """
    SELECT batch_job.attempt_id, batch_job.system, batch_job.state, batch_job.job_id, batch_job.ending,
           batch_job.words, batch_job.started_at, attempt.run_id, attempt.fence, attempt.state = 'open' AS is_open,
           attempt.ended_at, run.cluster_id,
           -- In its job a run may wait until its node is quiet, too.
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
      AND node.id < :node_id AND node_beat.seen_at >= :heard_after
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
    # A node that holds an order speaks for itself, and its silence must show. One that is being spoken for by its own
    # agent just now is left to that.
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
    SELECT node_id, cluster_id FROM vouched WHERE seen_at < :heard_after
    """
)
_TELL_HOSTS: Final = text(
    # Only what a gateway said is taken back by one: a node that is passed over for something else stays so.
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
    """Where a job is now."""

    attempt_id: int
    state: str
    job_id: str | None
    ending: str | None
    words: str
    started_at: datetime | None


def gateway_before(session: Session, cluster_id: int, node_id: int, heard_after: datetime) -> str | None:
    """The name of the gateway of the cluster that was enrolled before this one and was heard of since; None: none."""
    values = {"cluster_id": cluster_id, "node_id": node_id, "heard_after": heard_after}
    found: str | None = session.scalar(_WORKING, values)
    return found


def lock_open_jobs(session: Session, cluster_id: int, now: datetime) -> Sequence[Row[Any]]:
    """The cluster's jobs that are not over, locked against other reports, each with its attempt; by run."""
    values = {"cluster_id": cluster_id, "now": now, "start_seconds": START_TAKES.total_seconds()}
    return session.execute(_OPEN_JOBS, values).all()


def unended_loads(session: Session, attempt_ids: Collection[int]) -> Sequence[Row[Any]]:
    """The orders of these attempts that load and have not ended, with the names of their nodes."""
    return session.execute(_LOADS, {"attempt_ids": list(attempt_ids)}).all()


def lock_unended_loads(session: Session, attempt_ids: Collection[int]) -> Sequence[Row[Any]]:
    """The same, locked against claims and beats; their runs are locked before."""
    return session.execute(_LOCKED_LOADS, {"attempt_ids": list(attempt_ids)}).all()


def move(session: Session, job: MovedJob) -> None:
    """Write where a locked job is."""
    session.execute(_MOVE, asdict(job))


def close(session: Session, attempt_ids: Collection[int]) -> None:
    """Nothing more is to come of these locked jobs."""
    if attempt_ids:
        session.execute(_OVER, {"attempt_ids": list(attempt_ids)})


def vouch(
    session: Session, cluster_id: int, names: Collection[str], heard_after: datetime, now: datetime
) -> Sequence[Row[Any]]:
    """Count the cluster's idle nodes of these names as heard of; id and cluster of those last heard of before."""
    values = {"cluster_id": cluster_id, "names": list(names), "heard_after": heard_after, "now": now}
    return session.execute(_VOUCH, values).all()


def tell_hosts(
    session: Session, cluster_id: int, problems: Collection[tuple[str, str | None]], prefix: str
) -> Sequence[Row[Any]]:
    """Write what is wrong with these nodes, beginning with `prefix`; return id and cluster of those that changed."""
    values = {
        "cluster_id": cluster_id,
        "names": [name for name, _ in problems],
        "problems": [problem for _, problem in problems],
        "prefix": prefix,
    }
    return session.execute(_TELL_HOSTS, values).all()
