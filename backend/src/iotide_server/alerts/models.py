"""Tables of alerts: rules, what they raised, what belongs together, and what was done about it."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified, Json


class AlertRule(Identified, Base):
    """Of which changes of which series somebody is told."""

    __tablename__ = "alert_rule"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    name: Mapped[str]
    # target_id, workload, metric: of the series it covers; None: any of the cluster
    target_id: Mapped[int | None] = mapped_column(ForeignKey("target.id"))
    workload: Mapped[str | None]
    metric: Mapped[str | None]
    least_shift_ratio: Mapped[float]  # smaller changes are shown and no alert
    directions: Mapped[str]  # `worse` or `both`
    missing_runs: Mapped[bool]  # whether it alerts of scheduled series that stopped, too
    control_workload: Mapped[str | None]  # where a series of it changed along, the environment is to be looked at first
    muted_until: Mapped[datetime | None]  # nobody is told before
    created_at: Mapped[datetime]  # of changes that were confirmed earlier it raises nothing
    removed_at: Mapped[datetime | None]  # from then on it raises nothing; its alerts were closed

    __table_args__ = (
        CheckConstraint("directions IN ('worse', 'both')", name="directions"),
        CheckConstraint("least_shift_ratio > 0", name="least_shift_ratio"),
        Index(
            "uq_alert_rule_cluster_id_name",
            "cluster_id",
            "name",
            unique=True,
            postgresql_where=text("removed_at IS NULL"),
        ),
    )


class AlertRuleChannel(Base):
    """A channel through which the alerts of a rule are told; without any they are shown only."""

    __tablename__ = "alert_rule_channel"

    rule_id: Mapped[int] = mapped_column(ForeignKey("alert_rule.id", ondelete="CASCADE"), primary_key=True)
    channel_id: Mapped[int] = mapped_column(ForeignKey("channel.id"), primary_key=True)

    __table_args__ = (Index("ix_alert_rule_channel_channel_id", "channel_id"),)


class AlertGroup(Identified, Base):
    """Alerts of one cluster that happened within two runs: one message tells of all of them."""

    __tablename__ = "alert_group"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    kind: Mapped[str]
    # at, window_from, window_until: of its first alert; what is within two runs of that belongs to it
    at: Mapped[datetime]
    window_from: Mapped[datetime]
    window_until: Mapped[datetime]
    # that all of its series have in common; empty where they have none
    node_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    is_environment: Mapped[bool] = mapped_column(server_default="false")  # a control workload changed along
    created_at: Mapped[datetime]
    # when its message was handed to the channels; None: not yet, or nobody is to be told
    told_at: Mapped[datetime | None]

    __table_args__ = (
        CheckConstraint("kind IN ('change', 'missing')", name="kind"),
        Index("ix_alert_group_cluster_id_at", "cluster_id", "at"),
    )


class Alert(Identified, Base):
    """A change that a rule covers, a suspicion of one, or a scheduled series without points."""

    __tablename__ = "alert"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"))
    kind: Mapped[str]  # `missing` is a stale series; the previous release knows no other word for it
    state: Mapped[str]
    # what it is about, once that is found; a change has one alert for ever
    change_point_id: Mapped[int | None] = mapped_column(ForeignKey("change_point.id", ondelete="CASCADE"), unique=True)
    # of a series that stopped: its last point; such a silence has one alert for ever
    silent_since: Mapped[datetime | None]
    schedule_id: Mapped[int | None] = mapped_column(ForeignKey("schedule.id"))  # that goes on without giving it points
    # that answers for it; None for a suspicion
    rule_id: Mapped[int | None] = mapped_column(ForeignKey("alert_rule.id"))
    group_id: Mapped[int | None] = mapped_column(ForeignKey("alert_group.id"))
    at: Mapped[datetime]  # when the first point after it was measured; of a silence the time from which on it was late
    # window_from, window_until: two points before that and two after it; alerts within are of one group
    window_from: Mapped[datetime]
    window_until: Mapped[datetime]
    raised_at: Mapped[datetime]
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    due_at: Mapped[datetime | None]
    event_id: Mapped[int | None] = mapped_column(ForeignKey("event.id", ondelete="SET NULL"))
    closed_because: Mapped[str | None]
    # what it was before an analysis ended it; where later points take that back, it is that again
    state_before: Mapped[str | None]
    baseline_level: Mapped[float | None]  # the median after it, which is normal since `baseline_at`
    baseline_at: Mapped[datetime | None]
    # the campaign that was submitted to see whether a suspicion is right
    confirmation_id: Mapped[int | None] = mapped_column(ForeignKey("campaign.id"))

    __table_args__ = (
        UniqueConstraint("series_id", "silent_since"),
        CheckConstraint("kind IN ('change', 'missing')", name="kind"),
        CheckConstraint(
            "state IN ('suspect', 'untriaged', 'acknowledged', 'investigating', 'expected', 'noise', 'wont_fix',"
            " 'fixed', 'verified', 'recovered', 'closed')",
            name="state",
        ),
        CheckConstraint("(state = 'closed') = (closed_because IS NOT NULL)", name="closed"),
        CheckConstraint("(kind = 'missing') = (silent_since IS NOT NULL)", name="silent_since"),
        CheckConstraint("(baseline_at IS NULL) = (baseline_level IS NULL)", name="baseline"),
        Index("ix_alert_cluster_id_id", "cluster_id", "id"),
        Index("ix_alert_rule_id", "rule_id"),
        Index("ix_alert_group_id", "group_id"),
        Index("uq_alert_suspect", "series_id", unique=True, postgresql_where=text("state = 'suspect'")),
    )


class AlertAction(Identified, Base):
    """What was done about an alert; never updated."""

    __tablename__ = "alert_action"

    alert_id: Mapped[int] = mapped_column(ForeignKey("alert.id", ondelete="CASCADE"))
    at: Mapped[datetime] = mapped_column(server_default=func.now())
    who: Mapped[str | None]  # a person; None: it came by itself, of an analysis
    action: Mapped[str]  # a `lifecycle.Move` or `lifecycle.News`, or what else became of it
    comment: Mapped[str]
    # before, after: what it changed
    before: Mapped[Json] = mapped_column(JSONB)
    after: Mapped[Json] = mapped_column(JSONB)

    __table_args__ = (Index("ix_alert_action_alert_id", "alert_id", "id"),)


class SeriesMute(Base):
    """Of this series nobody is told before then; its alerts are raised and shown."""

    __tablename__ = "series_mute"

    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"), primary_key=True)
    until: Mapped[datetime]
    who: Mapped[str]
