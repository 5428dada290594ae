"""State changes of runs; all go through here, with the run locked."""

from collections.abc import Collection, Mapping, Sequence
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
from iotide_server.kit.work import want_all
from iotide_server.runs import line_repository, repository
from iotide_server.runs.blame import Ended, counted_ends, explains_better
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
from iotide_server.scratch import service as sets
from iotide_wire.messages import HelloRequest, OrderRole, OrderState

_log = structlog.get_logger(__name__)

ROUNDS = "rounds"
"""Kind of work that adds repeats to a campaign with adaptive ones; its key is the campaign."""

CANCELLED_BY_PERSON = "cancelled_by_person"  # reason code of an open attempt that a user cancelled

ASKED_AGAIN = "asked anew"
"""`claimed_by` of an order in a restored backup, until its node reports whether it has it."""

_UNREAD = frozenset({"output_refused", "parser_fault"})
"""Reason codes if only the parser failed."""


@dataclass(frozen=True, slots=True)
class LockedOrder:
    run: Run
    order: Order
    fence: int


def lock_order(session: Session, order_id: int, node_id: int | None = None) -> LockedOrder | None:
    """Return None if another node has the order."""
    run = repository.lock_run_of(session, order_id, node_id)
    if run is None:
        return None
    order, fence = repository.lock_order(session, order_id)
    return LockedOrder(run, order, fence)


def end_order(session: Session, run: Run, order: Order, ending: Ending) -> None:
    """End an order of a locked run; settle its attempt, unless the order only observed."""
    if order.role == OrderRole.OBSERVE:
        close(session, run, order, ending)
        live.publish(session, "run", run.id, run.cluster_id)
        return
    _end_order(session, run, order, ending)
    _free(session, [run.id], ending.at)


def end_orders(session: Session, endings: Sequence[tuple[Order, Ending]], now: datetime) -> None:
    """End several orders, except those that have ended meanwhile."""
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
        # Takes effect when the last order has ended.
        run.not_before = max(run.not_before or ending.put_off_until, ending.put_off_until)
    if ending.end is not OrderEnd.FINISHED:
        before = [one for one in loads_of(orders) if one is not order and one.outcome is not None]
        if explains_better((ending.end, ending.code), attempt.reason_code, map(_ended, before)):
            attempt.reason_code, attempt.reason, attempt.reason_actor = ending.code, ending.words, ending.actor
        stop(session, run, loads_of(orders), ending.at)
    _settle(session, run, attempt, orders, ending.at)


def _free(session: Session, run_ids: Sequence[int], now: datetime) -> None:
    repository.release_leases(session, run_ids, now)
    wake_scheduler(session, "freed")


def _settle(session: Session, run: Run, attempt: Attempt, orders: Sequence[Order], now: datetime) -> None:
    loads = loads_of(orders)
    if any(order.state != OrderState.ENDED for order in loads):
        live.publish(session, "run", run.id, run.cluster_id)
        return
    stop_observers(session, run, orders, now)
    cancel_wanted = attempt.reason_code == CANCELLED_BY_PERSON
    ends = counted_ends([_ended(order) for order in loads if order.outcome is not None], cancel_wanted=cancel_wanted)
    ended = end_of_attempt(ends, cancel_wanted=cancel_wanted)
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


def _ended(order: Order) -> Ended:
    return OrderEnd(order.outcome or ""), order.reason_code


def _explained(attempt: Attempt, following: NextOfRun) -> str | None:
    gave_up = following.state is RunState.FAILED and attempt.state in {AttemptState.DECLINED, AttemptState.LOST}
    if not gave_up:
        return attempt.reason
    tries = following.tries
    how_often = f"{tries.declines} times" if attempt.state == AttemptState.DECLINED else f"in attempt {tries.made}"
    # The database's function `person_in` knows this phrase, and hides names that the previous release stored after it.
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
        line_repository.join_queues(session, [run.id])
    else:
        run.ended_at, run.not_before = now, None
        want_rounds(session, [run.id], now)
    live.publish(session, "run", run.id, run.cluster_id)
    live.publish(session, "campaign", run.campaign_id, run.cluster_id)
    subject = {"run_id": run.id, "campaign_id": run.campaign_id, "state": run.state, "reason_code": run.reason_code}
    after_commit(session, lambda: _log.info("run_moved", **subject))


def want_rounds(session: Session, run_ids: Sequence[int], now: datetime) -> None:
    """Request the next round of adaptive repeats after the end of these runs."""
    want_all(session, ROUNDS, repository.adaptive_campaigns(session, run_ids), now)


def lock_orders_for_end(session: Session, node_id: int) -> Sequence[Order]:
    """Lock like `lock_orders_on`, also against heartbeats; expire what was read before."""
    found = lock_orders_on(session, node_id)
    agents.lock_against_heartbeats(session, node_id)
    session.expire_all()
    return found


def end_orders_of(session: Session, orders: Sequence[Order], ends: Mapping[int, OrderEnd], why: Ending) -> None:
    endings = [(order, replace(why, end=ends[order.id])) for order in orders if order.id in ends]
    end_orders(session, endings, why.at)


def lock_runs_on(session: Session, node_id: int) -> None:
    """Lock the runs of the node's held orders. Call it before locking the node."""
    repository.lock_active_runs(session, [order.run_id for order, _ in repository.held_orders(session, node_id)])


def lock_orders_on(session: Session, node_id: int) -> Sequence[Order]:
    """Lock the orders' runs first."""
    repository.lock_active_runs(session, repository.runs_on(session, node_id))
    return repository.lock_orders_on(session, node_id)


def lose_missing(session: Session, node_id: int, hello: HelloRequest, now: datetime) -> None:
    """End as lost the orders that a new agent process no longer has on its disk.

    A process that says hello again is skipped: it may just have claimed an order. After a restored backup all are
    checked, and orders that they still have are reassigned.
    """
    known = {(held.order_id, held.fence) for held in hello.holds}
    missing = []
    for order, fence in repository.held_orders(session, node_id):
        if (order.id, fence) not in known and order.claimed_by != hello.agent_instance:
            missing.append(order)
        elif order.claimed_by == ASKED_AGAIN:
            order.claimed_by, order.claimed_boot_id = hello.agent_instance, hello.boot_id
            order.claimed_at = order.claimed_at or now
    end_orders(session, [(order, _lost(order, hello, now)) for order in missing], now)


def _lost(order: Order, hello: HelloRequest, now: datetime) -> Ending:
    words = "the agent no longer has the order"
    if order.claimed_by == ASKED_AGAIN:
        if order.claimed_at is None:
            return Ending(
                OrderEnd.WITHDRAWN,
                now,
                "unclaimed",
                "not claimed before the backup, and the agent does not have the order",
            )
        return Ending(OrderEnd.LOST, now, "lost_by_restore", f"{words}; its outcome after the backup is unknown")
    if order.claimed_boot_id == hello.boot_id:
        return Ending(OrderEnd.LOST, now, "lost_by_agent", words)
    return Ending(OrderEnd.LOST, now, "lost_by_reboot", f"the node was rebooted and {words}")


def cancel(session: Session, principal: Principal, run_id: int, now: datetime) -> Run:
    """Cancel the run, an active one when its nodes have stopped; raise RUN_NOT_FOUND or RUN_ENDED."""
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


def cancel_campaign(
    session: Session, principal: Principal, campaign_id: int, now: datetime, kept: Collection[int] = ()
) -> int:
    """Cancel the open runs but the `kept` ones; return how many were not cancelled before."""
    found = repository.lock_runs_of(session, campaign_id, {RunState.WAITING, RunState.ACTIVE})
    return _cancel(session, [run.id for run in found if run.id not in kept], principal, now)


def _cancel(session: Session, locked_run_ids: Sequence[int], principal: Principal, now: datetime) -> int:
    """Cancel locked open runs; return how many were not cancelled before.

    One statement cancels all waiting runs, which may be a hundred thousand.
    """
    why = Sentence(f"cancelled by {OPERATOR}", principal.actor)
    active = repository.lock_active_runs(session, locked_run_ids)
    repository.cancel_waiting(session, locked_run_ids, CANCELLED_BY_PERSON, why, now)
    want_rounds(session, locked_run_ids, now)
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
    """End the attempt of a gang without an agreed start; the run waits as after a decline.

    All its orders end at once, because no load starts without that time; nodes learn it by their next heartbeat.
    Return false if the gang agreed, has ended, or an agent of an earlier release started its load.
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
    """Return true if only one node's parser failed in the last attempt."""
    if run.state != RunState.FAILED or run.reason_code not in _UNREAD:
        return False
    outcomes = sorted(str(order.outcome) for order in repository.last_orders(session, run.id))
    return outcomes.count(OrderEnd.FAILED) == 1 and set(outcomes) <= {OrderEnd.FAILED, OrderEnd.FINISHED}


def finish_unread(session: Session, run: Run) -> None:
    orders = repository.last_orders(session, run.id)
    attempt = session.get_one(Attempt, orders[0].attempt_id)
    require_move(RunState(run.state), RunState.FINISHED)
    run.state, attempt.state = RunState.FINISHED, AttemptState.FINISHED
    for order in orders:
        order.outcome, order.reason_code = OrderEnd.FINISHED, None
    run.reason_code = run.reason = run.reason_actor = None
    attempt.reason_code = attempt.reason = attempt.reason_actor = None
    live.publish(session, "campaign", run.campaign_id, run.cluster_id)


def retry(session: Session, principal: Principal, run_id: int, now: datetime) -> Run:
    """Queue a failed or cancelled run again, for one more attempt; it counts as added for quotas.

    Raises RUN_NOT_FOUND, RUN_NOT_RETRIABLE, RUN_STAGE_OVER, RUN_RESOURCES_GONE, CLUSTER_IS_SAMPLE_DATA, QUOTA_REACHED,
    SCRATCH_SET_TAKEN.
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
    sets.hold_again(session, run.cell_id, run.campaign_id)
    added = Addition(QuotaKind.RUNS, run.cluster_id, principal.user_id, now, field="run_id")
    require_room(session, added)
    before, run.asked_by = run.state, principal.user_id
    run.reason_code = run.reason = run.reason_actor = None
    words = f"retried by {OPERATOR}"
    session.add(RunEvent(run_id=run.id, at=now, kind="retried", text=words, actor=principal.actor))
    tries = Tries(run.attempts_made, run.attempts_allowed, run.declines)
    _move(session, run, NextOfRun(RunState.WAITING, retried(tries)), now)
    wake_scheduler(session, "retried")
    _record(session, principal, "run_retried", run, before)
    session.flush()
    # Counting the waiting runs may take a fraction of a second and block the cluster.
    count_day(session, added)
    return run


def lock_changeable(session: Session, principal: Principal, run_id: int) -> Run:
    """Lock and return the run; raise RUN_NOT_FOUND."""
    return principal.require_row(Role.OPERATOR, repository.lock_run(session, run_id), RUN_NOT_FOUND(run_id=run_id))


def _record(session: Session, principal: Principal, action: str, run: Run, before: str) -> None:
    change = Action(action, "run", run.id, run.cluster_id, before={"state": before}, after={"state": run.state})
    audit.record(session, principal, change)
