"""Tables of executions: a run, its attempts and what each node does in one."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified


class Run(Identified, Base):
    """One repeat of a cell.

    Attributes:
        sort_key: place in every line it stands in: seconds of submission minus an hour for each step of priority.
        not_before: after a declined or lost attempt it waits until then.
        validity: `valid` or `rejected`; a column beside the state, decided by its flags.
        overdue: its time limit passed in silence; nothing was freed for that.
        environment_sha256: of the facts it ran under, see `environment`.
    """

    __tablename__ = "run"

    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"))
    cell_id: Mapped[int] = mapped_column(ForeignKey("cell.id"))
    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    repeat: Mapped[int]
    state: Mapped[str] = mapped_column(server_default="waiting")
    validity: Mapped[str] = mapped_column(server_default="valid")
    flags: Mapped[list[Any]] = mapped_column(JSONB, server_default=text("'[]'"))
    overdue: Mapped[bool] = mapped_column(server_default="false")
    exclusive: Mapped[str]
    sort_key: Mapped[float]
    time_limit_seconds: Mapped[float]
    attempts_allowed: Mapped[int]
    attempts_made: Mapped[int] = mapped_column(server_default="0")
    declines: Mapped[int] = mapped_column(server_default="0")
    not_before: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    reason_code: Mapped[str | None]
    reason: Mapped[str | None]
    environment_sha256: Mapped[str | None]

    __table_args__ = (
        UniqueConstraint("cell_id", "repeat"),
        CheckConstraint("state IN ('waiting', 'active', 'finished', 'failed', 'cancelled')", name="state"),
        CheckConstraint("validity IN ('valid', 'rejected')", name="validity"),
        CheckConstraint("exclusive IN ('none', 'node', 'node+target', 'cluster')", name="exclusive"),
        Index("ix_run_campaign_id_id", "campaign_id", "id"),
        Index("ix_run_cluster_id_id", "cluster_id", "id"),
        Index("ix_run_open", "state", "sort_key", postgresql_where=text("state IN ('waiting', 'active')")),
    )


class Attempt(Identified, Base):
    """One try of a run; at most one of a run is open, whatever the code does."""

    __tablename__ = "attempt"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    ordinal: Mapped[int]
    state: Mapped[str] = mapped_column(server_default="open")
    fence: Mapped[int]
    go_at: Mapped[datetime | None]
    opened_at: Mapped[datetime] = mapped_column(server_default=func.now())
    ended_at: Mapped[datetime | None]
    reason_code: Mapped[str | None]
    reason: Mapped[str | None]

    __table_args__ = (
        UniqueConstraint("run_id", "ordinal"),
        Index("uq_attempt_open", "run_id", unique=True, postgresql_where=text("state = 'open'")),
        CheckConstraint("state IN ('open', 'finished', 'failed', 'cancelled', 'declined', 'lost')", name="state"),
    )


class Order(Identified, Base):
    """What one node does in an attempt.

    Attributes:
        next_offer_at: when the scheduler wakes the node again for an offer that nobody claimed.
        progress: fraction done, 0 to 1; phase: in words.
        silent_since: beats stopped then; a flag that frees nothing.
        result_sha256: digest of the stored result; the same result again changes nothing.
        steps: the commands as they ran (`StepRecord`).
    """

    __tablename__ = "node_order"

    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id"))
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    node_id: Mapped[int] = mapped_column(ForeignKey("node.id"))
    role: Mapped[str]
    state: Mapped[str] = mapped_column(server_default="offered")
    offers_made: Mapped[int] = mapped_column(server_default="0")
    offered_at: Mapped[datetime] = mapped_column(server_default=func.now())
    next_offer_at: Mapped[datetime | None] = mapped_column(server_default=func.now())
    claimed_at: Mapped[datetime | None]
    claimed_by: Mapped[str | None]
    claimed_boot_id: Mapped[str | None]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    progress: Mapped[float | None]
    phase: Mapped[str] = mapped_column(server_default="")
    silent_since: Mapped[datetime | None]
    cancel_wanted_at: Mapped[datetime | None]
    outcome: Mapped[str | None]
    result_sha256: Mapped[str | None]
    steps: Mapped[list[Any]] = mapped_column(JSONB, server_default=text("'[]'"))

    __table_args__ = (
        UniqueConstraint("attempt_id", "node_id", "role"),
        Index("ix_node_order_run_id", "run_id"),
        Index("ix_node_order_active", "node_id", postgresql_where=text("state <> 'ended'")),
        Index("ix_node_order_offered", "next_offer_at", postgresql_where=text("state = 'offered'")),
        CheckConstraint(
            "state IN ('offered', 'claimed', 'preflight', 'ready', 'running', 'uploading', 'ended')", name="state"
        ),
        CheckConstraint("role IN ('load', 'observe')", name="role"),
    )


class RunEvent(Identified, Base):
    """One line of a run's log."""

    __tablename__ = "run_event"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    order_id: Mapped[int | None] = mapped_column(ForeignKey("node_order.id"))
    at: Mapped[datetime] = mapped_column(server_default=func.now())
    kind: Mapped[str]
    text: Mapped[str]

    __table_args__ = (Index("ix_run_event_run_id_id", "run_id", "id"),)
