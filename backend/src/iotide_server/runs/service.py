"""What happens to runs: every change of their states goes through here, one locked run at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog
from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.change_feed import service as live
from iotide_server.clusters import service as clusters
from iotide_server.clusters.agents import records as agents
from iotide_server.kit.db import after_commit
from iotide_server.kit.people import OPERATOR, Sentence
from iotide_server.kit.quotas import Addition, QuotaKind, count_day
from iotide_server.kit.wake import wake_scheduler
from iotide_server.runs import line_repository, repository
from iotide_server.runs.endings import Ending, close, loads_of, stop, stop_observers
from iotide_server.runs.errors import (
    RUN_ENDED,
    RUN_NOT_FOUND,
    RUN_NOT_RETRIABLE,
    RUN_RESOURCES_GONE,
    RUN_STAGE_OVER,
)
from iotide_server.runs.lifecycle import (
    AttemptState,
    NextOfRun,
    OrderEnd,
    RunState,
    Tries,
    after_attempt,
    end_of_attempt,
    require_move,
    retried,
)
from iotide_server.runs.models import Attempt, Order, Run, RunEvent
from iotide_server.runs.room import require_room
from iotide_wire.messages import HelloRequest, OrderRole, OrderState

_log = structlog.get_logger(__name__)

CANCELLED_BY_PERSON = "cancelled_by_person"  # reason code of an open attempt that a person wants to end

ASKED_ANEW = "asked anew"
"""Claimant of an order that had not ended when the database was backed up, until its node says whether it has it."""

_UNREAD = frozenset({"output_refused", "parser_fault"})
"""Reason codes by which an agent says that only its parser failed."""


@dataclass(frozen=True, slots=True)
class LockedOrder:
    """An order with its run, both locked in that order, and the fence of its attempt."""

    run: Run
    order: Order
    fence: int


def lock_order(session: Session, order_id: int, node_id: int | None = None) -> LockedOrder | None:
    """Lock an order and its run against all changes; nothing where it is of another node, which a token may name."""
    run = repository.lock_run_of(session, order_id, node_id)
    if run is None:
        return None
    order, fence = repository.lock_order(session, order_id)
    return LockedOrder(run, order, fence)


def end_order(session: Session, run: Run, order: Order, ending: Ending) -> None:
    """Write that an order of a locked run ended, and what follows; nothing follows from one that only observed."""
    if order.role == OrderRole.OBSERVE:
        close(session, run, order, ending)
        live.publish(session, "run", run.id, run.cluster_id)
        return
    _end_order(session, run, order, ending)
    _free(session, [run.id], ending.at)


def end_orders(session: Session, endings: Sequence[tuple[Order, Ending]], now: datetime) -> None:
    """As `end_order`, of several at once; what ended meanwhile stays as it is."""
    runs = {run.id: run for run in repository.lock_active_runs(session, [order.run_id for order, _ in endings])}
    for order, ending in endings:
        session.refresh(order)
        if order.run_id in runs and order.state != OrderState.ENDED:
            end = close if order.role == OrderRole.OBSERVE else _end_order
            end(session, runs[order.run_id], order, ending)
    _free(session, list(runs), now)


def _end_order(session: Session, run: Run, order: Order, ending: Ending) -> None:
    attempt = repository.open_attempt(session, run.id)
    orders = repository.lock_orders(session, attempt.id)
    close(session, run, order, ending)
    if ending.put_off_until is not None:
        # An active run has none but this, which counts once the last of its orders has ended.
        run.not_before = max(run.not_before or ending.put_off_until, ending.put_off_until)
    if ending.end is not OrderEnd.FINISHED:
        if attempt.reason_code is None or ending.end is OrderEnd.FAILED:
            attempt.reason_code, attempt.reason, attempt.reason_actor = ending.code, ending.words, ending.actor
        stop(session, run, loads_of(orders), ending.at)
    _settle(session, run, attempt, orders, ending.at)


def _free(session: Session, run_ids: Sequence[int], now: datetime) -> None:
    repository.release_leases(session, run_ids, now)
    wake_scheduler(session, "freed")


def _settle(session: Session, run: Run, attempt: Attempt, orders: Sequence[Order], now: datetime) -> None:
    """End the attempt when the last of its loads has ended, and move the run on; it waits for no observer."""
    loads = loads_of(orders)
    if any(order.state != OrderState.ENDED for order in loads):
        live.publish(session, "run", run.id, run.cluster_id)
        return
    stop_observers(session, run, orders, now)
    ends = {OrderEnd(order.outcome) for order in loads if order.outcome is not None}
    ended = end_of_attempt(ends, cancel_wanted=attempt.reason_code == CANCELLED_BY_PERSON)
    if ended is AttemptState.FINISHED:
        attempt.reason_code = attempt.reason = attempt.reason_actor = None
    attempt.state, attempt.ended_at = ended, now
    put_off = None if run.not_before is None else max(timedelta(0), run.not_before - now)
    following = after_attempt(ended, Tries(run.attempts_made, run.attempts_allowed, run.declines), put_off)
    run.reason_code, run.reason = attempt.reason_code, _explained(attempt, following)
    run.reason_actor = attempt.reason_actor
    run.started_at = min((order.started_at for order in loads if order.started_at), default=None)
    _move(session, run, following, now)
    if run.ended_at is not None:
        run.ended_at = max((order.ended_at for order in loads if order.ended_at), default=now)


def _explained(attempt: Attempt, following: NextOfRun) -> str | None:
    gave_up = following.state is RunState.FAILED and attempt.state in {AttemptState.DECLINED, AttemptState.LOST}
    if not gave_up:
        return attempt.reason
    tries = following.tries
    how_often = f"{tries.declines} times" if attempt.state == AttemptState.DECLINED else f"in attempt {tries.made}"
    return f"{attempt.state} {how_often}, the last time because: {attempt.reason}"


def _move(session: Session, run: Run, following: NextOfRun, now: datetime) -> None:
    require_move(RunState(run.state), following.state)
    tries = following.tries
    run.state, run.overdue = following.state, False
    run.attempts_made, run.attempts_allowed, run.declines = tries.made, tries.allowed, tries.declines
    if following.state is RunState.WAITING:
        run.ended_at, run.started_at = None, None
        run.not_before = now + following.delay if following.delay else None
        session.flush()
        line_repository.join_lines(session, [run.id])
    else:
        run.ended_at, run.not_before = now, None
    live.publish(session, "run", run.id, run.cluster_id)
    live.publish(session, "campaign", run.campaign_id, run.cluster_id)
    subject = {"run_id": run.id, "campaign_id": run.campaign_id, "state": run.state, "reason_code": run.reason_code}
    after_commit(session, lambda: _log.info("run_moved", **subject))


def lock_orders_for_end(session: Session, node_id: int) -> Sequence[Order]:
    """As `lock_orders_on`, against beats too; what was read before the locks is read again."""
    found = lock_orders_on(session, node_id)
    agents.lock_against_beats(session, node_id)
    session.expire_all()
    return found


def end_orders_of(session: Session, orders: Sequence[Order], ends: Mapping[int, OrderEnd], why: Ending) -> None:
    """End those of the orders that have an end, by id, for one reason."""
    endings = [(order, replace(why, end=ends[order.id])) for order in orders if order.id in ends]
    end_orders(session, endings, why.at)


def lock_runs_on(session: Session, node_id: int) -> None:
    """Lock the runs whose orders the node holds; before its own row, as everyone does who ends an order."""
    repository.lock_active_runs(session, [order.run_id for order, _ in repository.held_orders(session, node_id)])


def lock_orders_on(session: Session, node_id: int) -> Sequence[Order]:
    """The orders of the node that have not ended, locked against claims and beats, and their runs before them."""
    repository.lock_active_runs(session, repository.runs_on(session, node_id))
    return repository.lock_orders_on(session, node_id)


def lose_missing(session: Session, node_id: int, hello: HelloRequest, now: datetime) -> None:
    """Count as lost what a new agent process no longer has on its disk: its own word is the evidence.

    A process that says hello again while it runs is not asked: its claim may have been under way with the hello. But
    after a backup came back every agent is, and what it still has is its own again.
    """
    known = {(held.order_id, held.fence) for held in hello.holds}
    missing = []
    for order, fence in repository.held_orders(session, node_id):
        if (order.id, fence) not in known and order.claimed_by != hello.agent_instance:
            missing.append(order)
        elif order.claimed_by == ASKED_ANEW:
            order.claimed_by, order.claimed_boot_id = hello.agent_instance, hello.boot_id
            order.claimed_at = order.claimed_at or now
    end_orders(session, [(order, _lost(order, hello, now)) for order in missing], now)


def _lost(order: Order, hello: HelloRequest, now: datetime) -> Ending:
    words = "the agent no longer has the order"
    if order.claimed_by == ASKED_ANEW:
        if order.claimed_at is None:
            return Ending(
                OrderEnd.WITHDRAWN, now, "unclaimed", "not claimed before the backup, and the agent has no such order"
            )
        return Ending(OrderEnd.LOST, now, "lost_by_restore", f"{words}; what came of it after the backup is not known")
    if order.claimed_boot_id == hello.boot_id:
        return Ending(OrderEnd.LOST, now, "lost_by_agent", words)
    return Ending(OrderEnd.LOST, now, "lost_by_reboot", f"the node was rebooted and {words}")


def cancel(session: Session, principal: Principal, run_id: int, now: datetime) -> Run:
    """End the run as soon as its nodes let go of it, a waiting one at once; RUN_NOT_FOUND, or RUN_ENDED otherwise."""
    run = lock_changeable(session, principal, run_id)
    if run.state == RunState.CANCELLED:
        return run
    if run.state not in {RunState.WAITING, RunState.ACTIVE}:
        raise RUN_ENDED(run_id=run.id, state=run.state)
    before = run.state
    if not _cancel(session, [run.id], principal, now):
        return run
    session.refresh(run)
    live.publish(session, "run", run.id, run.cluster_id)
    _record(session, principal, "run_cancelled", run, before)
    return run


def cancel_campaign(session: Session, principal: Principal, campaign_id: int, now: datetime) -> int:
    """Cancel the campaign's runs that have not ended; return how many were not cancelled before."""
    found = repository.lock_runs_of(session, campaign_id, {RunState.WAITING, RunState.ACTIVE})
    return _cancel(session, [run.id for run in found], principal, now)


def _cancel(session: Session, locked_run_ids: Sequence[int], principal: Principal, now: datetime) -> int:
    """Cancel locked runs that have not ended, and return how many were not cancelled before.

    The waiting ones take one statement, for they may be a hundred thousand.
    """
    why = Sentence(f"cancelled by {OPERATOR}", principal.actor)
    active = repository.lock_active_runs(session, locked_run_ids)
    repository.cancel_waiting(session, locked_run_ids, CANCELLED_BY_PERSON, why, now)
    run_count = len(locked_run_ids) - len(active)
    for run in active:
        attempt = repository.open_attempt(session, run.id)
        if attempt.reason_code == CANCELLED_BY_PERSON:
            continue
        run_count += 1
        orders = repository.lock_orders(session, attempt.id)
        attempt.reason_code, attempt.reason, attempt.reason_actor = CANCELLED_BY_PERSON, *why
        session.add(RunEvent(run_id=run.id, at=now, kind="cancel_wanted", text=why.words, actor=why.actor))
        stop(session, run, loads_of(orders), now)
        _settle(session, run, attempt, orders, now)
    _free(session, [run.id for run in active], now)
    return run_count


def dissolve(session: Session, run_id: int, now: datetime, words: str) -> bool:
    """End the attempt of a gang that did not come together; the run is tried again as after a decline.

    Every load of it ends here and now, whatever its node does: no load starts without a moment on which all agreed. A
    node that holds its order learns by its next heartbeat that there is no such order.

    Returns:
        False where they agreed or the attempt ended meanwhile, or where an agent of an earlier release let a load run.
    """
    active = repository.lock_active_runs(session, [run_id])
    if not active:
        return False
    run = active[0]
    attempt = repository.open_attempt(session, run.id)
    orders = repository.lock_orders(session, attempt.id)
    session.refresh(attempt)
    may_load = any(order.state in {OrderState.RUNNING, OrderState.UPLOADING} for order in loads_of(orders))
    if attempt.go_agreed_at is not None or may_load:
        return False
    attempt.reason_code, attempt.reason = attempt.reason_code or "not_together", attempt.reason or words
    for order in loads_of(orders):
        if order.state != OrderState.ENDED:
            is_ready = order.state == OrderState.READY
            close(session, run, order, Ending(OrderEnd.CANCELLED if is_ready else OrderEnd.WITHDRAWN, now))
    _settle(session, run, attempt, orders, now)
    _free(session, [run.id], now)
    return True


def is_unread(session: Session, run: Run) -> bool:
    """Whether all that failed in its last attempt is that one node's output could not be read."""
    if run.state != RunState.FAILED or run.reason_code not in _UNREAD:
        return False
    outcomes = sorted(str(order.outcome) for order in repository.last_orders(session, run.id))
    return outcomes.count(OrderEnd.FAILED) == 1 and set(outcomes) <= {OrderEnd.FAILED, OrderEnd.FINISHED}


def finish_unread(session: Session, run: Run) -> None:
    """Let a locked run that `is_unread` finish after all."""
    orders = repository.last_orders(session, run.id)
    attempt = session.get_one(Attempt, orders[0].attempt_id)
    require_move(RunState(run.state), RunState.FINISHED)
    run.state, attempt.state = RunState.FINISHED, AttemptState.FINISHED
    for order in orders:
        order.outcome = OrderEnd.FINISHED
    run.reason_code = run.reason = run.reason_actor = None
    attempt.reason_code = attempt.reason = attempt.reason_actor = None
    live.publish(session, "campaign", run.campaign_id, run.cluster_id)


def retry(session: Session, principal: Principal, run_id: int, now: datetime) -> Run:
    """Let a run that failed or was cancelled wait again, for one more attempt.

    Raises:
        RUN_NOT_FOUND, RUN_NOT_RETRIABLE, RUN_STAGE_OVER, RUN_RESOURCES_GONE: it cannot run again.
        CLUSTER_MADE_UP: nothing runs in sample data.
        QUOTA_REACHED: too many runs would wait, or were added today; a retried one counts again.
    """
    run = lock_changeable(session, principal, run_id)
    clusters.require_real(session, run.cluster_id, field="run_id")
    if run.state not in {RunState.FAILED, RunState.CANCELLED}:
        raise RUN_NOT_RETRIABLE(run_id=run.id, state=run.state)
    if not line_repository.is_in_current_stage(session, run_id):
        raise RUN_STAGE_OVER(run_id=run.id, variant=repository.variant_of(session, run.cell_id))
    gone = repository.lock_resources(session, [run.cell_id])
    if gone:
        raise RUN_RESOURCES_GONE(run_id=run.id, gone=gone)
    added = Addition(QuotaKind.RUNS, run.cluster_id, principal.user_id, now, field="run_id")
    require_room(session, added)
    before, run.asked_by = run.state, principal.user_id
    run.reason_code = run.reason = run.reason_actor = None
    words = f"to be tried again, asked for by {OPERATOR}"
    session.add(RunEvent(run_id=run.id, at=now, kind="retried", text=words, actor=principal.actor))
    tries = Tries(run.attempts_made, run.attempts_allowed, run.declines)
    _move(session, run, NextOfRun(RunState.WAITING, retried(tries)), now)
    wake_scheduler(session, "retried")
    _record(session, principal, "run_retried", run, before)
    session.flush()
    # Waiting runs are not counted again: that may take a part of a second, in which others of the cluster would wait.
    count_day(session, added)
    return run


def lock_changeable(session: Session, principal: Principal, run_id: int) -> Run:
    """Lock and return the run if the caller may change it, or raise RUN_NOT_FOUND."""
    return principal.require_row(Role.OPERATOR, repository.lock_run(session, run_id), RUN_NOT_FOUND(run_id=run_id))


def _record(session: Session, principal: Principal, action: str, run: Run, before: str) -> None:
    change = Action(action, "run", run.id, run.cluster_id, before={"state": before}, after={"state": run.state})
    audit.record(session, principal, change)
