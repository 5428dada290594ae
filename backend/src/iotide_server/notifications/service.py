"""Interface for other modules."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.change_feed import service as live
from iotide_server.kit.work import want_work
from iotide_server.notifications import repository
from iotide_server.notifications.errors import CHANNEL_NOT_FOUND
from iotide_server.notifications.hours import quiet_until
from iotide_server.notifications.messages import Message
from iotide_server.notifications.models import Channel, Delivery
from iotide_wire.window import Window

__all__ = ["Message", "announce", "announce_to_all", "channels_for", "forget_old", "new_delivery", "quiet_hours_of"]

DELIVERY: Final = "delivery"  # work that sends a message through a channel; its key is the delivery

KEPT_FOR: Final = timedelta(days=90)  # after it, the same key would be sent again


def announce(session: Session, message: Message, *, channel_ids: Sequence[int], key: str, now: datetime) -> None:
    """Send the message through each of these channels after this transaction and the channel's quiet hours.

    Channels that are gone or belong to another cluster are skipped. A channel gets each `key`, such as `alert 12
    confirmed`, once.
    """
    for channel in repository.channels_by_id(session, channel_ids):
        if channel.cluster_id is not None and channel.cluster_id != message.cluster_id:
            continue
        due_at = quiet_until(quiet_hours_of(channel), now) or now
        delivery = new_delivery(channel, message, key, now)
        delivery.due_at = due_at
        if repository.add_delivery(session, delivery):
            want_work(session, DELIVERY, delivery.id, due_at)
            live.publish(session, "channel", channel.id, channel.cluster_id)


def announce_to_all(session: Session, message: Message, *, key: str, now: datetime) -> None:
    channel_ids = repository.channels_of_cluster(session, message.cluster_id)
    announce(session, message, channel_ids=channel_ids, key=key, now=now)


def channels_for(session: Session, cluster_id: int | None, channel_ids: Sequence[int], *, field: str) -> list[Channel]:
    """Return these channels of the cluster (None: of all). CHANNEL_NOT_FOUND has the position in `field`."""
    found = {channel.id: channel for channel in repository.channels_by_id(session, channel_ids)}
    for index, channel_id in enumerate(channel_ids):
        channel = found.get(channel_id)
        if channel is None or channel.cluster_id not in (None, cluster_id):
            raise CHANNEL_NOT_FOUND(channel_id=channel_id, field=f"{field}[{index}]")
    return [found[channel_id] for channel_id in channel_ids]


def new_delivery(channel: Channel, message: Message, key: str, now: datetime) -> Delivery:
    return Delivery(
        channel_id=channel.id,
        key=key,
        **asdict(message),
        state="waiting",
        created_at=now,
        due_at=now,
        attempts=[],
    )


def quiet_hours_of(channel: Channel) -> Window | None:
    return None if channel.quiet_hours is None else Window.model_validate(channel.quiet_hours)


def forget_old(session: Session, now: datetime) -> None:
    repository.forget_before(session, now - KEPT_FOR, DELIVERY)
