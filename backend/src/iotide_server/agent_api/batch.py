"""Reports of gateways about jobs and hosts of a batch system."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row
from sqlalchemy.orm import Session

from iotide_server.agent_api import batch_repository as repository
from iotide_server.agent_api.batch_jobs import WANTED, Decided, KnownJob, decide
from iotide_server.agent_api.batch_repository import MovedJob
from iotide_server.agent_api.errors import LAUNCHER_DIFFERS, NOT_A_GATEWAY
from iotide_server.agent_api.repository import log_lines
from iotide_server.change_feed import service as live
from iotide_server.clusters import service as clusters
from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.wake import wake_scheduler
from iotide_server.results.ingest.limits import DEFAULTS, ReportLimits
from iotide_server.runs import batch
from iotide_server.runs import repository as run_repository
from iotide_server.runs import service as runs
from iotide_server.runs.batch import NAMES, EndedJob
from iotide_server.runs.endings import Ending
from iotide_server.runs.models import Order, RunEvent
from iotide_wire.batch import BatchReply, BatchReport, BatchSystem, JobNode, JobState, SeenJob, WantedJob
from iotide_wire.messages import NodeRole, OrderState

_Verdict = Callable[[Row[Any]], Ending | None]
"""Returns how an order ends; None: not yet, or something else ends it."""


def report(
    session: Session, node_id: int, request: BatchReport, now: datetime, limits: ReportLimits = DEFAULTS
) -> BatchReply:
    """Store a gateway's report. Repeated or late reports do no damage.

    Only the cluster's first online gateway works, because each lists only its own user's jobs, and all others
    would seem to have vanished. Raise NOT_A_GATEWAY, LAUNCHER_DIFFERS or AGENT_SUPERSEDED.
    """
    cluster_id = _cluster_of(session, node_id, request.system)
    submit: list[WantedJob] = []
    cancel: list[str] = []
    working = repository.gateway_before(session, cluster_id, node_id, now - SILENT_AFTER)
    problem = request.problem if working is None else f"{batch.STANDS_BY} until {working} is silent or retired"
    if problem is None:
        submit, cancel = _take_jobs(session, cluster_id, request, now, limits)
        _take_hosts(session, cluster_id, request, now)
    wanted = agents.heartbeat(session, node_id, request.agent_instance, now, clock=request.clock)
    agents.write_problem(session, node_id, problem)
    return BatchReply(
        submit=tuple(submit), cancel=tuple(cancel), hello_wanted=wanted.hello, rotation_wanted=wanted.rotation
    )


def _cluster_of(session: Session, node_id: int, system: BatchSystem) -> int:
    node, cluster = clusters.node_and_cluster(session, node_id)
    if node.role != NodeRole.GATEWAY:
        raise NOT_A_GATEWAY(node=node.name, role=node.role)
    if cluster.launcher != system:
        raise LAUNCHER_DIFFERS(cluster=cluster.name, launcher=cluster.launcher, system=system)
    return cluster.id


def _take_jobs(
    session: Session, cluster_id: int, request: BatchReport, now: datetime, limits: ReportLimits
) -> tuple[list[WantedJob], list[str]]:
    seen: defaultdict[tuple[int, int], list[SeenJob]] = defaultdict(list)
    for job in request.jobs:
        seen[job.run_id, job.fence].append(job)
    refusals = {(refused.run_id, refused.fence): refused.words for refused in request.refused}
    rows = repository.lock_open_jobs(session, cluster_id, now)
    loads = _loads_of(session, rows)
    submit: list[WantedJob] = []
    cancel: list[str] = []
    over: list[int] = []
    verdicts: dict[int, _Verdict] = {}
    for row in rows:
        key = (row.run_id, row.fence)
        decided = decide(_known(row, loads[row.attempt_id]), seen[key], now)
        _write(session, row, decided.moved, now, limits)
        cancel += decided.cancel
        over += [row.attempt_id] * decided.is_over
        if decided.is_wanted and key not in refusals:
            submit.append(_wanted(row, loads[row.attempt_id]))
        elif row.is_open and (verdict := _verdict(row, decided, refusals.get(key), now)):
            verdicts[row.attempt_id] = verdict
    _settle(session, [row.run_id for row in rows if row.attempt_id in verdicts], verdicts, now)
    repository.close(session, over)
    return submit, cancel


def _loads_of(session: Session, rows: Sequence[Row[Any]]) -> Mapping[int, list[Row[Any]]]:
    loads: defaultdict[int, list[Row[Any]]] = defaultdict(list)
    for load in repository.unended_loads(session, [row.attempt_id for row in rows]):
        loads[load.attempt_id].append(load)
    return loads


def _known(row: Row[Any], loads: Sequence[Row[Any]]) -> KnownJob:
    return KnownJob(
        attempt_id=row.attempt_id,
        state=row.state,
        job_id=row.job_id,
        ending=row.ending,
        words=row.words,
        started_at=row.started_at,
        is_open=row.is_open,
        attempt_ended_at=row.ended_at,
        is_cancel_wanted=any(load.cancel_wanted_at is not None for load in loads),
        has_offers=any(load.state == OrderState.OFFERED for load in loads),
        is_too_late=row.is_too_late,
    )


def _write(session: Session, row: Row[Any], moved: MovedJob | None, now: datetime, limits: ReportLimits) -> None:
    if moved is None:
        return
    repository.move(session, moved)
    if (row.state, row.job_id) != (moved.state, moved.job_id):
        name = NAMES[BatchSystem(row.system)]
        said = f" ({moved.words})" if moved.words else ""
        words = f"{name} job {moved.job_id}: {moved.ending or moved.state}{said}"
        line = RunEvent(run_id=row.run_id, at=now, kind="batch_job", text=words)
        if log_lines(session, line) < limits.log_lines:
            session.add(line)
    live.publish(session, "run", row.run_id, row.cluster_id)


def _verdict(row: Row[Any], decided: Decided, refusal: str | None, now: datetime) -> _Verdict | None:
    system = BatchSystem(row.system)
    if decided.is_wanted and refusal is not None:
        refused = batch.refused(system, refusal, now)
        return lambda load: refused if load.state == OrderState.OFFERED else None
    job = decided.moved or row
    if row.is_too_late and job.state in {WANTED, JobState.PENDING}:
        too_late = batch.too_late(system, now)
        return lambda load: too_late if load.state == OrderState.OFFERED else None
    if job.state != JobState.ENDED:
        return None
    ended = EndedJob(system, job.job_id or "?", job.ending or batch.VANISHED, job.words)

    def end(load: Row[Any]) -> Ending | None:
        return batch.end_of_order(ended, OrderState(load.state), now, is_silent=load.silent_since is not None)

    return end


def _settle(session: Session, run_ids: Sequence[int], verdicts: Mapping[int, _Verdict], now: datetime) -> None:
    """End the orders of jobs that have ended or were refused, unless their agents will end them."""
    if not verdicts:
        return
    run_repository.lock_active_runs(session, run_ids)
    endings = []
    for load in repository.lock_unended_loads(session, list(verdicts)):
        ending = verdicts[load.attempt_id](load)
        if ending is not None:
            endings.append((session.get_one(Order, load.id), ending))
    if endings:
        runs.end_orders(session, endings, now)


def _wanted(row: Row[Any], loads: Sequence[Row[Any]]) -> WantedJob:
    return WantedJob(
        run_id=row.run_id,
        fence=row.fence,
        nodes=tuple(JobNode(name=load.name, order_id=load.id) for load in loads),
        time_limit_seconds=row.job_seconds,
    )


def _take_hosts(session: Session, cluster_id: int, request: BatchReport, now: datetime) -> None:
    """Count idle nodes as online if the batch system does. The scheduler skips those reported as down."""
    prefix = f"{NAMES[request.system]} says: "
    up = [host.name for host in request.hosts if host.is_up]
    problems = [(host.name, None if host.is_up else prefix + host.words) for host in request.hosts]
    changed = repository.write_host_problems(session, cluster_id, problems, prefix)
    back = repository.vouch(session, cluster_id, up, now - SILENT_AFTER, now)
    changed_nodes = {("node", row.node_id, row.cluster_id) for row in [*changed, *back]}
    if changed_nodes:
        live.publish_all(session, sorted(changed_nodes))
        wake_scheduler(session, "node")
