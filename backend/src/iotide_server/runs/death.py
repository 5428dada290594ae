"""Effects of declaring a silent node dead, as data and as sentences. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from iotide_server.kit.clock import written
from iotide_server.runs.lifecycle import NextOfRun, OrderEnd, RunState, Tries, after_attempt, end_of_attempt
from iotide_wire.messages import OrderState

REASON_CODE = "node_dead"


@dataclass(frozen=True, slots=True)
class DoomedOrder:
    order_id: int
    state: OrderState
    started_at: datetime | None

    @property
    def end(self) -> OrderEnd:
        """Return `withdrawn` for an unclaimed order, which ran nothing, else `lost`."""
        return OrderEnd.WITHDRAWN if self.state is OrderState.OFFERED else OrderEnd.LOST


@dataclass(frozen=True, slots=True)
class DoomedRun:
    run_id: int
    campaign_id: int
    campaign_name: str
    workload: str
    orders: Sequence[DoomedOrder]
    # outcomes of the attempt's other orders; unclaimed ones count as cancelled
    ended: Sequence[OrderEnd]
    others: Sequence[str]  # nodes that claimed an order of the attempt
    tries: Tries
    is_cancelled: bool
    go_at: datetime | None  # start signal of its loads; None: not given
    time_limit: timedelta
    targets: Sequence[str]
    shared: Sequence[str]  # targets that other nodes use, too
    # held by the attempt apart from nodes, e.g. `target nfs`; freed with its last order
    also_held: Sequence[str]


def following(run: DoomedRun) -> NextOfRun:
    """Return the run's next state if its other nodes stop when asked."""
    ends = {*run.ended, *(order.end for order in run.orders)}
    ends |= {OrderEnd.CANCELLED} if run.others else set()
    return after_attempt(end_of_attempt(ends, cancel_wanted=run.is_cancelled), run.tries)


def may_still_load(run: DoomedRun) -> bool:
    claimed = [order for order in run.orders if order.state is not OrderState.OFFERED]
    return run.go_at is not None and any(order.state is not OrderState.UPLOADING for order in claimed)


def describe_end(node: str, run: DoomedRun) -> str:
    orders = " and ".join(_order(order) for order in run.orders)
    freed = [f"node {node}", *([] if run.others else run.also_held)]
    sentence = f"{orders}; {listed(freed)} {'is' if len(freed) == 1 else 'are'} free at once"
    if run.others:
        later = f" and frees {listed(run.also_held)}" if run.also_held else ""
        return f"{sentence}; the server asks {listed(run.others)} to stop, and then the run {_becomes(run)}{later}"
    return f"{sentence}; the run {_becomes(run)}"


def describe_risk(node: str, run: DoomedRun) -> str:
    claimed = [order for order in run.orders if order.state is not OrderState.OFFERED]
    if not claimed or run.go_at is None:
        return f"Its load never got the start signal, so no load runs on {node}."
    if all(order.state is OrderState.UPLOADING for order in claimed):
        return f"Its load had ended. If {node} comes back, its result is noted in the run's log and does not count."
    started_at = min((order.started_at for order in claimed if order.started_at), default=run.go_at)
    limit = written(started_at + run.time_limit)
    risk = (
        f"If {node} is only cut off, its load may run there until {limit}. A load that hangs on a dead mount may write"
        " even later."
    )
    if not run.shared:
        names = listed(run.targets)
        return f"{risk} It loads {names}, which no other node has."
    names = listed([f"target {name}" for name in run.shared])
    return f"{risk} While it runs, it may affect the results of other runs on {names}."


def _order(order: DoomedOrder) -> str:
    if order.end is OrderEnd.WITHDRAWN:
        return f"order {order.order_id} (offered, never claimed) is withdrawn"
    return f"order {order.order_id} (last state: {order.state}) ends as lost"


def _becomes(run: DoomedRun) -> str:
    after = following(run)
    tried = f"attempt {run.tries.made} of {run.tries.allowed}"
    if OrderEnd.FAILED in run.ended:
        return "fails because it failed on another node"
    match after.state:
        case RunState.WAITING if after.tries.declines > run.tries.declines:
            return "waits again (no attempt is counted)"
        case RunState.WAITING:
            return f"waits again (this was {tried})"
        case RunState.CANCELLED:
            return "is cancelled, as requested before"
        case RunState.FAILED if after.tries.declines > run.tries.declines:
            return "fails because it was declined too often"
        case _:
            return f"fails (this was {tried})"


def listed(names: Sequence[str]) -> str:
    """Return `a, b and c` for a non-empty list."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
