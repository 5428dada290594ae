"""Tables of alerts."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified, Json
from iotide_server.schedules.models import Schedule


class AlertRule(Identified, Base):
    __tablename__ = "alert_rule"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    name: Mapped[str]
    # target_id, workload, metric: of the covered series; None: any of the cluster
    target_id: Mapped[int | None] = mapped_column(ForeignKey("target.id"))
    workload: Mapped[str | None]
    metric: Mapped[str | None]
    least_shift_ratio: Mapped[float]
    directions: Mapped[str]  # `worse` or `both`
    missing_runs: Mapped[bool]  # also alert when scheduled series become stale
    control_workload: Mapped[str | None]  # if its series changed too, suspect the environment first
    muted_until: Mapped[datetime | None]
    created_at: Mapped[datetime]  # changes confirmed earlier raise no alert
    removed_at: Mapped[datetime | None]  # its open alerts are closed, and it raises none

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
    __tablename__ = "alert_rule_channel"

    rule_id: Mapped[int] = mapped_column(ForeignKey("alert_rule.id", ondelete="CASCADE"), primary_key=True)
    channel_id: Mapped[int] = mapped_column(ForeignKey("channel.id"), primary_key=True)

    __table_args__ = (Index("ix_alert_rule_channel_channel_id", "channel_id"),)


class Incident(Identified, Base):
    """Related changes of a cluster, or its series that became stale together."""

    __tablename__ = "alert_group"  # release 0.2.0 has this name

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    kind: Mapped[str]  # by its gravest change: `change` (worse), `better` or `neither`; `missing` is stale
    at: Mapped[datetime]  # of its first change
    # window_from, window_until: around the change that began it; those within two runs of it may belong to it
    window_from: Mapped[datetime]
    window_until: Mapped[datetime]
    # common to all of its series; may be empty
    node_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    is_environment: Mapped[bool] = mapped_column(server_default="false")
    created_at: Mapped[datetime]
    # when its message was queued for the channels
    told_at: Mapped[datetime | None]
    # state to owner_id: computed from its alerts and changes by `incidents.settling`
    state: Mapped[str] = mapped_column(server_default="open")
    ended_at: Mapped[datetime | None]  # when the last of its changes recovered or was over
    series_count: Mapped[int] = mapped_column(server_default="0")
    worst_change_id: Mapped[int | None] = mapped_column(ForeignKey("change_point.id", ondelete="SET NULL"))
    worst_ratio: Mapped[float | None]
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    event_id: Mapped[int | None] = mapped_column(ForeignKey("event.id", ondelete="SET NULL"))  # its cause
    is_event_set: Mapped[bool] = mapped_column(server_default="false")  # by a user; False: the nearest event

    __table_args__ = (
        CheckConstraint("kind IN ('change', 'missing', 'better', 'neither')", name="kind"),
        CheckConstraint("state IN ('open', 'acknowledged', 'expected', 'ignored', 'ended', 'withdrawn')", name="state"),
        Index("ix_alert_group_cluster_id_at", "cluster_id", "at"),
        Index("ix_alert_group_worst_change_id", "worst_change_id"),
        Index("ix_alert_group_owner_id", "owner_id"),
        Index("ix_alert_group_event_id", "event_id"),
    )


class IncidentChange(Base):
    """Each confirmed change belongs to one incident."""

    __tablename__ = "incident_change"

    change_point_id: Mapped[int] = mapped_column(
        ForeignKey("change_point.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    incident_id: Mapped[int] = mapped_column(ForeignKey("alert_group.id", ondelete="CASCADE"))

    __table_args__ = (Index("ix_incident_change_incident_id", "incident_id"),)


class IncidentAction(Identified, Base):
    """Action of a user on an incident. Its alerts have their own actions too."""

    __tablename__ = "incident_action"

    incident_id: Mapped[int] = mapped_column(ForeignKey("alert_group.id", ondelete="CASCADE"))
    at: Mapped[datetime] = mapped_column(server_default=func.now())
    who: Mapped[str]
    action: Mapped[str]
    comment: Mapped[str]
    # event_id and is_event_set of the incident, which its alerts do not have; restored if the action is undone
    before: Mapped[Json] = mapped_column(JSONB, server_default="{}")

    __table_args__ = (Index("ix_incident_action_incident_id", "incident_id", "id"),)


class Alert(Identified, Base):
    """Confirmed change that a rule covers, suspected change, or scheduled series without new points."""

    __tablename__ = "alert"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"))
    kind: Mapped[str]  # `missing`, the previous release's word, is a stale series
    state: Mapped[str]
    # its change, once confirmed; a change has at most one alert
    change_point_id: Mapped[int | None] = mapped_column(ForeignKey("change_point.id", ondelete="CASCADE"), unique=True)
    # last point of a stale series; each silence has at most one alert
    silent_since: Mapped[datetime | None]
    schedule_id: Mapped[int | None] = mapped_column(ForeignKey(Schedule.id))
    # None for a suspicion
    rule_id: Mapped[int | None] = mapped_column(ForeignKey("alert_rule.id"))
    group_id: Mapped[int | None] = mapped_column(ForeignKey("alert_group.id"))
    at: Mapped[datetime]  # of the first point after the change, or when a silent series became late
    # window_from, window_until: two points before and after; groups alerts
    window_from: Mapped[datetime]
    window_until: Mapped[datetime]
    raised_at: Mapped[datetime]
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    due_at: Mapped[datetime | None]
    event_id: Mapped[int | None] = mapped_column(ForeignKey("event.id", ondelete="SET NULL"))
    closed_because: Mapped[str | None]
    # state before an analysis ended it, restored if later points reverse that
    state_before: Mapped[str | None]
    baseline_level: Mapped[float | None]  # median after the change, accepted at `baseline_at`
    baseline_at: Mapped[datetime | None]
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
    __tablename__ = "alert_action"

    alert_id: Mapped[int] = mapped_column(ForeignKey("alert.id", ondelete="CASCADE"))
    at: Mapped[datetime] = mapped_column(server_default=func.now())
    who: Mapped[str | None]  # None: an analysis
    action: Mapped[str]
    comment: Mapped[str]
    before: Mapped[Json] = mapped_column(JSONB)
    after: Mapped[Json] = mapped_column(JSONB)

    __table_args__ = (Index("ix_alert_action_alert_id", "alert_id", "id"),)


class SeriesMute(Base):
    __tablename__ = "series_mute"

    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"), primary_key=True)
    until: Mapped[datetime]
    who: Mapped[str]
