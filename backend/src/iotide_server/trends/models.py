"""Tables of trends: how each series went as its last analysis has it, and the changes that analyses found."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified, Json


class SeriesCourse(Base):
    """The last analysis of a series."""

    __tablename__ = "series_course"

    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"), primary_key=True)
    course: Mapped[str]  # as `iotide_server.statistics.changepoints.Course`
    point_count: Mapped[int]  # points in the series then; of very many the newest were looked at
    missing_points: Mapped[int]  # so many more allow an answer
    memory: Mapped[float]  # lag-1 autocorrelation of the points within segments, from 0
    # as `iotide_server.trends.changes.drift.Drift`, where that is its course
    drift: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    # the last change of the spread around the level, as `iotide_server.trends.changes.noise.NoiseChange`
    noise: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    # centre, low, high and is_higher, while the newest points look as if it had changed
    suspect: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    # from one day with points to the next, as `usual_gaps` has it; None: nothing is usual yet
    usual_gap_seconds: Mapped[float | None]
    detector: Mapped[str]  # name and version of what looked
    analysed_at: Mapped[datetime]

    __table_args__ = (
        CheckConstraint("course IN ('too_short', 'steady', 'changed', 'drift')", name="course"),
        CheckConstraint("(course = 'drift') = (drift IS NOT NULL)", name="drift"),
    )


class ChangePoint(Identified, Base):
    """A change of a series' level; the row stays the same while analyses move it by a few points."""

    __tablename__ = "change_point"

    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"))
    at: Mapped[datetime]  # when the first point after it was measured
    previous_at: Mapped[datetime]  # the last one before it
    cell_id: Mapped[int] = mapped_column(ForeignKey("cell.id"))  # of the first point after it
    # points_before, points_after, median_before, median_after, p_value: as
    # `iotide_server.statistics.changepoints.Change`; the medians in the series' base unit
    points_before: Mapped[int]
    points_after: Mapped[int]
    median_before: Mapped[float]
    median_after: Mapped[float]
    shift_ratio: Mapped[float | None]  # None where the median before is 0
    p_value: Mapped[float]
    found_at: Mapped[datetime]  # of the analysis that found it first
    found_points: Mapped[int]  # how many points had the first of those analyses that found it without a break
    confirmed_at: Mapped[datetime | None]  # when one of CONFIRMING_RUNS more points still found it; None: not yet
    gone_at: Mapped[datetime | None]  # since when analyses do not find it any more; it comes back as itself
    # recovered_by_id, recovered_at: of a change for the worse, the confirmed change that took it back, and its `at`
    recovered_by_id: Mapped[int | None] = mapped_column(ForeignKey("change_point.id"))
    recovered_at: Mapped[datetime | None]
    # healthy_level, healthy_until: of a change for the better while the level was away from the healthy one, the
    # `median_before` and the `at` of the change for the worse that led away from it
    healthy_level: Mapped[float | None]
    healthy_until: Mapped[datetime | None]
    is_recovery: Mapped[bool] = mapped_column(server_default="false")  # it only leads back towards `healthy_level`
    detector: Mapped[str]  # name and version of what found it last

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
        Index("ix_change_point_told", "id", postgresql_where=text("confirmed_at IS NOT NULL AND gone_at IS NULL")),
    )


class Event(Identified, Base):
    """Something that changed outside of the results: the environment of runs, or what a person says."""

    __tablename__ = "event"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    kind: Mapped[str]
    # since, at: it happened after the one and before the other; a person gives one moment
    since: Mapped[datetime]
    at: Mapped[datetime]
    text: Mapped[str]
    # node_ids, target_ids: where; of what a person says an empty list is everywhere in the cluster
    node_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    target_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    run_id: Mapped[int | None] = mapped_column(ForeignKey("run.id"))  # the first run after it, where runs saw it
    # the person who said it; None where runs saw it
    told_by: Mapped[str | None]  # release 0.2.0 has this name
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())

    __table_args__ = (
        CheckConstraint("kind IN ('environment', 'manual')", name="kind"),
        CheckConstraint("since <= at", name="at"),
        Index("ix_event_cluster_id_at", "cluster_id", "at"),
        Index("ix_event_run_id", "run_id"),
    )


class EventEffect(Base):
    """What an event did to a series, as `iotide_server.statistics.events` judges it after 4 points and after 8."""

    __tablename__ = "event_effect"

    event_id: Mapped[int] = mapped_column(ForeignKey("event.id", ondelete="CASCADE"), primary_key=True)
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"), primary_key=True)
    look: Mapped[int] = mapped_column(server_default="0")  # after so many points; 0 before the first look
    effect: Mapped[str] = mapped_column(server_default="pending")
    points_before: Mapped[int] = mapped_column(server_default="0")
    points_after: Mapped[int] = mapped_column(server_default="0")
    shift_ratio: Mapped[float | None]
    p_value: Mapped[float | None]

    __table_args__ = (
        CheckConstraint("effect IN ('too_few_before', 'pending', 'none_shown', 'shifted')", name="effect"),
        Index("ix_event_effect_series_id", "series_id"),
    )
