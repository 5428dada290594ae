"""SQL that reads for people what a batch system does with their runs."""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from iotide_server.kit.people import are_shown
from iotide_server.runs.batch import STANDS_BY, BatchSubmission, Gateway
from iotide_server.runs.models import Attempt, BatchJob
from iotide_wire.batch import BatchSystem

_SUBMITTED: Final = text(
    """
    SELECT cluster.launcher, gateway.name, gateway.problem, gateway.seen_at, job.state, job.job_id, job.words
    FROM run JOIN cluster ON cluster.id = run.cluster_id AND cluster.launcher <> 'direct'
    LEFT JOIN LATERAL (
        SELECT node.name, worded(node.problem, node.problem_actor, :with_names) AS problem, node_beat.seen_at
        FROM node LEFT JOIN node_beat ON node_beat.node_id = node.id
        WHERE node.cluster_id = cluster.id AND node.role = 'gateway' AND node.retired_at IS NULL
        ORDER BY starts_with(coalesce(node.problem, ''), :stands_by), node_beat.seen_at DESC NULLS LAST, node.id
        LIMIT 1
    ) AS gateway ON true
    LEFT JOIN LATERAL (
        SELECT batch_job.* FROM attempt JOIN batch_job ON batch_job.attempt_id = attempt.id
        WHERE attempt.run_id = run.id AND attempt.state = 'open'
    ) AS job ON true
    WHERE run.id = :run_id
    """
)


def submitted(session: Session, run_id: int) -> BatchSubmission | None:
    """What the run's batch system does with its open attempt; None where its nodes' agents start it."""
    values = {"run_id": run_id, "stands_by": STANDS_BY, "with_names": are_shown()}
    row = session.execute(_SUBMITTED, values).one_or_none()
    if row is None:
        return None
    gateway = None if row.name is None else Gateway(row.name, row.seen_at, row.problem)
    return BatchSubmission(BatchSystem(row.launcher), gateway, row.state, row.job_id, row.words)


def jobs_of(session: Session, run_id: int) -> Mapping[int, BatchJob]:
    """The batch system's job of each of the run's attempts that had one, by the attempt's id."""
    statement = select(BatchJob).join(Attempt, Attempt.id == BatchJob.attempt_id).where(Attempt.run_id == run_id)
    return {job.attempt_id: job for job in session.scalars(statement)}
