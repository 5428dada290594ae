"""Deliveries: attempts, outcomes and retries.

Messages are sent at least once: again if a worker dies between the receiver's response and its commit. All attempts
have the same message id, so that the receiver recognises a repeat.
"""

import secrets
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.change_feed import service as live
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.clock import Clock
from iotide_server.kit.vault import SealBrokenError, Vault
from iotide_server.kit.work import Errand
from iotide_server.notifications import repository
from iotide_server.notifications.channels import own_channel
from iotide_server.notifications.hours import quiet_until
from iotide_server.notifications.letters import Parcel
from iotide_server.notifications.messages import Message
from iotide_server.notifications.models import Channel, Delivery
from iotide_server.notifications.sending import AttemptOutcome, Courier, Result
from iotide_server.notifications.service import new_delivery, quiet_hours_of

OFFICE: Final[AppValue["Office"]] = AppValue("office")


class Office:
    """Sends deliveries. Without a vault it has no secrets."""

    def __init__(self, vault: Vault | None, courier: Courier, public_url: str, clock: Clock) -> None:
        self._vault = vault
        self._courier = courier
        self._public_url = public_url.rstrip("/")
        self._clock = clock

    @property
    def errand(self) -> Errand[Parcel, AttemptOutcome]:
        return Errand(self.begin, self._courier.send, self.end)

    def send(self, parcel: Parcel) -> AttemptOutcome:
        return self._courier.send(parcel)

    def begin(self, session: Session, delivery_id: int) -> Parcel | datetime | None:
        """Record an attempt. Return what to send, or the end of quiet hours."""
        found = repository.locked_delivery(session, delivery_id)
        if found is None or found[0].state != "waiting":
            return None
        delivery, channel = found
        now = self._clock()
        quiet_end = quiet_until(quiet_hours_of(channel), now)
        if quiet_end is not None:
            delivery.due_at = quiet_end
            return quiet_end
        return self._attempt(delivery, channel, now)

    def begin_test(self, session: Session, principal: Principal, channel_id: int) -> tuple[int, Parcel]:
        """Return a delivery to try once, regardless of quiet hours, and what to send."""
        channel = own_channel(session, principal, channel_id, Role.ADMIN)
        message = Message(
            kind="test",
            cluster_id=channel.cluster_id,
            subject=f"Test of channel {channel.name}",
            text=f"{principal.name} sent this test message. Alerts will arrive in the same way.",
            path="/settings",
            data={"channel": channel.name, "asked_by": principal.name},
        )
        now = self._clock()
        delivery = new_delivery(channel, message, f"test {secrets.token_hex(8)}", now)
        session.add(delivery)
        session.flush()
        after = {"name": channel.name, "delivery": delivery.id}
        audit.record(session, principal, Action.on("channel_tested", channel, after=after))
        return delivery.id, self._attempt(delivery, channel, now)

    def end(self, session: Session, delivery_id: int, outcome: AttemptOutcome) -> datetime | None:
        found = repository.locked_delivery(session, delivery_id)
        if found is None:
            return None
        delivery, channel = found
        now = self._clock()
        said = {"words": outcome.words, "answer": outcome.answer or None}
        delivery.attempts = [*delivery.attempts[:-1], {**delivery.attempts[-1], **said}]
        delivery.due_at = None
        if outcome.result == Result.DELIVERED:
            channel.delivered_at = now
        else:
            channel.failed_at, channel.failure = now, outcome.words
        if outcome.result == Result.TRY_AGAIN and delivery.kind != "test":
            first_at = datetime.fromisoformat(delivery.attempts[0]["at"])
            delivery.due_at = next_attempt(first_at, len(delivery.attempts), now, outcome.pause)
        if delivery.due_at is None:
            delivery.state = "delivered" if outcome.result == Result.DELIVERED else "failed"
            delivery.ended_at = now
        session.flush()
        live.publish(session, "channel", channel.id, channel.cluster_id)
        return delivery.due_at

    def _attempt(self, delivery: Delivery, channel: Channel, now: datetime) -> Parcel:
        delivery.attempts = [*delivery.attempts, {"at": now.isoformat(), "words": None}]
        return Parcel(
            kind=channel.kind,
            settings=channel.settings,
            secrets=self._opened(channel.sealed),
            message=_message(delivery),
            message_id=f"msg_{delivery.message_id.hex}",
            url=f"{self._public_url}{delivery.path}",
            created_at=delivery.created_at,
            sent_at=now,
        )

    def _opened(self, sealed: str | None) -> dict[str, str] | None:
        if sealed is None:
            return {}
        try:
            return None if self._vault is None else self._vault.open(sealed)
        except SealBrokenError:
            return None


def _message(delivery: Delivery) -> Message:
    return Message(delivery.kind, delivery.cluster_id, delivery.subject, delivery.text, delivery.path, delivery.data)


FIRST_PAUSE: Final = timedelta(seconds=30)
LONGEST_PAUSE: Final = timedelta(hours=2)
GIVEN_UP_AFTER: Final = timedelta(hours=24)

_MOST_DOUBLINGS: Final = 8


def next_attempt(first_at: datetime, attempts: int, now: datetime, wished: timedelta | None) -> datetime | None:
    """Return when to try again: after 30 s, doubling up to 2 h, or later if `wished`. None after 24 h."""
    pause = min(FIRST_PAUSE * 2 ** min(attempts - 1, _MOST_DOUBLINGS), LONGEST_PAUSE)
    if wished is not None:
        pause = max(pause, min(wished, LONGEST_PAUSE))
    at = now + pause
    return at if at - first_at <= GIVEN_UP_AFTER else None
