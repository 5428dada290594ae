"""SQL of channels and deliveries, including alert rules that use them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import or_, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from iotide_server.clusters.models import Cluster
from iotide_server.kit.db import any_of
from iotide_server.kit.pagination import PageRequest, Slice, newest_first
from iotide_server.notifications.models import Channel, Delivery

_FORGET: Final = text(
    """
    WITH old AS (DELETE FROM delivery WHERE created_at < :moment AND state <> 'waiting' RETURNING id)
    DELETE FROM work WHERE kind = :kind AND key IN (SELECT id FROM old)
    """
)

_RULES: Final = text(
    "SELECT name FROM alert_rule JOIN alert_rule_channel ON rule_id = alert_rule.id WHERE channel_id = :channel_id"
    " ORDER BY name"
)


def channels_by_id(session: Session, channel_ids: Collection[int]) -> list[Channel]:
    return list(session.scalars(select(Channel).where(Channel.id == any_of(channel_ids)).order_by(Channel.id)))


def channels_of_cluster(session: Session, cluster_id: int | None) -> Sequence[int]:
    statement = select(Channel.id).where(or_(Channel.cluster_id.is_(None), Channel.cluster_id == cluster_id))
    return session.scalars(statement.order_by(Channel.id)).all()


def locked_channel(session: Session, channel_id: int) -> Channel | None:
    statement = select(Channel).where(Channel.id == channel_id).with_for_update()
    return session.scalar(statement.execution_options(populate_existing=True))


def channels_page(
    session: Session, visible: frozenset[int] | None, cluster_id: int | None, paging: PageRequest
) -> Slice[Channel]:
    """Return channels of the visible clusters (None: all) and of all clusters, newest first.

    `cluster_id` selects those that get its messages.
    """
    statement = select(Channel)
    if visible is not None:
        statement = statement.where(or_(Channel.cluster_id.is_(None), Channel.cluster_id == any_of(visible)))
    if cluster_id is not None:
        statement = statement.where(or_(Channel.cluster_id.is_(None), Channel.cluster_id == cluster_id))
    return newest_first(session, statement, Channel.id, paging)


def rules_that_use(session: Session, channel_id: int) -> list[str]:
    return list(session.scalars(_RULES, {"channel_id": channel_id}))


def add_delivery(session: Session, delivery: Delivery) -> bool:
    """Add a delivery. Return false if the channel already has this key."""
    try:
        with session.begin_nested():
            session.add(delivery)
    except IntegrityError:
        return False
    return True


def locked_delivery(session: Session, delivery_id: int) -> tuple[Delivery, Channel] | None:
    statement = select(Delivery, Channel).join(Channel, Channel.id == Delivery.channel_id)
    row = session.execute(statement.where(Delivery.id == delivery_id).with_for_update(of=Delivery)).one_or_none()
    return None if row is None else (row[0], row[1])


def deliveries_page(
    session: Session, channel_id: int, visible: frozenset[int] | None, paging: PageRequest
) -> Slice[Delivery]:
    statement = select(Delivery).where(Delivery.channel_id == channel_id)
    if visible is not None:
        statement = statement.where(or_(Delivery.cluster_id.is_(None), Delivery.cluster_id == any_of(visible)))
    return newest_first(session, statement, Delivery.id, paging)


def cluster_ids(session: Session) -> list[int]:
    return list(session.scalars(select(Cluster.id).order_by(Cluster.id)))


def forget_before(session: Session, moment: datetime, work_kind: str) -> None:
    session.execute(_FORGET, {"moment": moment, "kind": work_kind})
