"""Tables of schedules and of what their firings came to."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified, Json


class Schedule(Identified, Base):
    """A stored plan with its calendar.

    Attributes:
        owner_id: in whose name its campaigns are submitted; None when that person is gone.
        plan: the `CampaignPlan` that each firing submits; empty once it was removed.
        cron: complete; `monthly` is the rule that it was made of, if any.
        state: `active`, `paused` by a person, or `ended` since its calendar has no firing left.
        firings_made: without those that were left out or asked for by hand.
        planned_at: the next firing by the calendar; due_at: when it comes, by its random offset. None unless active.
        removed_at: from then on nobody sees it but from its campaigns.
    """

    __tablename__ = "schedule"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    name: Mapped[str]
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    plan: Mapped[Json]
    cron: Mapped[str]
    monthly: Mapped[str | None]
    time_zone: Mapped[str]
    random_offset_seconds: Mapped[float]
    ends_at: Mapped[datetime | None]
    max_firings: Mapped[int | None]
    missed: Mapped[str]
    state: Mapped[str]
    firings_made: Mapped[int] = mapped_column(server_default="0")
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
    """What a firing came to; a second one of the same moment cannot be.

    Attributes:
        planned_at: by the calendar; for one that a person asked for, when they did.
        campaign_id: None where there is a `problem`, or where it was skipped.
        problem: why the plan could not be submitted, in words.
        missed: the number of firings, this one included where it came late, for which no scheduler ran. 0 where it was
            skipped because runs of the schedule's previous campaign still wait.
        asked_by: the person who asked for it; None: the calendar.
    """

    __tablename__ = "firing"

    schedule_id: Mapped[int] = mapped_column(ForeignKey("schedule.id"))
    planned_at: Mapped[datetime]
    fired_at: Mapped[datetime]
    campaign_id: Mapped[int | None] = mapped_column(ForeignKey("campaign.id"))
    problem: Mapped[str | None]
    missed: Mapped[int] = mapped_column(server_default="0")
    asked_by: Mapped[str | None]

    __table_args__ = (
        UniqueConstraint("schedule_id", "planned_at"),
        Index("ix_firing_schedule_id_id", "schedule_id", "id"),
        Index("ix_firing_campaign_id", "campaign_id"),
        CheckConstraint("campaign_id IS NULL OR problem IS NULL", name="outcome"),
    )
