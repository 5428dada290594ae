"""Tables of channels and of what was sent through them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified, Json
from iotide_server.notifications.messages import MessageKind


class Channel(Identified, Base):
    """A way to people or to a program of theirs."""

    __tablename__ = "channel"

    # it tells of this cluster alone; None: of all
    cluster_id: Mapped[int | None] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"))
    name: Mapped[str]
    kind: Mapped[str]
    settings: Mapped[Json]  # how to reach the other end, by `kind`, without secrets
    sealed: Mapped[str | None]  # the secrets, as `kit.vault` seals them; None: it needs none
    # an `iotide_wire.window.Window` in which only tests are sent; None: there are none
    quiet_hours: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    # weekday, hour and time zone of the weekly digest; None: it gets none
    digest: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    digest_due_at: Mapped[datetime | None]  # when it comes next
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    delivered_at: Mapped[datetime | None]  # when a message last arrived
    # failed_at, failure: when one last did not, and why
    failed_at: Mapped[datetime | None]
    failure: Mapped[str | None]

    __table_args__ = (
        UniqueConstraint("cluster_id", "name", postgresql_nulls_not_distinct=True),
        CheckConstraint("kind IN ('email', 'webhook', 'slack', 'mattermost')", name="kind"),
        CheckConstraint("(digest IS NULL) = (digest_due_at IS NULL)", name="digest"),
    )


class Delivery(Identified, Base):
    """One message on its way through one channel, or at the end of it; kept for 90 days."""

    __tablename__ = "delivery"

    channel_id: Mapped[int] = mapped_column(ForeignKey("channel.id", ondelete="CASCADE"))
    key: Mapped[str]  # of what is told, so that a channel is told it once
    # the same in each attempt, by which a receiver knows a message that came twice
    message_id: Mapped[UUID] = mapped_column(server_default=func.gen_random_uuid())
    # kind, cluster_id, subject, text, path, data: of the message
    kind: Mapped[MessageKind] = mapped_column(String)
    cluster_id: Mapped[int | None] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"))
    subject: Mapped[str]
    text: Mapped[str]
    path: Mapped[str]
    data: Mapped[Json]
    state: Mapped[str]  # `waiting` for its next attempt, `delivered` or `failed` for good
    created_at: Mapped[datetime]
    due_at: Mapped[datetime | None]  # of the next attempt; None: there is none
    ended_at: Mapped[datetime | None]
    # each with `at`, with what came of it in `words`, and with the receiver's own text as `answer`
    attempts: Mapped[list[Any]] = mapped_column(server_default="[]")

    __table_args__ = (
        UniqueConstraint("channel_id", "key"),
        CheckConstraint("kind IN ('alert', 'digest', 'stuck', 'test')", name="kind"),
        CheckConstraint("state IN ('waiting', 'delivered', 'failed')", name="state"),
        Index("ix_delivery_created_at", "created_at"),
        Index("ix_delivery_channel_id_id", "channel_id", "id"),
    )
