"""Tables of schedules and firings."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified, Json


class Schedule(Identified, Base):
    __tablename__ = "schedule"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    name: Mapped[str]
    # owner of its campaigns; None if the user was deleted
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    plan: Mapped[Json]  # a `CampaignPlan`; empty after removal
    cron: Mapped[str]  # always set; `monthly` is its source, if any
    monthly: Mapped[str | None]
    time_zone: Mapped[str]
    random_offset_seconds: Mapped[float]
    ends_at: Mapped[datetime | None]
    max_firings: Mapped[int | None]
    missed: Mapped[str]
    state: Mapped[str]  # `ended`: no firing is left
    # without skipped and manual firings
    firings_made: Mapped[int] = mapped_column(server_default="0")
    # the next firing; due_at adds the random offset. None unless active.
    planned_at: Mapped[datetime | None]
    due_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    removed_at: Mapped[datetime | None]

    __table_args__ = (
        CheckConstraint("state IN ('active', 'paused', 'ended')", name="state"),
        CheckConstraint("missed IN ('skip', 'run_once')", name="missed"),
        CheckConstraint("(state = 'active') = (due_at IS NOT NULL)", name="due_at"),
        Index(
            "uq_schedule_cluster_id_name",
            "cluster_id",
            "name",
            unique=True,
            postgresql_where=text("removed_at IS NULL"),
        ),
        Index("ix_schedule_due_at", "due_at", postgresql_where=text("state = 'active'")),
    )


class Firing(Identified, Base):
    """One for each planned time."""

    __tablename__ = "firing"

    schedule_id: Mapped[int] = mapped_column(ForeignKey("schedule.id"))
    planned_at: Mapped[datetime]  # by the calendar, or the time of a manual run
    fired_at: Mapped[datetime]
    # None if it failed (`problem`) or was skipped
    campaign_id: Mapped[int | None] = mapped_column(ForeignKey("campaign.id"))
    problem: Mapped[str | None]
    # firings due while no scheduler ran, including this one if it came late. 0 if skipped because runs of the
    # previous campaign still wait.
    missed: Mapped[int] = mapped_column(server_default="0")
    asked_by: Mapped[str | None]  # user who ran it manually; None: the calendar

    __table_args__ = (
        UniqueConstraint("schedule_id", "planned_at"),
        Index("ix_firing_schedule_id_id", "schedule_id", "id"),
        Index("ix_firing_campaign_id", "campaign_id"),
        CheckConstraint("campaign_id IS NULL OR problem IS NULL", name="outcome"),
    )
