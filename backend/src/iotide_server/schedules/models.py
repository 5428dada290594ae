"""Tables of schedules and of what their firings came to."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified, Json


class Schedule(Identified, Base):
    """A stored plan with its calendar."""

    __tablename__ = "schedule"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    name: Mapped[str]
    # in whose name its campaigns are submitted; None when that person is gone
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    plan: Mapped[Json]  # the `CampaignPlan` that each firing submits; empty once it was removed
    cron: Mapped[str]  # complete; `monthly` is the rule that it was made of, if any
    monthly: Mapped[str | None]
    time_zone: Mapped[str]
    random_offset_seconds: Mapped[float]
    ends_at: Mapped[datetime | None]
    max_firings: Mapped[int | None]
    missed: Mapped[str]
    state: Mapped[str]  # `active`, `paused` by a person, or `ended` since its calendar has no firing left
    # without those that were left out or asked for by hand
    firings_made: Mapped[int] = mapped_column(server_default="0")
    # the next firing by the calendar; due_at: when it comes, by its random offset. None unless active.
    planned_at: Mapped[datetime | None]
    due_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    removed_at: Mapped[datetime | None]  # from then on nobody sees it but from its campaigns

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
    """What a firing came to; a second one of the same moment cannot be."""

    __tablename__ = "firing"

    schedule_id: Mapped[int] = mapped_column(ForeignKey("schedule.id"))
    planned_at: Mapped[datetime]  # by the calendar; for one that a person asked for, when they did
    fired_at: Mapped[datetime]
    # None where there is a `problem`, or where it was skipped
    campaign_id: Mapped[int | None] = mapped_column(ForeignKey("campaign.id"))
    problem: Mapped[str | None]  # why the plan could not be submitted, in words
    # the number of firings, this one included where it came late, for which no scheduler ran. 0 where it was skipped
    # because runs of the schedule's previous campaign still wait
    missed: Mapped[int] = mapped_column(server_default="0")
    asked_by: Mapped[str | None]  # the person who asked for it; None: the calendar

    __table_args__ = (
        UniqueConstraint("schedule_id", "planned_at"),
        Index("ix_firing_schedule_id_id", "schedule_id", "id"),
        Index("ix_firing_campaign_id", "campaign_id"),
        CheckConstraint("campaign_id IS NULL OR problem IS NULL", name="outcome"),
    )
