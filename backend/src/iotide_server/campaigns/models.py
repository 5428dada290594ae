"""Tables of plans and their matrix."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ColumnElement, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import BigInteger

from iotide_server.kit.db import Base, Identified, Json


class Campaign(Identified, Base):
    """A plan with its matrix; its state follows from its runs."""

    __tablename__ = "campaign"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    name: Mapped[str]
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    plan: Mapped[Json]  # the `CampaignPlan` as it was accepted, but for a priority that was changed since
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    cancelled_at: Mapped[datetime | None]
    # idempotency_key, request_sha256: a repeated POST with the same key and body answers with this campaign
    idempotency_key: Mapped[str | None]
    request_sha256: Mapped[str]

    __table_args__ = (
        UniqueConstraint("owner_id", "idempotency_key"),
        Index("ix_campaign_cluster_id_id", "cluster_id", "id"),
    )


class CampaignAddition(Identified, Base):
    """Repeats that were added to cells of a campaign after it was submitted."""

    __tablename__ = "campaign_addition"

    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))  # who added them
    repeats: Mapped[int]
    cell_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    # idempotency_key, request_sha256: a repeated POST with the same key and body adds nothing
    idempotency_key: Mapped[str | None]
    request_sha256: Mapped[str]

    __table_args__ = (
        UniqueConstraint("owner_id", "idempotency_key"),
        Index("ix_campaign_addition_campaign_id", "campaign_id"),
    )


class CampaignStage(Base):
    """A state of the servers in which a campaign's whole matrix is run; a campaign without stages has no rows."""

    __tablename__ = "campaign_stage"

    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True)
    ordinal: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    variant: Mapped[str]
    pause: Mapped[str | None]
    # `held` until the stages before it have ended, then `paused` until an operator confirms it or at once `open`: its
    # runs may start
    state: Mapped[str]
    paused_at: Mapped[datetime | None]
    # an operator asked then for what is mounted; what nodes said before does not count
    looked_at: Mapped[datetime | None]
    opened_at: Mapped[datetime | None]
    confirmed_by: Mapped[str | None]
    # the mounts that were accepted with the confirmation
    found: Mapped[list[Any]] = mapped_column(JSONB, server_default=text("'[]'"))

    __table_args__ = (
        CheckConstraint("state IN ('held', 'paused', 'open')", name="state"),
        Index("ix_campaign_stage_held", "campaign_id", postgresql_where=text("state = 'held'")),
    )


class CampaignWindow(Base):
    """Whether the window of a campaign's plan is open; a campaign without a window has no row."""

    __tablename__ = "campaign_window"

    campaign_id: Mapped[int] = mapped_column(
        ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    is_open: Mapped[bool]  # its waiting runs stand in their lines; while it is closed, none does
    # opens_at, start_by: of the present opening or, while it is closed, of the next one: no run starts at `start_by` or
    # later, since it could not end in the window
    opens_at: Mapped[datetime]
    start_by: Mapped[datetime]
    # when `is_open` is to be looked at again; None where no run of the campaign waits or is active
    turns_at: Mapped[datetime | None]

    __table_args__ = (Index("ix_campaign_window_turns_at", "turns_at", postgresql_where=text("turns_at IS NOT NULL")),)


class Cell(Identified, Base):
    """One combination of the matrix."""

    __tablename__ = "cell"

    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"))
    ordinal: Mapped[int]
    stage: Mapped[int] = mapped_column(server_default="1")  # ordinal of the stage, 1 where the campaign has none
    variant: Mapped[str] = mapped_column(server_default="")  # the stage's; empty where the campaign has none
    workload_id: Mapped[int] = mapped_column(ForeignKey("workload.id"))
    options: Mapped[Json]  # complete, validated, in base units
    options_sha256: Mapped[str]  # of the options that differ from the workload's frozen defaults, sorted
    # bytes_needed, bytes_moved: as foreseen when it was submitted
    bytes_needed: Mapped[float]
    bytes_moved: Mapped[float]

    __table_args__ = (UniqueConstraint("campaign_id", "ordinal"), Index("ix_cell_workload_id", "workload_id"))


class CellNode(Base):
    """A node of a cell."""

    __tablename__ = "cell_node"

    cell_id: Mapped[int] = mapped_column(ForeignKey("cell.id", ondelete="CASCADE"), primary_key=True)
    node_id: Mapped[int] = mapped_column(ForeignKey("node.id"), primary_key=True)
    # `sender`, which loads no target of the cell, or `receiver`; None: it does all of the work
    step_role: Mapped[str | None]

    __table_args__ = (
        Index("ix_cell_node_node_id", "node_id"),
        CheckConstraint("step_role IN ('sender', 'receiver')", name="step_role"),
    )

    @classmethod
    def loads(cls) -> ColumnElement[bool]:
        return cls.step_role.is_distinct_from("sender")


class CellObserver(Base):
    """A node that only observes the runs of a cell; no part of what its series are known by."""

    __tablename__ = "cell_observer"

    cell_id: Mapped[int] = mapped_column(ForeignKey("cell.id", ondelete="CASCADE"), primary_key=True)
    node_id: Mapped[int] = mapped_column(ForeignKey("node.id"), primary_key=True)

    __table_args__ = (Index("ix_cell_observer_node_id", "node_id"),)


class CellTarget(Base):
    """A target of a cell."""

    __tablename__ = "cell_target"

    cell_id: Mapped[int] = mapped_column(ForeignKey("cell.id", ondelete="CASCADE"), primary_key=True)
    target_id: Mapped[int] = mapped_column(ForeignKey("target.id"), primary_key=True)

    __table_args__ = (Index("ix_cell_target_target_id", "target_id"),)


class PublishedSource(Identified, Base):
    """An article, report or page with numbers."""

    __tablename__ = "published_source"

    key: Mapped[str] = mapped_column(unique=True)
    edition_sha256: Mapped[str]  # of the file of published results that it was loaded from
    printed: Mapped[Json]  # the `PublishedReference` without its tables


class PublishedCampaign(Base):
    """A campaign that holds what a source printed."""

    __tablename__ = "published_campaign"

    campaign_id: Mapped[int] = mapped_column(
        ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    source_id: Mapped[int] = mapped_column(ForeignKey("published_source.id", ondelete="CASCADE"), index=True)
