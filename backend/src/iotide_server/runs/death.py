"""What follows when an operator calls a silent node dead, as pure functions, and in words before it is done."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from iotide_server.kit.clock import written
from iotide_server.runs.lifecycle import NextOfRun, OrderEnd, RunState, Tries, after_attempt, end_of_attempt
from iotide_wire.messages import OrderState

REASON_CODE = "node_dead"


@dataclass(frozen=True, slots=True)
class DoomedOrder:
    """An order that the node has not ended."""

    order_id: int
    state: OrderState
    started_at: datetime | None

    @property
    def end(self) -> OrderEnd:
        """How it ends: of one that nobody claimed it is certain that nothing ran."""
        return OrderEnd.WITHDRAWN if self.state is OrderState.OFFERED else OrderEnd.LOST


@dataclass(frozen=True, slots=True)
class DoomedRun:
    """A run of which the node has orders."""

    run_id: int
    campaign_id: int
    campaign_name: str
    workload: str
    orders: Sequence[DoomedOrder]  # the node's own
    # how the attempt's other orders have ended; what other nodes did not claim is as good as cancelled
    ended: Sequence[OrderEnd]
    others: Sequence[str]  # the names of the other nodes that claimed an order and have not ended it
    tries: Tries  # with the present attempt as made
    is_cancelled: bool  # a person wanted it to end before
    go_at: datetime | None  # when its loads were told to start; None: none of them was
    time_limit: timedelta
    targets: Sequence[str]
    shared: Sequence[str]  # those of the targets that are loaded from other nodes, too
    # what the attempt holds besides nodes, such as `target nfs`; free once all its orders have ended
    held_beside: Sequence[str]


def following(run: DoomedRun) -> NextOfRun:
    """What becomes of the run, if its other nodes stop when they are told to."""
    ends = {*run.ended, *(order.end for order in run.orders)}
    ends |= {OrderEnd.CANCELLED} if run.others else set()
    return after_attempt(end_of_attempt(ends, cancel_wanted=run.is_cancelled), run.tries)


def may_still_load(run: DoomedRun) -> bool:
    """Whether a load of it may run on the node although nobody hears of it."""
    claimed = [order for order in run.orders if order.state is not OrderState.OFFERED]
    return run.go_at is not None and any(order.state is not OrderState.UPLOADING for order in claimed)


def what_ends(node: str, run: DoomedRun) -> str:
    """One sentence on the orders that end, what is free then and what becomes of the run."""
    orders = " and ".join(_order(order) for order in run.orders)
    freed = [f"node {node}", *([] if run.others else run.held_beside)]
    sentence = f"{orders}; {listed(freed)} {'is' if len(freed) == 1 else 'are'} free at once"
    if run.others:
        later = f" and frees {listed(run.held_beside)}" if run.held_beside else ""
        told = f"{listed(run.others)} {'is' if len(run.others) == 1 else 'are'} told to stop"
        return f"{sentence}; {told}, and then the run {_becomes(run)}{later}"
    return f"{sentence}; the run {_becomes(run)}"


def what_may_still_load(node: str, run: DoomedRun) -> str:
    """One sentence on what happens if the operator is wrong and the node is only cut off."""
    claimed = [order for order in run.orders if order.state is not OrderState.OFFERED]
    if not claimed or run.go_at is None:
        return f"Its load was never told to start, so none runs on {node}."
    if all(order.state is OrderState.UPLOADING for order in claimed):
        return f"Its load had ended; should {node} come back, its result is noted in the run's log and does not count."
    started_at = min((order.started_at for order in claimed if order.started_at), default=run.go_at)
    limit = written(started_at + run.time_limit)
    hang = "and a load that hangs on a dead mount may wake up and write even later"
    if not run.shared:
        names = listed(run.targets)
        return (
            f"If {node} is only cut off, its load may run there until {limit}, {hang}; it loads {names}, which no other"
            " node has."
        )
    return (
        f"If {node} is only cut off, its load may run there until {limit}, {hang}; what other runs measure on"
        f" {listed([f'target {name}' for name in run.shared])} until then may be measured beside it."
    )


def _order(order: DoomedOrder) -> str:
    if order.end is OrderEnd.WITHDRAWN:
        return f"order {order.order_id}, which it was offered and never claimed, is withdrawn"
    return f"order {order.order_id}, {order.state} by its last word, ends as lost"


def _becomes(run: DoomedRun) -> str:
    after = following(run)
    tried = f"attempt {run.tries.made} of {run.tries.allowed}"
    if OrderEnd.FAILED in run.ended:
        return "fails, as it did on another node"
    match after.state:
        case RunState.WAITING if after.tries.declines > run.tries.declines:
            return "waits again, with no attempt counted"
        case RunState.WAITING:
            return f"waits again, as this was {tried}"
        case RunState.CANCELLED:
            return "is cancelled, as somebody wanted before"
        case RunState.FAILED if after.tries.declines > run.tries.declines:
            return "fails, as it was declined too often"
        case _:
            return f"fails, as this was {tried}"


def listed(names: Sequence[str]) -> str:
    """Return `a, b and c`, of one name at least."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
