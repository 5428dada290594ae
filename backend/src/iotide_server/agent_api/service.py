"""Hello, claims, raw output and results of agents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import structlog
from sqlalchemy import Row
from sqlalchemy.exc import DataError
from sqlalchemy.orm import Session

from iotide_server.agent_api import repository
from iotide_server.agent_api.errors import (
    GANG_WITHOUT_ADDRESS,
    ORDER_CANCELLED,
    ORDER_NOT_FOUND,
    ORDER_TAKEN,
    ORDER_WITHDRAWN,
    SCHEMA_CHANGED,
    STALE_FENCE,
)
from iotide_server.agent_api.times import check_within, put_off, with_plausible_times
from iotide_server.campaigns.scratch import making
from iotide_server.change_feed import service as live
from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.agents.heartbeats import IDLE_HEARTBEAT_SECONDS
from iotide_server.clusters.errors import AGENT_SUPERSEDED
from iotide_server.clusters.models import Node
from iotide_server.kit.db import after_commit
from iotide_server.kit.errors import InvalidInputError, IotideError
from iotide_server.kit.meters import INGEST_BYTES, INGEST_SECONDS, LATE, RESULTS, SAMPLES
from iotide_server.results.ingest import service as results
from iotide_server.results.ingest.checks import check_described
from iotide_server.results.ingest.limits import DEFAULTS, ReportLimits
from iotide_server.runs import service as runs
from iotide_server.runs import stuck
from iotide_server.runs.endings import Ending
from iotide_server.runs.lifecycle import OrderEnd
from iotide_server.runs.models import RunEvent
from iotide_server.runs.resources import node_mode
from iotide_server.runs.service import LockedOrder
from iotide_server.scratch import service as scratch
from iotide_server.targets import agents as target_mounts
from iotide_server.workloads import service as workloads
from iotide_wire.endpoint import is_data_address
from iotide_wire.measured import GANG_ROLES, WITHOUT_TARGETS
from iotide_wire.messages import (
    ClaimRequest,
    FinishReply,
    FinishRequest,
    GangNode,
    HelloReply,
    HelloRequest,
    Order,
    OrderRole,
    OrderState,
    Outcome,
)
from iotide_wire.plan import Exclusivity

OBSERVER_SECONDS: Final = 600.0
"""Extra time limit of an observer: it starts before a gang gathers, and ends after the target is cleaned."""
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RawOutput:
    name: str
    sha256: str
    content: bytes


def hello(session: Session, node_id: int, request: HelloRequest, now: datetime) -> HelloReply:
    """Accept an agent as its node's. Orders that it no longer has are lost. Raise AGENT_ALREADY_RUNNING."""
    runs.lock_runs_on(session, node_id)
    before = session.get_one(Node, node_id).boot_id
    node = agents.hello(session, node_id, request, now)
    workloads.announce(session, node, request.workloads)
    made = scratch.announce(session, node, request.scratch_sets, now)
    target_mounts.refresh_mounts(session, node_id, request.mounts, now, made)
    runs.lose_missing(session, node_id, request, now)
    if node.stuck is not None and before != request.boot_id:
        stuck.forget(session, node_id, now)
    return HelloReply(
        wire_version=request.wire_version,
        node_id=node_id,
        node_name=node.name,
        server_time=now,
        beat_seconds=IDLE_HEARTBEAT_SECONDS,
    )


def claim(session: Session, node_id: int, order_id: int, request: ClaimRequest, now: datetime) -> Order | IotideError:
    """Assign an offered order to the node's agent. A repeated claim of the same process returns it again.

    If the transaction must be committed, return the error: the claim ended the run, or the node answered again.
    Raise ORDER_NOT_FOUND, STALE_FENCE, ORDER_TAKEN or AGENT_SUPERSEDED.
    """
    found = _order(session, node_id, order_id, now)
    if found.fence != request.fence:
        raise STALE_FENCE(order_id=order_id)
    if found.state == OrderState.OFFERED and found.role == OrderRole.LOAD and not found.has_workload:
        return _end_refused(session, order_id, SCHEMA_CHANGED(workload=found.workload), now)
    gang = repository.gang_of(session, order_id) if found.step_role in GANG_ROLES else ()
    without = next((one.name for one in gang if not is_data_address(one.address)), None)
    if without is not None and found.state != OrderState.ENDED:
        return _end_refused(session, order_id, GANG_WITHOUT_ADDRESS(node=without), now)
    if repository.claim(session, node_id, order_id, request, now):
        if not repository.speaks_for_node(session, node_id, request.agent_instance):
            raise AGENT_SUPERSEDED(node=f"node {node_id}")
        repository.log_states(session, [order_id], now)
        live.publish(session, "run", found.run_id, found.cluster_id)
        subject = {"run_id": found.run_id, "attempt": found.attempt, "order_id": order_id, "node_id": node_id}
        after_commit(session, lambda: _log.info("order_claimed", **subject))
    else:
        found = _order(session, node_id, order_id, now)
        if found.state == OrderState.ENDED:
            agents.trust(session, node_id, request.agent_instance)
            return _withdrawn(order_id, found)
        if (found.claimed_by, found.claimed_boot_id) != (request.agent_instance, request.boot_id):
            raise ORDER_TAKEN(order_id=order_id)
    agents.trust(session, node_id, request.agent_instance)
    return _wire_order(session, node_id, order_id, found, gang)


def finish(  # noqa: PLR0913 - the parts of a result
    session: Session,
    node_id: int,
    order_id: int,
    request: FinishRequest,
    now: datetime,
    *,
    limits: ReportLimits = DEFAULTS,
) -> FinishReply:
    """Store a result once, even if it is sent several times. A late one is only logged."""
    locked = runs.lock_order(session, order_id, node_id)
    if locked is None:
        return FinishReply(accepted=False, duplicate=False)
    if locked.fence == request.fence and locked.order.result_sha256 == request.digest:
        return FinishReply(accepted=True, duplicate=True)
    if locked.fence != request.fence or locked.order.state == OrderState.ENDED:
        words = f"a result arrived too late and was not stored: {request.outcome}, {len(request.samples)} samples"
        evidence = RunEvent(run_id=locked.run.id, order_id=order_id, at=now, kind="stale_result", text=words)
        if repository.log_lines(session, evidence) < limits.log_lines:
            session.add(evidence)
        after_commit(session, RESULTS.labels(LATE).inc)
        return FinishReply(accepted=False, duplicate=False)
    size_bytes = len(request.model_dump_json().encode())
    with INGEST_SECONDS.time():
        ending, new_series = _store(session, locked, request, now, size_bytes=size_bytes, limits=limits)
    making.record_work(session, locked.run, request)
    runs.end_order(session, locked.run, locked.order, ending)
    results.count_day(session, node_id, size_bytes, new_series)
    subject = {"run_id": locked.run.id, "attempt_id": locked.order.attempt_id, "order_id": order_id, "node_id": node_id}
    after_commit(session, lambda: _note(ending, len(request.samples), subject))
    return FinishReply(accepted=True, duplicate=False)


def store_artefact(  # noqa: PLR0913 - the parts of an artefact
    session: Session, node_id: int, order_id: int, fence: int, raw: RawOutput, *, limits: ReportLimits = DEFAULTS
) -> None:
    """Store a piece of raw output once, even if it is sent several times. Output of a lost order is kept.

    Raise ORDER_NOT_FOUND, STALE_FENCE, ARTEFACT_TOO_LARGE, DIGEST_MISMATCH or RAW_OUTPUT_FULL.
    """
    locked = runs.lock_order(session, order_id, node_id)
    if locked is None:
        raise ORDER_NOT_FOUND(order_id=order_id)
    if locked.fence != fence:
        raise STALE_FENCE(order_id=order_id)
    results.store_artefact(session, locked.order, raw.name, raw.sha256, raw.content, limits=limits)
    after_commit(session, lambda: INGEST_BYTES.inc(len(raw.content)))


def _note(ending: Ending, sample_count: int, subject: Mapping[str, int]) -> None:
    _log.info("result_taken", **subject, outcome=ending.end.value, samples=sample_count)
    RESULTS.labels(ending.end.value).inc()
    SAMPLES.inc(sample_count)


def _order(session: Session, node_id: int, order_id: int, now: datetime) -> Row[Any]:
    found = repository.order(session, node_id, order_id, now)
    if found is None:
        raise ORDER_NOT_FOUND(order_id=order_id)
    return found


def _end_refused(session: Session, order_id: int, refusal: IotideError, now: datetime) -> IotideError:
    """End the run. Another attempt would not help, because a node has changed since the campaign was submitted."""
    locked = runs.lock_order(session, order_id)
    if locked is not None and locked.order.state == OrderState.OFFERED:
        ending = Ending(OrderEnd.FAILED, now, refusal.code, refusal.message)
        runs.end_order(session, locked.run, locked.order, ending)
    return refusal


def _withdrawn(order_id: int, ended: Row[Any]) -> IotideError:
    if ended.reason_code == runs.CANCELLED_BY_PERSON:
        return ORDER_CANCELLED(order_id=order_id, reason=ended.reason or "cancelled")
    return ORDER_WITHDRAWN(order_id=order_id, reason=ended.reason or "it has ended")


def _wire_order(session: Session, node_id: int, order_id: int, found: Row[Any], gang: Sequence[Row[Any]]) -> Order:
    loads = found.role == OrderRole.LOAD
    has_targets = loads and found.step_role not in WITHOUT_TARGETS
    return Order(
        order_id=order_id,
        run_id=found.run_id,
        attempt=found.attempt,
        fence=found.fence,
        role=found.role,
        campaign=found.campaign,
        repeat=found.repeat,
        workload=found.workload,
        workload_revision=found.workload_revision,
        schema_sha256=found.digest,
        options=found.options,
        targets=tuple(target_mounts.order_targets(session, node_id, found.target_ids)) if has_targets else (),
        node_mode=node_mode(Exclusivity(found.exclusive)).value,
        time_limit_seconds=found.time_limit_seconds + (0.0 if loads else OBSERVER_SECONDS),
        cache=found.cache,
        quiet=found.quiet,
        quiet_wait_seconds=found.quiet_wait_seconds,
        step_role=found.step_role,
        gang=tuple(GangNode(name=one.name, address=one.address) for one in gang),
        directory_order_id=gang[0].order_id if gang else None,
    )


def _store(  # noqa: PLR0913 - as finish
    session: Session,
    locked: LockedOrder,
    request: FinishRequest,
    now: datetime,
    *,
    size_bytes: int,
    limits: ReportLimits,
) -> tuple[Ending, int]:
    # An invalid result fails its run, or its agent would resend it forever. A declined order has only an ending and
    # the other load on the node.
    order = locked.order
    request = with_plausible_times(request, order.started_at, order.offered_at, now)
    order.result_sha256 = request.digest
    order.started_at = request.started_at or order.started_at
    session.flush()
    new_series = 0
    try:
        with session.begin_nested():
            results.check_day(session, order.node_id, size_bytes, limits)
            check_within(request.curves, order.offered_at, now)
            if request.outcome is Outcome.DECLINED:
                check_described(request, limits)
            elif order.role == OrderRole.OBSERVE:
                results.ingest_observed(session, order, request, now, limits)
            else:
                new_series = results.ingest(session, order, request, now, limits)
                order.steps = [step.model_dump(mode="json") for step in request.steps]
            if order.role == OrderRole.LOAD and request.foreign is not None:
                order.foreign_load = request.foreign.model_dump(mode="json")
    except InvalidInputError as error:
        refusal = f"the result was rejected: {error.message}" + (f"; {error.remedy}" if error.remedy else "")
        return Ending(OrderEnd.FAILED, now, error.code, refusal, request.ended_at), 0
    except DataError:
        refusal = "the result was rejected: it holds NUL characters or numbers beyond 64 bits"
        return Ending(OrderEnd.FAILED, now, InvalidInputError.code, refusal, request.ended_at), 0
    words = request.reason and request.reason.replace("\0", "")
    not_before = None if request.not_before is None else put_off(request.not_before, now)
    ending = Ending(OrderEnd(request.outcome), now, request.reason_code, words, request.ended_at, not_before)
    return ending, new_series
