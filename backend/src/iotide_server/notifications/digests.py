"""Schedule of weekly digests.

A channel with a digest has a row of work of the kind DIGEST. The module that composes the text registers a handler in
`worker.HANDLERS`, which returns the result of `send_digests`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from iotide_server.kit.work import want_work
from iotide_server.kit.zones import zone_named
from iotide_server.notifications import repository
from iotide_server.notifications.hours import weekly_after
from iotide_server.notifications.models import Channel
from iotide_server.notifications.service import Message, announce

DIGEST: Final = "digest"  # work that sends a channel's digests; its key is the channel

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEK: Final = timedelta(days=7)
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class DueDigest:
    channel_id: int
    cluster_id: int
    since: datetime
    until: datetime
    key: str


def plan_digest(session: Session, channel: Channel, now: datetime) -> None:
    channel.digest_due_at = _next_after(channel, now)
    session.flush()
    if channel.digest_due_at is not None:
        want_work(session, DIGEST, channel.id, channel.digest_due_at)


def due_digests(session: Session, channel_id: int, now: datetime) -> list[DueDigest]:
    # Of several missed hours, only the last counts.
    channel = repository.locked_channel(session, channel_id)
    if channel is None or channel.digest_due_at is None or channel.digest_due_at > now:
        return []
    until = channel.digest_due_at
    while (following := _next_after(channel, until)) is not None and following <= now:
        until = following
    clusters = repository.cluster_ids(session) if channel.cluster_id is None else [channel.cluster_id]
    return [
        DueDigest(channel.id, cluster_id, until - _WEEK, until, f"digest {cluster_id} {until.isoformat()}")
        for cluster_id in clusters
    ]


def send_digests(
    session: Session, channel_id: int, now: datetime, compose: Callable[[Session, DueDigest], Message | None]
) -> datetime | None:
    """Send due digests of `compose` (None: nothing to report), once each. Return when the next are due."""
    for digest in due_digests(session, channel_id, now):
        message = _composed(session, digest, compose)
        if message is not None:
            announce(session, message, channel_ids=[channel_id], key=digest.key, now=now)
    channel = repository.locked_channel(session, channel_id)
    if channel is None or channel.digest_due_at is None:
        return None
    if channel.digest_due_at <= now:
        channel.digest_due_at = _next_after(channel, now)
    return channel.digest_due_at


def _composed(
    session: Session, digest: DueDigest, compose: Callable[[Session, DueDigest], Message | None]
) -> Message | None:
    """Return the digest or an error message, because reported data may break its cluster's digest."""
    try:
        with session.begin_nested():
            return compose(session, digest)
    except (ArithmeticError, LookupError, TypeError, ValueError, SQLAlchemyError):
        _log.exception("digest_not_written", channel_id=digest.channel_id, cluster_id=digest.cluster_id)
    return Message(
        kind="digest",
        cluster_id=digest.cluster_id,
        subject=f"the digest of cluster {digest.cluster_id} could not be created",
        text="See the log of the server's worker for the reason.",
        path=f"/alerts?cluster={digest.cluster_id}",
        data={"since": digest.since.isoformat(), "until": digest.until.isoformat()},
    )


def _next_after(channel: Channel, moment: datetime) -> datetime | None:
    if channel.digest is None:
        return None
    zone = zone_named(channel.digest["time_zone"], field="digest.time_zone")
    return weekly_after(moment, WEEKDAYS.index(channel.digest["weekday"]), channel.digest["hour"], zone)
