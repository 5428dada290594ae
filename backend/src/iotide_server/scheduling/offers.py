"""Outbox: a message to a node or worker is a row with a due time, sent again until it is answered."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeVar

import structlog
from sqlalchemy.orm import Session

from iotide_server.bundled.acl import node_keys, node_queue
from iotide_server.clusters.agents import records as agents
from iotide_server.kit.db import Database, after_commit, unless_held_up
from iotide_server.kit.meters import AGAIN, FIRST, OFFERS, OFFERS_WITHDRAWN
from iotide_server.kit.queue import BrokenQueueError, Broker, BrokerAwayError
from iotide_server.runs import service as runs
from iotide_server.runs.endings import Ending
from iotide_server.runs.lifecycle import OrderEnd
from iotide_server.scheduling import due
from iotide_server.scheduling.repository import Offer
from iotide_wire.messages import OrderRole, OrderState

MOST_OFFERS = 6  # an unclaimed order is then withdrawn

RETRY_AFTER: Final = timedelta(seconds=1)  # while Redis is unreachable

MOST_TOGETHER: Final = 200  # work rows in one message

T = TypeVar("T")

_log = structlog.get_logger(__name__)


def send_offers(
    database: Database, broker: Broker, offers: Sequence[Offer], now: datetime, *, kind: str = FIRST
) -> bool:
    """Wake the nodes of committed offers; return true if Redis took all."""
    unsent = _unsent(offers, lambda offer: _wake(broker, offer))
    OFFERS.labels(kind).inc(len(offers) - len(unsent))
    # Gateways poll, so their offers need no retry.
    due_again = [offer for offer in unsent if offer.gateway_id is None]
    if due_again:
        with database.transaction() as session:
            due.return_offers(session, due_again, now + RETRY_AFTER)
    return not unsent


def _wake(broker: Broker, offer: Offer) -> None:
    """Wake the node. If it corrupted its Redis keys, delete them, and this offer with them."""
    node_id = offer.node_id if offer.gateway_id is None else offer.gateway_id
    try:
        broker.send_wake(node_queue(node_id), offer.order_id, offer.fence)
    except BrokenQueueError as error:
        _log.warning("node_broke_its_queue", node_id=node_id, order_id=offer.order_id, error=str(error))
        broker.delete(node_keys(node_id))


def send_due_offers(database: Database, broker: Broker, now: datetime) -> bool:
    with database.transaction() as session:
        offers = due.take_offers(session, MOST_OFFERS, now)
    return send_offers(database, broker, offers, now, kind=AGAIN)


def send_due_work(database: Database, broker: Broker, now: datetime) -> bool:
    with database.transaction() as session:
        work = due.take_work(session, now)
    unsent = _unsent(_messages(work, broker.named_together), lambda named: broker.send_work(*named))
    if unsent:
        with database.transaction() as session:
            due.return_work(session, unsent, now + RETRY_AFTER)
    return not unsent


def _messages(work: Sequence[tuple[str, int, bool]], together: Collection[str]) -> list[tuple[str, list[int]]]:
    """Group work by kind; failing work comes last, one key in a message."""
    keys: defaultdict[str, list[int]] = defaultdict(list)
    for kind, key, fails in work:
        if not fails:
            keys[kind].append(key)
    size = {kind: MOST_TOGETHER if kind in together else 1 for kind in keys}
    messages = [
        (kind, of_kind[first : first + size[kind]])
        for kind, of_kind in keys.items()
        for first in range(0, len(of_kind), size[kind])
    ]
    return messages + [(kind, [key]) for kind, key, fails in work if fails]


def withdraw_unclaimed(database: Database, now: datetime) -> None:
    """Withdraw orders without offers left; skip their nodes until the next contact."""
    with database.transaction() as session:
        order_ids = due.unclaimed_orders(session, MOST_OFFERS, now)
    for order_id in order_ids:
        with unless_held_up(database) as session:
            _withdraw(session, order_id, now)


def _withdraw(session: Session, order_id: int, now: datetime) -> None:
    found = runs.lock_order(session, order_id)
    # A claim in between wins: only an unclaimed order is safe to withdraw.
    if found is None or found.order.state != OrderState.OFFERED:
        return
    words = f"no answer to {MOST_OFFERS} offers; the agent's Celery worker may be cut off from Redis"
    ending = Ending(OrderEnd.WITHDRAWN, now, "unclaimed", words)
    runs.end_order(session, found.run, found.order, ending)
    # A node that claims no observing order may still claim loads.
    if found.order.role == OrderRole.LOAD:
        agents.suspect(session, found.order.node_id, words)
    after_commit(session, OFFERS_WITHDRAWN.inc)
    _log.warning("order_withdrawn", run_id=found.run.id, order_id=order_id, node_id=found.order.node_id)


def _unsent(items: Sequence[T], send: Callable[[T], None]) -> Sequence[T]:
    """Return the items from the first failure on: each further one would wait as long."""
    for index, item in enumerate(items):
        try:
            send(item)
        except BrokerAwayError as error:
            _log.warning("broker_away", unsent=len(items) - index, error=str(error))
            return items[index:]
    return []
