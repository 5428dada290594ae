"""Read access to runs for routes and other modules."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.clusters import service as clusters
from iotide_server.clusters.agents.stuck import problem_of
from iotide_server.kit.pagination import PageRequest, Slice
from iotide_server.runs import batch, forecast, queries, queued
from iotide_server.runs.declines import declined_alike
from iotide_server.runs.errors import RUN_NOT_FOUND
from iotide_server.runs.explanation import (
    ClosedWindow,
    DeclinedAlike,
    Maintenance,
    NeededResource,
    Wait,
    sentence,
    stage_obstacle,
    waiting_because,
)
from iotide_server.runs.forecast import MOST_AHEAD, Expectation
from iotide_server.runs.lifecycle import RunState
from iotide_server.runs.queries import AnyRow, EventRow
from iotide_server.runs.resources import Need, Occupancy, Resource, ResourceKind, needs
from iotide_server.runs.schemas import AttemptOutput, Queue, QueueChoice, QueuedRun, RunFilter, RunOrder
from iotide_wire.messages import OrderRole
from iotide_wire.plan import Exclusivity
from iotide_wire.window import Window


def run(session: Session, principal: Principal, run_id: int) -> AnyRow:
    """Raise RUN_NOT_FOUND."""
    row = queries.described_run(session, run_id)
    return principal.require_row(Role.VIEWER, row, RUN_NOT_FOUND(run_id=run_id))


def list_runs(session: Session, principal: Principal, wanted: RunFilter, paging: PageRequest) -> Slice[AnyRow]:
    return queries.runs_page(session, principal.visible_clusters(), wanted, paging)


def events(session: Session, principal: Principal, run_id: int, paging: PageRequest) -> Slice[EventRow]:
    """Raise RUN_NOT_FOUND."""
    run(session, principal, run_id)
    return queries.events_page(session, run_id, paging)


def attempts(session: Session, run_id: int) -> list[AttemptOutput]:
    by_attempt: defaultdict[int, list[RunOrder]] = defaultdict(list)
    step_roles = queries.step_roles(session, run_id)
    for order, node_name in queries.orders(session, run_id):
        shown = RunOrder.of_row(order, node_name=node_name, step_role=step_roles.get(order.node_id))
        by_attempt[order.attempt_id].append(shown)
    jobs = queries.jobs_of(session, run_id)
    return [
        AttemptOutput.of_row(
            attempt,
            go_at=attempt.go_at if attempt.go_agreed_at is not None else None,
            start_skew_seconds=_start_skew(by_attempt[attempt.id]),
            reason=reason,
            batch_job=jobs.get(attempt.id),
            orders=by_attempt[attempt.id],
        )
        for attempt, reason in queries.attempts(session, run_id)
    ]


def _start_skew(orders: Sequence[RunOrder]) -> float | None:
    started = [order.started_at for order in orders if order.role is OrderRole.LOAD and order.started_at]
    return (max(started) - min(started)).total_seconds() if len(started) > 1 else None


def why_waiting(session: Session, found: AnyRow, now: datetime) -> str | None:
    if found.state == RunState.WAITING:
        return waiting_because(_waits(session, [found], now)[0], now)
    submitted = queries.submitted(session, found.id) if found.state == RunState.ACTIVE else None
    reason = None if submitted is None else batch.waits_for_job(submitted, now)
    return None if reason is None else sentence(reason)


def _waits(session: Session, rows: Sequence[AnyRow], now: datetime) -> list[Wait]:
    run_ids = [row.id for row in rows]
    ahead, alike = queries.runs_ahead(session, run_ids), declined_alike(session, run_ids, now)
    return [_wait(session, row, ahead.get(row.id, 0), alike.get(row.id), now) for row in rows]


def _wait(session: Session, found: AnyRow, ahead: int, alike: DeclinedAlike | None, now: datetime) -> Wait:
    submitted = queries.submitted(session, found.id)
    rows = {Resource(ResourceKind(row.kind), row.id): row for row in queries.wanted_resources(session, found.id)}
    by_kind = {kind: [resource.id for resource in rows if resource.kind is kind] for kind in ResourceKind}
    wanted = needs(
        Exclusivity(found.exclusive), by_kind[ResourceKind.NODE], by_kind[ResourceKind.TARGET], found.cluster_id
    )
    calendar = queries.calendar(session, found.id, now)
    return Wait(
        wanted=[_wanted(need, rows[need.resource], now) for need in wanted],
        mount_problems=queries.mount_problems(session, found.id),
        not_before=found.not_before,
        last_reason=found.reason,
        ahead=ahead,
        stage=stage_obstacle(found.stage, found.variant, found.stage_state, found.pause),
        drained=queries.drains(session, found.id),
        window=calendar.opens_at and ClosedWindow(str(Window.model_validate(calendar.hours)), calendar.opens_at),
        maintenance=calendar.starts_at and Maintenance(calendar.starts_at, calendar.ends_at, calendar.reason),
        stands_back_seconds=queries.stands_back_seconds(session, found.id),
        batch=None if submitted is None else batch.gateway_obstacle(submitted, now),
        declined_alike=alike,
    )


def queue(session: Session, principal: Principal, cluster_id: int, wanted: QueueChoice, now: datetime) -> Queue:
    """Raise CLUSTER_NOT_FOUND."""
    clusters.cluster(session, principal, cluster_id)
    rows = queries.queue(session, cluster_id, wanted.campaign_id, wanted.limit)
    waiting = queries.waiting_count(session, cluster_id, wanted.campaign_id)
    runs = [
        QueuedRun.of_row(row, run_id=row.id, waiting_because=waiting_because(wait, now))
        for row, wait in zip(rows, _waits(session, rows, now), strict=True)
    ]
    return Queue(waiting=waiting, runs=runs)


def expected_start(session: Session, found: AnyRow, now: datetime) -> Expectation | None:
    if found.state != RunState.WAITING:
        return None
    stage = stage_obstacle(found.stage, found.variant, found.stage_state, found.pause)
    if stage is not None:
        return Expectation(None, stage)
    drained = queries.drains(session, found.id)
    if drained:
        return Expectation(None, f"{drained[0].what} is drained")
    calendar = queries.calendar(session, found.id, now)
    if calendar.opens_at is not None or calendar.starts_at is not None:
        return Expectation(None, "it depends on the campaign's window or a maintenance window")
    queue = queued.queue_before(session, found.id, now)
    if queue is None:
        return Expectation(None, f"more than {MOST_AHEAD} runs are ahead in its cluster")
    wanted = {need.resource for run in queue for need in run.needs}
    return forecast.expected_start(found.id, queue, queued.holdings(session, wanted, now), now)


def _wanted(need: Need, row: AnyRow, now: datetime) -> NeededResource:
    is_cooling = row.cooling_until is not None and row.cooling_until > now
    return NeededResource(
        kind=need.resource.kind,
        name=row.name,
        mode=need.mode,
        occupancy=Occupancy(
            row.shared_leases,
            row.exclusive_leases,
            row.slots,
            cooling_until=row.cooling_until if is_cooling else None,
        ),
        holders=row.holders,
        is_retired=row.is_retired,
        seen_at=row.seen_at,
        problem=problem_of(row.stuck) or row.problem,
    )
