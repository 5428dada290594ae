"""Tables of trends."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified, Json
from iotide_server.trends.changes.words import event_series_words


class SeriesCourse(Base):
    __tablename__ = "series_course"

    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"), primary_key=True)
    course: Mapped[str]  # `iotide_server.statistics.course.Course`
    point_count: Mapped[int]  # points at that time; only the newest MOST_RUNS are analysed
    missing_points: Mapped[int]
    memory: Mapped[float]
    # robust spread of the newest points around their level, relative to it; None: unknown
    scatter_ratio: Mapped[float | None]
    # `iotide_server.trends.changes.drift.Drift`
    drift: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    # `iotide_server.trends.changes.noise.NoiseChange`
    noise: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    # centre, low, high and is_higher
    suspect: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    # between days with points; None: too few days
    usual_gap_seconds: Mapped[float | None]
    detector: Mapped[str]
    # analysis that replaced another detector's; changes found or gone at this time are its differences
    detector_since: Mapped[datetime | None]
    analysed_at: Mapped[datetime]

    __table_args__ = (
        CheckConstraint("course IN ('too_short', 'steady', 'changed', 'drift')", name="course"),
        CheckConstraint("(course = 'drift') = (drift IS NOT NULL)", name="drift"),
    )


class ChangePoint(Identified, Base):
    """Analyses may move it by a few points; the row stays the same."""

    __tablename__ = "change_point"

    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"))
    at: Mapped[datetime]
    previous_at: Mapped[datetime]
    cell_id: Mapped[int] = mapped_column(ForeignKey("cell.id"))
    # points_before to p_value: see `iotide_server.statistics.course.LevelChange`; medians in the series' base unit
    points_before: Mapped[int]
    points_after: Mapped[int]
    median_before: Mapped[float]
    median_after: Mapped[float]
    shift_ratio: Mapped[float | None]
    p_value: Mapped[float]
    found_at: Mapped[datetime]
    found_points: Mapped[int]  # points at the first analysis since which every analysis found it
    # None: not found by CONFIRMING_RUNS more points yet
    confirmed_at: Mapped[datetime | None]
    gone_at: Mapped[
        datetime | None
    ]  # when an analysis withdrew it or found that it is over; None again if one finds it
    over_at: Mapped[datetime | None]  # first point after a shift that came and ended; it is gone, but stays listed
    # recovered_by_id, recovered_at: the confirmed change that recovered this one, and its `at`
    recovered_by_id: Mapped[int | None] = mapped_column(ForeignKey("change_point.id"))
    recovered_at: Mapped[datetime | None]
    # healthy_level, healthy_until: of a change for the better after one for the worse, the latter's `median_before`
    # and `at`
    healthy_level: Mapped[float | None]
    healthy_until: Mapped[datetime | None]
    is_recovery: Mapped[bool] = mapped_column(server_default="false")  # it only returns towards `healthy_level`
    detector: Mapped[str]

    __table_args__ = (
        Index("ix_change_point_series_id_at", "series_id", "at"),
        CheckConstraint("(recovered_by_id IS NULL) = (recovered_at IS NULL)", name="recovered"),
        CheckConstraint("(healthy_level IS NULL) = (healthy_until IS NULL)", name="healthy"),
        CheckConstraint("NOT is_recovery OR healthy_level IS NOT NULL", name="is_recovery"),
        Index(
            "ix_change_point_recovered_by_id",
            "recovered_by_id",
            postgresql_where=text("recovered_by_id IS NOT NULL"),
        ),
        Index(
            "ix_change_point_listed",
            "id",
            postgresql_where=text("confirmed_at IS NOT NULL AND (gone_at IS NULL OR over_at IS NOT NULL)"),
        ),
    )


class Event(Identified, Base):
    """A change in the environment of runs, or added by a user."""

    __tablename__ = "event"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    kind: Mapped[str]
    # since, at: the event lies between them; equal in a user's event
    since: Mapped[datetime]
    at: Mapped[datetime]
    text: Mapped[str]
    # node_ids, target_ids: if empty in a user's event, the whole cluster
    node_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    target_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    run_id: Mapped[int | None] = mapped_column(ForeignKey("run.id"))  # None: a user's event
    # None: detected by runs
    told_by: Mapped[str | None]  # release 0.2.0 has this name
    # judged_series: with enough points around it; shifted_series: those with the effect `shifted`
    judged_series: Mapped[int] = mapped_column(server_default="0")
    shifted_series: Mapped[int] = mapped_column(server_default="0")
    # a series shifted only up to this p: false discovery rate of 5 % among the event's series; None: none did
    most_p: Mapped[float | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())

    __table_args__ = (
        CheckConstraint("kind IN ('environment', 'manual')", name="kind"),
        CheckConstraint("since <= at", name="at"),
        Index("ix_event_cluster_id_at", "cluster_id", "at"),
        Index("ix_event_run_id", "run_id"),
    )

    @property
    def series_words(self) -> str | None:
        return event_series_words(self.shifted_series, self.judged_series)

    def is_discovery(self, p_value: float | None) -> bool:
        """Check that a shift is significant among all series of the event; true until these were judged."""
        return not self.judged_series or (p_value is not None and self.most_p is not None and p_value <= self.most_p)


class EventEffect(Base):
    __tablename__ = "event_effect"

    event_id: Mapped[int] = mapped_column(ForeignKey("event.id", ondelete="CASCADE"), primary_key=True)
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"), primary_key=True)
    look: Mapped[int] = mapped_column(server_default="0")  # points at the last judgement; 0: not judged yet
    effect: Mapped[str] = mapped_column(server_default="pending")
    points_before: Mapped[int] = mapped_column(server_default="0")
    points_after: Mapped[int] = mapped_column(server_default="0")
    shift_ratio: Mapped[float | None]
    p_value: Mapped[float | None]

    __table_args__ = (
        CheckConstraint("effect IN ('too_few_before', 'pending', 'none_shown', 'shifted')", name="effect"),
        Index("ix_event_effect_series_id", "series_id"),
    )
