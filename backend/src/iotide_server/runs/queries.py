"""SQL that reads runs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, func, select, text
from sqlalchemy.orm import Session
from sqlalchemy.types import String

from iotide_server.clusters.maintenance import START_TAKES
from iotide_server.clusters.models import Node
from iotide_server.kit.db import array_of
from iotide_server.kit.pagination import PageRequest, Slice
from iotide_server.kit.people import are_shown, named
from iotide_server.runs.batch import STANDS_BY, BatchSubmission, Gateway
from iotide_server.runs.explanation import Drained
from iotide_server.runs.models import Attempt, BatchJob, Order, RunEvent
from iotide_server.runs.schemas import RunFilter
from iotide_wire.batch import BatchSystem

AnyRow = Row[Any]
EventRow = Row[int, datetime, str, str]

_FEW_FLAGS: Final = """
    CASE WHEN octet_length(run.flags::text) <= 16384 THEN run.flags ELSE (
        SELECT jsonb_agg(first.flag || jsonb_build_object(
            'measured', left(first.flag ->> 'measured', 150), 'limit', left(first.flag ->> 'limit', 150),
            'labels', CASE WHEN octet_length((first.flag -> 'labels')::text) <= 500 THEN first.flag -> 'labels'
                           ELSE '{}' END) ORDER BY first.place)
        FROM (
            SELECT DISTINCT ON (flag -> 'code', flag -> 'effect') flag, place
            FROM jsonb_array_elements(run.flags) WITH ORDINALITY AS each (flag, place)
            ORDER BY flag -> 'code', flag -> 'effect', place
        ) AS first
    ) END AS flags
"""
"""Shortens very many flags to the first of each code and effect: a page has hundreds of runs."""
_DESCRIBED_RUNS: Final = """
    SELECT run.id, run.campaign_id, run.cell_id, run.cluster_id, run.repeat, run.state, run.validity, run.flags,
           run.overdue, run.exclusive, run.not_before, run.created_at, run.ended_at, run.reason_code,
           worded(run.reason, run.reason_actor, :with_names) AS reason,
           run.attempts_made, run.environment_sha256, run.not_judged,
           cell.usual_flags,
           coalesce(run.started_at, slowest.started_at) AS started_at,
           campaign.name AS campaign_name, workload.name AS workload, cell.options, cell.variant,
           campaign_stage.ordinal AS stage, campaign_stage.state AS stage_state, campaign_stage.pause,
           ARRAY(SELECT name FROM node JOIN cell_node ON node_id = id WHERE cell_id = cell.id ORDER BY name)
               AS node_names,
           ARRAY(SELECT name FROM target JOIN cell_target ON target_id = id WHERE cell_id = cell.id ORDER BY name)
               AS target_names,
           CASE run.state WHEN 'finished' THEN 1.0 WHEN 'active' THEN slowest.progress END AS progress,
           CASE run.state WHEN 'active' THEN slowest.phase END AS phase
    FROM run
    JOIN campaign ON campaign.id = run.campaign_id
    JOIN cell ON cell.id = run.cell_id
    JOIN workload ON workload.id = cell.workload_id
    LEFT JOIN campaign_stage ON campaign_stage.campaign_id = cell.campaign_id AND campaign_stage.ordinal = cell.stage
    LEFT JOIN LATERAL (
        SELECT node_order.progress, coalesce(nullif(node_order.phase, ''), node_order.state) AS phase,
               node_order.started_at
        FROM node_order JOIN attempt ON attempt.id = node_order.attempt_id
        LEFT JOIN cell_node AS part ON part.cell_id = run.cell_id AND part.node_id = node_order.node_id
        WHERE node_order.run_id = run.id AND node_order.role = 'load' AND attempt.state = 'open'
        -- A member that has started knows nothing of the program's progress.
        ORDER BY part.step_role IS NOT DISTINCT FROM 'member' AND node_order.state IN ('running', 'uploading'),
            node_order.progress NULLS FIRST, array_position(
            ARRAY['offered', 'claimed', 'preflight', 'ready', 'running', 'uploading'], node_order.state) LIMIT 1
    ) AS slowest ON true
"""
CONDITIONS: Final = {
    "campaign_id": "run.campaign_id = :campaign_id",
    "cluster_id": "run.cluster_id = :cluster_id",
    "state": "run.state = :state",
    "node_id": "EXISTS (SELECT FROM cell_node WHERE cell_id = run.cell_id AND node_id = :node_id)",
    "target_id": "EXISTS (SELECT FROM cell_target WHERE cell_id = run.cell_id AND target_id = :target_id)",
    "workload": "workload.name = :workload",
    "series_id": "EXISTS (SELECT FROM sample WHERE run_id = run.id AND series_id = :series_id)",
    "visible": "run.cluster_id = ANY(:visible)",
    "before_id": "run.id < :before_id",
}
_WANTED = text(
    """
    WITH wanted AS (
        SELECT 'node' AS kind, node.id, node.name, shared_leases, exclusive_leases, slots, cooling_until,
               worded(problem, problem_actor, :with_names) AS problem, node.stuck, seen_at,
               retired_at IS NOT NULL AS is_retired
        FROM run JOIN cell_node USING (cell_id) JOIN node ON node.id = cell_node.node_id
        LEFT JOIN node_beat ON node_beat.node_id = node.id
        WHERE run.id = :run_id
        UNION ALL
        SELECT 'target', target.id, target.name, shared_leases, exclusive_leases, NULL, cooling_until, (
                   SELECT string_agg('run ' || node_order.run_id || ' cannot be killed on node ' || holder.name
                                     || ' and may still write there', '; ' ORDER BY node_order.id)
                   FROM node_order JOIN node AS holder ON holder.id = node_order.node_id
                   JOIN run AS other ON other.id = node_order.run_id
                   JOIN cell_target AS held ON held.cell_id = other.cell_id
                   WHERE node_order.stuck_since IS NOT NULL AND held.target_id = target.id
               ), NULL, NULL, retired_at IS NOT NULL
        FROM run JOIN cell_target USING (cell_id) JOIN target ON target.id = cell_target.target_id
        WHERE run.id = :run_id AND target.scope = 'shared'
        UNION ALL
        SELECT 'cluster', cluster.id, cluster.name, shared_leases, exclusive_leases, NULL, cooling_until, NULL, NULL,
               NULL, false
        FROM run JOIN cluster ON cluster.id = run.cluster_id
        WHERE run.id = :run_id
    )
    SELECT wanted.*, ARRAY(
        SELECT DISTINCT node_order.run_id FROM lease JOIN node_order ON node_order.id = lease.order_id
        WHERE lease.active AND lease.resource_kind = wanted.kind AND lease.resource_id = wanted.id
        ORDER BY 1 LIMIT 4
    ) AS holders
    FROM wanted ORDER BY array_position(ARRAY['node', 'target', 'cluster'], kind), name
    """
)
_MOUNT_PROBLEMS = text(
    """
    SELECT 'target ' || target.name || ' on node ' || node.name || ': ' || target_mount.problem
    FROM run JOIN cell_node USING (cell_id) JOIN cell_target USING (cell_id)
    JOIN target_mount USING (node_id, target_id)
    JOIN node ON node.id = node_id JOIN target ON target.id = target_id
    WHERE run.id = :run_id AND target_mount.problem IS NOT NULL AND cell_node.step_role IS DISTINCT FROM 'sender'
    ORDER BY target.name, node.name
    """
)
_DRAINS = text(
    """
    SELECT CASE kind WHEN 'all' THEN 'everything' ELSE kind || ' ' || coalesce(node.name, target.name, cluster.name) END
               AS what, drain.by, drain.reason, drain.until
    FROM run JOIN drain ON kind = 'all' OR (kind = 'cluster' AND subject_id = run.cluster_id)
        OR (kind = 'node' AND EXISTS (SELECT FROM cell_node WHERE cell_id = run.cell_id AND node_id = subject_id))
        OR (kind = 'target' AND EXISTS (SELECT FROM cell_target WHERE cell_id = run.cell_id AND target_id = subject_id))
    LEFT JOIN node ON kind = 'node' AND node.id = subject_id
    LEFT JOIN target ON kind = 'target' AND target.id = subject_id
    LEFT JOIN cluster ON kind = 'cluster' AND cluster.id = subject_id
    WHERE run.id = :run_id ORDER BY array_position(ARRAY['all', 'cluster', 'node', 'target'], kind), what
    """
)
_QUEUE = text(
    # Select the first runs before reading more: a hundred thousand may wait.
    """
    WITH shown AS MATERIALIZED (
        SELECT run.id, run.sort_key + coalesce(fair_share.stands_back_seconds, 0) AS place_key
        FROM run JOIN campaign ON campaign.id = run.campaign_id
        LEFT JOIN fair_share ON fair_share.cluster_id = run.cluster_id
             AND fair_share.owner_id = coalesce(campaign.owner_id, 0)
        WHERE run.state = 'waiting' AND run.cluster_id = :cluster_id
          AND (CAST(:campaign_id AS bigint) IS NULL OR run.campaign_id = :campaign_id)
        ORDER BY place_key, run.id LIMIT :limit
    )
    SELECT run.id, run.state, run.campaign_id, campaign.name AS campaign_name, user_account.name AS owner,
           coalesce(CAST(campaign.plan ->> 'priority' AS bigint), 0) AS priority, run.repeat, workload.name AS workload,
           run.cluster_id, run.exclusive, run.not_before, worded(run.reason, run.reason_actor, :with_names) AS reason,
           run.created_at, cell.variant,
           campaign_stage.ordinal AS stage, campaign_stage.state AS stage_state, campaign_stage.pause,
           ARRAY(SELECT name FROM node JOIN cell_node ON node_id = id WHERE cell_id = cell.id ORDER BY name)
               AS node_names,
           ARRAY(SELECT name FROM target JOIN cell_target ON target_id = id WHERE cell_id = cell.id ORDER BY name)
               AS target_names
    FROM shown JOIN run ON run.id = shown.id
    JOIN campaign ON campaign.id = run.campaign_id
    JOIN cell ON cell.id = run.cell_id
    JOIN workload ON workload.id = cell.workload_id
    LEFT JOIN user_account ON user_account.id = campaign.owner_id
    LEFT JOIN campaign_stage ON campaign_stage.campaign_id = cell.campaign_id AND campaign_stage.ordinal = cell.stage
    ORDER BY shown.place_key, run.id
    """
)
_WAITING = text(
    "SELECT count(*) FROM run WHERE state = 'waiting' AND cluster_id = :cluster_id"
    " AND (CAST(:campaign_id AS bigint) IS NULL OR campaign_id = :campaign_id)"
)
_PLACES: Final = """
    SELECT place.node_id, place.run_id, place.sort_key + coalesce(stands_back_seconds, 0) AS place_key
    FROM line_place AS place JOIN node ON node.id = place.node_id
    LEFT JOIN fair_share ON fair_share.cluster_id = node.cluster_id AND fair_share.owner_id = place.owner_id
"""
_AHEAD = text(
    f"""
    WITH own AS MATERIALIZED (
        SELECT run_id, min(place_key) AS place_key, array_agg(node_id ORDER BY node_id) AS node_ids
        FROM ({_PLACES} WHERE place.run_id = ANY(:run_ids)) AS place GROUP BY run_id
    ), together AS MATERIALIZED (
        SELECT row_number() OVER () AS number, node_ids, max(place_key) AS last_key,
               (array_agg(run_id ORDER BY place_key DESC, run_id DESC))[1] AS last_run_id
        FROM own GROUP BY node_ids
    ), ranked AS (
        SELECT number, run_id, row_number() OVER (PARTITION BY number ORDER BY place_key, run_id) - 1 AS ahead
        FROM (
            SELECT DISTINCT together.number, earlier.run_id, earlier.place_key
            FROM together CROSS JOIN LATERAL ({_PLACES} WHERE place.node_id = ANY(together.node_ids)) AS earlier
            WHERE (earlier.place_key, earlier.run_id) <= (together.last_key, together.last_run_id)
        ) AS earlier
    )
    SELECT own.run_id, ranked.ahead FROM own JOIN together USING (node_ids) JOIN ranked USING (number, run_id)
    """  # noqa: S608 - made of the constant above
)
_STANDS_BACK = text(
    """
    SELECT stands_back_seconds FROM run JOIN campaign ON campaign.id = run.campaign_id
    JOIN fair_share ON fair_share.cluster_id = run.cluster_id AND fair_share.owner_id = coalesce(campaign.owner_id, 0)
    WHERE run.id = :run_id
    """
)

_CALENDAR = text(
    """
    SELECT campaign.plan -> 'window' AS hours, closed.opens_at,
           blackout.starts_at, blackout.ends_at, blackout.reason
    FROM run JOIN campaign ON campaign.id = run.campaign_id
    LEFT JOIN campaign_window AS closed
        ON closed.campaign_id = run.campaign_id AND NOT closed.is_open AND closed.opens_at > :now
    LEFT JOIN LATERAL (
        SELECT starts_at, ends_at, reason FROM blackout
        WHERE blackout.cluster_id = run.cluster_id AND blackout.ends_at > :now
          AND blackout.starts_at <= :now + (run.time_limit_seconds + :start_seconds) * interval '1 s'
        ORDER BY starts_at LIMIT 1
    ) AS blackout ON true
    WHERE run.id = :run_id
    """
)


def described_run(session: Session, run_id: int) -> AnyRow | None:
    values = {"run_id": run_id, "with_names": are_shown()}
    return session.execute(text(_DESCRIBED_RUNS + "WHERE run.id = :run_id"), values).one_or_none()


def runs_page(
    session: Session, visible: frozenset[int] | None, wanted: RunFilter, paging: PageRequest
) -> Slice[AnyRow]:
    """Return runs of the visible clusters (None: all), newest first."""
    values = {**asdict(wanted), "visible": array_of(visible), "before_id": paging.before_id}
    given = {name: value for name, value in values.items() if value is not None}
    conditions = " AND ".join(CONDITIONS[name] for name in given)
    described = _DESCRIBED_RUNS.replace("run.flags", _FEW_FLAGS).replace("run.not_judged", "NULL AS not_judged")
    statement = text(described + f"WHERE {conditions} ORDER BY run.id DESC LIMIT :limit")
    rows = session.execute(statement, {**given, "with_names": are_shown(), "limit": paging.limit + 1}).all()
    return paging.cut(rows, key=lambda row: int(row.id))


def attempts(session: Session, run_id: int) -> Sequence[Row[Attempt, str | None]]:
    reason = func.worded(Attempt.reason, Attempt.reason_actor, are_shown(), type_=String)
    return session.execute(select(Attempt, reason).where(Attempt.run_id == run_id).order_by(Attempt.ordinal)).all()


def orders(session: Session, run_id: int) -> Sequence[Row[Order, str]]:
    statement = select(Order, Node.name).join(Node, Node.id == Order.node_id).where(Order.run_id == run_id)
    return session.execute(statement.order_by(Order.id)).all()


def step_roles(session: Session, run_id: int) -> dict[int, str]:
    statement = text(
        "SELECT node_id, step_role FROM run JOIN cell_node USING (cell_id)"
        " WHERE run.id = :run_id AND step_role IS NOT NULL"
    )
    return {row.node_id: row.step_role for row in session.execute(statement, {"run_id": run_id})}


def events_page(session: Session, run_id: int, paging: PageRequest) -> Slice[EventRow]:
    words = func.worded(RunEvent.text, RunEvent.actor, are_shown(), type_=String).label("text")
    statement = select(RunEvent.id, RunEvent.at, RunEvent.kind, words)
    statement = statement.where(RunEvent.run_id == run_id, RunEvent.id > paging.after_id)
    rows = session.execute(statement.order_by(RunEvent.id).limit(paging.limit + 1)).all()
    page = paging.cut(rows, key=lambda row: row.id)
    # Of two transactions at a time, the first id may have the later time.
    return replace(page, rows=sorted(page.rows, key=lambda row: row.at))


def wanted_resources(session: Session, run_id: int) -> Sequence[AnyRow]:
    return session.execute(_WANTED, {"run_id": run_id, "with_names": are_shown()}).all()


def mount_problems(session: Session, run_id: int) -> Sequence[str]:
    return session.scalars(_MOUNT_PROBLEMS, {"run_id": run_id}).all()


def calendar(session: Session, run_id: int, now: datetime) -> AnyRow:
    values = {"run_id": run_id, "now": now, "start_seconds": START_TAKES.total_seconds()}
    return session.execute(_CALENDAR, values).one()


def runs_ahead(session: Session, run_ids: Sequence[int]) -> dict[int, int]:
    """Count the runs ahead by run id; runs in no queue are left out."""
    return {row.run_id: row.ahead for row in session.execute(_AHEAD, {"run_ids": list(run_ids)})}


def drains(session: Session, run_id: int) -> list[Drained]:
    rows = session.execute(_DRAINS, {"run_id": run_id})
    return [Drained(row.what, named(row.by), row.reason, row.until) for row in rows]


def queue(session: Session, cluster_id: int, campaign_id: int | None, limit: int) -> Sequence[AnyRow]:
    values = {"cluster_id": cluster_id, "campaign_id": campaign_id, "limit": limit, "with_names": are_shown()}
    return session.execute(_QUEUE, values).all()


def waiting_count(session: Session, cluster_id: int, campaign_id: int | None) -> int:
    return int(session.execute(_WAITING, {"cluster_id": cluster_id, "campaign_id": campaign_id}).scalar_one())


def stands_back_seconds(session: Session, run_id: int) -> float:
    return float(session.execute(_STANDS_BACK, {"run_id": run_id}).scalar() or 0.0)


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
    """Return the batch job of the open attempt; None if the nodes' agents start it."""
    values = {"run_id": run_id, "stands_by": STANDS_BY, "with_names": are_shown()}
    row = session.execute(_SUBMITTED, values).one_or_none()
    if row is None:
        return None
    gateway = None if row.name is None else Gateway(row.name, row.seen_at, row.problem)
    return BatchSubmission(BatchSystem(row.launcher), gateway, row.state, row.job_id, row.words)


def jobs_of(session: Session, run_id: int) -> Mapping[int, BatchJob]:
    statement = select(BatchJob).join(Attempt, Attempt.id == BatchJob.attempt_id).where(Attempt.run_id == run_id)
    return {job.attempt_id: job for job in session.scalars(statement)}
