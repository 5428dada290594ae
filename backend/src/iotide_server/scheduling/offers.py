"""The outbox: what nodes and workers have to hear of is a row with a time, sent again until it is answered."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeVar

import structlog
from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.clusters import agents
from iotide_server.embedded.acl import node_queue
from iotide_server.kit.db import Database
from iotide_server.kit.queue import Broker, BrokerAwayError
from iotide_server.runs import service as runs
from iotide_server.runs.lifecycle import OrderEnd
from iotide_server.scheduling.repository import Offer
from iotide_wire.messages import OrderState

MOST_OFFERS = 6
"""An order that was offered so often and not claimed is withdrawn."""

RETRY_AFTER: Final = timedelta(seconds=1)
"""While Redis is away."""

T = TypeVar("T")

_LARGEST_BATCH: Final = 1000
_log = structlog.get_logger(__name__)

_DUE_OFFERS: Final = text(
    # 1, 2, 4, ... 32 s after the first, the second, ... offer; a cancel is told again for as long as it takes.
    """
    UPDATE node_order
    SET offers_made = offers_made + 1, next_offer_at = :now + least(32, 2 ^ offers_made) * interval '1 s'
    FROM attempt
    WHERE attempt.id = node_order.attempt_id AND node_order.id IN (
        SELECT id FROM node_order
        WHERE next_offer_at <= :now AND NOT (state = 'offered' AND offers_made >= :most_offers)
        ORDER BY next_offer_at LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED
    )
    RETURNING node_order.id, node_order.node_id, attempt.fence
    """
)
_DUE_WORK: Final = text(
    """
    UPDATE work SET sends = sends + 1, due_at = :now + least(300, 10 * 2 ^ sends) * interval '1 s'
    WHERE (kind, key) IN (
        SELECT kind, key FROM work WHERE done_version < version AND due_at <= :now
        ORDER BY due_at LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED
    )
    RETURNING kind, key
    """
)


def send_offers(database: Database, broker: Broker, offers: Sequence[Offer], now: datetime) -> bool:
    """Wake the nodes of offers that are committed; what Redis does not take stays due and does not count as offered.

    Returns:
        Whether Redis took them all.
    """
    unsent = _unsent(offers, lambda offer: broker.send_wake(node_queue(offer.node_id), offer.order_id, offer.fence))
    if unsent:
        with database.transaction() as session:
            session.execute(
                text(
                    "UPDATE node_order SET offers_made = greatest(0, offers_made - 1), next_offer_at = :again_at"
                    " WHERE id = ANY(:order_ids) AND next_offer_at IS NOT NULL"
                ),
                {"order_ids": [offer.order_id for offer in unsent], "again_at": now + RETRY_AFTER},
            )
    return not unsent


def due_offers(database: Database, now: datetime) -> list[Offer]:
    """The orders of which their nodes have to hear again now."""
    values = {"now": now, "most_offers": MOST_OFFERS, "limit": _LARGEST_BATCH}
    with database.transaction() as session:
        return [Offer(row.id, row.node_id, row.fence) for row in session.execute(_DUE_OFFERS, values)]


def send_due_work(database: Database, broker: Broker, now: datetime) -> bool:
    """Name the work rows that are due to the workers, again and again with longer pauses until they are done.

    Returns:
        Whether Redis took them all.
    """
    with database.transaction() as session:
        due = session.execute(_DUE_WORK, {"now": now, "limit": _LARGEST_BATCH}).all()
    unsent = _unsent(due, lambda work: broker.send_work(work.kind, work.key))
    if unsent:
        with database.transaction() as session:
            session.execute(
                text("UPDATE work SET sends = sends - 1, due_at = :again_at WHERE kind = :kind AND key = :key"),
                [{"kind": work.kind, "key": work.key, "again_at": now + RETRY_AFTER} for work in unsent],
            )
    return not unsent


def withdraw_unclaimed(database: Database, now: datetime) -> None:
    """Take back orders that were offered often enough, and pass their nodes over until they are heard of again."""
    with database.transaction() as session:
        order_ids = session.scalars(
            text(
                "SELECT id FROM node_order"
                " WHERE next_offer_at <= :now AND state = 'offered' AND offers_made >= :most_offers ORDER BY id"
            ),
            {"now": now, "most_offers": MOST_OFFERS},
        ).all()
    for order_id in order_ids:
        with database.transaction() as session:
            _withdraw(session, order_id, now)


def _withdraw(session: Session, order_id: int, now: datetime) -> None:
    found = runs.lock_order(session, order_id)
    # A claim in between wins: only what nobody claimed is safe to take back.
    if found is None or found.order.state != OrderState.OFFERED:
        return
    words = f"no answer to {MOST_OFFERS} offers; the agent's Celery worker may be cut off from Redis"
    ending = runs.Ending(OrderEnd.WITHDRAWN, now, "unclaimed", words)
    runs.end_order(session, found.run, found.order, ending)
    agents.suspect(session, found.order.node_id, words)
    _log.warning("order_withdrawn", run_id=found.run.id, order_id=order_id, node_id=found.order.node_id)


def _unsent(items: Sequence[T], send: Callable[[T], None]) -> Sequence[T]:
    """Send in order; from the first that Redis does not take on, all are unsent: the others would wait as long."""
    for index, item in enumerate(items):
        try:
            send(item)
        except BrokerAwayError as error:
            _log.warning("broker_away", unsent=len(items) - index, error=str(error))
            return items[index:]
    return []
