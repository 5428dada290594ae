"""Tables of campaigns and their cells."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ColumnElement, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import BigInteger

from iotide_server.kit.db import Base, Identified, Json
from iotide_server.scratch.models import KnownSet


class Campaign(Identified, Base):
    """The state follows from the runs."""

    __tablename__ = "campaign"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    name: Mapped[str]
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    plan: Mapped[Json]  # as accepted, with the current priority
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    cancelled_at: Mapped[datetime | None]
    # a repeated POST with both returns this campaign
    idempotency_key: Mapped[str | None]
    request_sha256: Mapped[str]

    __table_args__ = (
        UniqueConstraint("owner_id", "idempotency_key"),
        Index("ix_campaign_cluster_id_id", "cluster_id", "id"),
    )


class CampaignAddition(Identified, Base):
    __tablename__ = "campaign_addition"

    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    repeats: Mapped[int]
    cell_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    # a repeated POST with both adds nothing
    idempotency_key: Mapped[str | None]
    request_sha256: Mapped[str]

    __table_args__ = (
        UniqueConstraint("owner_id", "idempotency_key"),
        Index("ix_campaign_addition_campaign_id", "campaign_id"),
    )


class CampaignStage(Base):
    __tablename__ = "campaign_stage"

    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True)
    ordinal: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    variant: Mapped[str]
    pause: Mapped[str | None]
    # `make`: only makes the file system of the next stage on the scratch set; `fill`: only fills it; `clean`: only
    # cleans the set
    does: Mapped[str] = mapped_column(server_default="measure")
    scratch_set_id: Mapped[int | None] = mapped_column(ForeignKey(KnownSet.id, ondelete="SET NULL"))
    # `held` until previous stages have ended, `paused` until an operator confirms, then `open`
    state: Mapped[str]
    paused_at: Mapped[datetime | None]
    # when an operator asked for mounts; earlier answers do not count
    looked_at: Mapped[datetime | None]
    opened_at: Mapped[datetime | None]
    confirmed_by: Mapped[str | None]
    found: Mapped[list[Any]] = mapped_column(JSONB, server_default=text("'[]'"))

    __table_args__ = (
        CheckConstraint("state IN ('held', 'paused', 'open')", name="state"),
        CheckConstraint("does IN ('measure', 'make', 'fill', 'mount', 'clean')", name="does"),
        Index("ix_campaign_stage_held", "campaign_id", postgresql_where=text("state = 'held'")),
    )


class CampaignWindow(Base):
    __tablename__ = "campaign_window"

    campaign_id: Mapped[int] = mapped_column(
        ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    is_open: Mapped[bool]  # its waiting runs are in their queues
    # current or next opening; runs that start at `start_by` or later could not end in it
    opens_at: Mapped[datetime]
    start_by: Mapped[datetime]
    # next check of `is_open`; None: no open runs
    turns_at: Mapped[datetime | None]

    __table_args__ = (Index("ix_campaign_window_turns_at", "turns_at", postgresql_where=text("turns_at IS NOT NULL")),)


class Cell(Identified, Base):
    __tablename__ = "cell"

    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"))
    ordinal: Mapped[int]
    stage: Mapped[int] = mapped_column(server_default="1")  # 1 without stages
    variant: Mapped[str] = mapped_column(server_default="")
    workload_id: Mapped[int] = mapped_column(ForeignKey("workload.id"))
    options: Mapped[Json]
    options_sha256: Mapped[str]  # options that differ from the workload's frozen defaults
    # estimated at submission
    bytes_needed: Mapped[float]
    bytes_moved: Mapped[float]
    # usual in any of its series, see `iotide_server.results.models.Point`
    usual_flags: Mapped[list[str]] = mapped_column(JSONB, server_default=text("'[]'"))

    __table_args__ = (UniqueConstraint("campaign_id", "ordinal"), Index("ix_cell_workload_id", "workload_id"))


class AdaptiveCell(Base):
    """Repeats of a cell of an adaptive plan."""

    __tablename__ = "adaptive_cell"

    cell_id: Mapped[int] = mapped_column(
        ForeignKey("cell.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    campaign_id: Mapped[int]  # copied from the cell
    # at the last look: number of valid runs, and half the width of their median's interval relative to it (None: too
    # few runs, or a median of 0)
    runs: Mapped[int] = mapped_column(server_default="0")
    half_width_ratio: Mapped[float | None]
    resembles_before: Mapped[bool] = mapped_column(server_default="false")  # the interval is too narrow
    # None: it gets more repeats. An ended one stays ended
    ended_at: Mapped[datetime | None]
    ended_because: Mapped[str | None]

    __table_args__ = (
        Index("ix_adaptive_cell_campaign_id", "campaign_id"),
        Index("ix_adaptive_cell_open", "campaign_id", postgresql_where=text("ended_at IS NULL")),
        CheckConstraint(
            "ended_because IN ('narrow', 'most', 'budget', 'failed', 'gone', 'cancelled')", name="ended_because"
        ),
        CheckConstraint("(ended_at IS NULL) = (ended_because IS NULL)", name="ended"),
    )


class CellNode(Base):
    __tablename__ = "cell_node"

    cell_id: Mapped[int] = mapped_column(ForeignKey("cell.id", ondelete="CASCADE"), primary_key=True)
    node_id: Mapped[int] = mapped_column(ForeignKey("node.id"), primary_key=True)
    # `sender` and `maker` load no target, `receiver`, `head` and `member` do; None: all of the work
    step_role: Mapped[str | None]

    __table_args__ = (
        Index("ix_cell_node_node_id", "node_id"),
        CheckConstraint("step_role IN ('sender', 'receiver', 'maker', 'head', 'member')", name="step_role"),
    )

    @classmethod
    def loads(cls) -> ColumnElement[bool]:
        return cls.step_role.is_distinct_from("sender")


class CellObserver(Base):
    """Node that only observes runs; not in the key of a series."""

    __tablename__ = "cell_observer"

    cell_id: Mapped[int] = mapped_column(ForeignKey("cell.id", ondelete="CASCADE"), primary_key=True)
    node_id: Mapped[int] = mapped_column(ForeignKey("node.id"), primary_key=True)

    __table_args__ = (Index("ix_cell_observer_node_id", "node_id"),)


class CellTarget(Base):
    __tablename__ = "cell_target"

    cell_id: Mapped[int] = mapped_column(ForeignKey("cell.id", ondelete="CASCADE"), primary_key=True)
    target_id: Mapped[int] = mapped_column(ForeignKey("target.id"), primary_key=True)

    __table_args__ = (Index("ix_cell_target_target_id", "target_id"),)


class PublishedSource(Identified, Base):
    """Article, report or page with published results."""

    __tablename__ = "published_source"

    key: Mapped[str] = mapped_column(unique=True)
    edition_sha256: Mapped[str]
    printed: Mapped[Json]  # the `PublishedReference` without its tables


class PublishedCampaign(Base):
    __tablename__ = "published_campaign"

    campaign_id: Mapped[int] = mapped_column(
        ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    source_id: Mapped[int] = mapped_column(ForeignKey("published_source.id", ondelete="CASCADE"), index=True)
