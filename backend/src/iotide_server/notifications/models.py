"""Tables of channels and deliveries."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified, Json
from iotide_server.notifications.messages import MessageKind


class Channel(Identified, Base):
    __tablename__ = "channel"

    # None: messages of all clusters
    cluster_id: Mapped[int | None] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"))
    name: Mapped[str]
    kind: Mapped[str]
    settings: Mapped[Json]  # address of the receiver, by `kind`, without secrets
    sealed: Mapped[str | None]  # encrypted by `kit.vault`
    # an `iotide_wire.window.Window` in which only tests are sent
    quiet_hours: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    digest: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    digest_due_at: Mapped[datetime | None]
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    delivered_at: Mapped[datetime | None]
    failed_at: Mapped[datetime | None]
    failure: Mapped[str | None]

    __table_args__ = (
        UniqueConstraint("cluster_id", "name", postgresql_nulls_not_distinct=True),
        CheckConstraint("kind IN ('email', 'webhook', 'slack', 'mattermost')", name="kind"),
        CheckConstraint("(digest IS NULL) = (digest_due_at IS NULL)", name="digest"),
    )


class Delivery(Identified, Base):
    """Message through a channel; kept for 90 days."""

    __tablename__ = "delivery"

    channel_id: Mapped[int] = mapped_column(ForeignKey("channel.id", ondelete="CASCADE"))
    key: Mapped[str]  # of the event, so that a channel reports it once
    message_id: Mapped[UUID] = mapped_column(server_default=func.gen_random_uuid())
    kind: Mapped[MessageKind] = mapped_column(String)
    cluster_id: Mapped[int | None] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"))
    subject: Mapped[str]
    text: Mapped[str]
    path: Mapped[str]
    data: Mapped[Json]
    state: Mapped[str]  # `waiting` for its next attempt, `delivered`, or finally `failed`
    created_at: Mapped[datetime]
    due_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    # each with `at`, the outcome in `words`, and the receiver's own text in `answer`
    attempts: Mapped[list[Any]] = mapped_column(server_default="[]")

    __table_args__ = (
        UniqueConstraint("channel_id", "key"),
        CheckConstraint("kind IN ('alert', 'digest', 'stuck', 'test')", name="kind"),
        CheckConstraint("state IN ('waiting', 'delivered', 'failed')", name="state"),
        Index("ix_delivery_created_at", "created_at"),
        Index("ix_delivery_channel_id_id", "channel_id", "id"),
    )
