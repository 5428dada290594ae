"""End orders and cancel those of other nodes; `service` handles attempt and run."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.change_feed import service as live
from iotide_server.runs import repository, stuck
from iotide_server.runs.declines import PUT_OFF
from iotide_server.runs.lifecycle import OrderEnd
from iotide_server.runs.models import Order, Run, RunEvent
from iotide_wire.messages import OrderRole, OrderState


@dataclass(frozen=True, slots=True)
class Ending:
    end: OrderEnd
    at: datetime
    # code for programs, sentence for users; None: nothing to explain
    code: str | None = None
    words: str | None = None
    # node clock; also gives the start of the load
    ended_at: datetime | None = None
    not_before: datetime | None = None  # when the declining node could take it
    actor: str | None = None  # called `an operator` in the words

    @property
    def is_stuck(self) -> bool:
        return self.end is OrderEnd.FAILED and self.code == stuck.REASON_CODE

    @property
    def put_off_until(self) -> datetime | None:
        """Return the earliest next attempt after an uncounted decline; None if the decline counts."""
        if self.end is not OrderEnd.DECLINED:
            return None
        put_off = PUT_OFF.get(self.code or "")
        return self.not_before if put_off is None else self.at + put_off.wait


def loads_of(orders: Sequence[Order]) -> list[Order]:
    return [order for order in orders if order.role == OrderRole.LOAD]


def close(session: Session, run: Run, order: Order, ending: Ending) -> None:
    """End one order without touching its attempt."""
    order.state, order.outcome, order.ended_at = OrderState.ENDED, ending.end, ending.ended_at or ending.at
    order.reason_code = ending.code
    order.next_offer_at = order.silent_since = order.endpoint = None
    where = repository.node_name(session, order.node_id)
    words = f"{where}: {ending.end}" + (f": {ending.words}" if ending.words else "")
    session.add(
        RunEvent(run_id=run.id, order_id=order.id, at=ending.at, kind=ending.end, text=words, actor=ending.actor)
    )
    if ending.is_stuck and order.role == OrderRole.LOAD:
        stuck.keep(session, run, order, ending.words, ending.at)
    live.publish(session, "activity", order.node_id, run.cluster_id)


def stop(session: Session, run: Run, orders: Sequence[Order], now: datetime) -> None:
    """End offered orders at once; ask the other orders' nodes to cancel."""
    for order in orders:
        if order.state == OrderState.OFFERED:
            close(session, run, order, Ending(OrderEnd.CANCELLED, now))
        elif order.state != OrderState.ENDED and order.cancel_wanted_at is None:
            order.cancel_wanted_at = order.next_offer_at = now
            order.offers_made = 0


def stop_observers(session: Session, run: Run, orders: Sequence[Order], now: datetime) -> None:
    """Withdraw unclaimed observing orders; ask the nodes of the others to stop."""
    observing = [order for order in orders if order.role == OrderRole.OBSERVE]
    for order in observing:
        if order.state == OrderState.OFFERED:
            words = "the loads ended before the node claimed it"
            close(session, run, order, Ending(OrderEnd.WITHDRAWN, now, "unclaimed", words))
    stop(session, run, observing, now)
