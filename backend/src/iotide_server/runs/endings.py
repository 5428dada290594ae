"""How single orders end, and how the nodes of others are told to end theirs; what follows from it is the service's."""

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
    """That an order ended."""

    end: OrderEnd
    at: datetime  # by the server's clock
    # code, words: why, for programs and for people; None where there is nothing to explain
    code: str | None = None
    words: str | None = None
    # by the clock of the node, which also says when the load started; None where it says nothing
    ended_at: datetime | None = None
    not_before: datetime | None = None  # of a declined order, when its node could take it; None where it says nothing
    actor: str | None = None  # whom the words call `an operator`; None where no person ended it

    @property
    def is_stuck(self) -> bool:
        """Return true where the load could not be killed."""
        return self.end is OrderEnd.FAILED and self.code == stuck.REASON_CODE

    @property
    def put_off_until(self) -> datetime | None:
        """Return when its run is tried again at the earliest, with no decline counted; None where a decline counts."""
        if self.end is not OrderEnd.DECLINED:
            return None
        put_off = PUT_OFF.get(self.code or "")
        return self.not_before if put_off is None else self.at + put_off.wait


def loads_of(orders: Sequence[Order]) -> list[Order]:
    """Those that load; on them alone it depends how an attempt goes."""
    return [order for order in orders if order.role == OrderRole.LOAD]


def close(session: Session, run: Run, order: Order, ending: Ending) -> None:
    """Write that an order ended, and nothing that follows for its attempt."""
    order.state, order.outcome, order.ended_at = OrderState.ENDED, ending.end, ending.ended_at or ending.at
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
    """End what is only offered; have the nodes of the other orders told to cancel."""
    for order in orders:
        if order.state == OrderState.OFFERED:
            close(session, run, order, Ending(OrderEnd.CANCELLED, now))
        elif order.state != OrderState.ENDED and order.cancel_wanted_at is None:
            order.cancel_wanted_at = order.next_offer_at = now
            order.offers_made = 0


def stop_observers(session: Session, run: Run, orders: Sequence[Order], now: datetime) -> None:
    """Have the nodes that observe told that the loads have ended; what nobody claimed is withdrawn."""
    observing = [order for order in orders if order.role == OrderRole.OBSERVE]
    for order in observing:
        if order.state == OrderState.OFFERED:
            words = "the loads ended before it was claimed"
            close(session, run, order, Ending(OrderEnd.WITHDRAWN, now, "unclaimed", words))
    stop(session, run, observing, now)
