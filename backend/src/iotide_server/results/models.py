"""Tables of results: numbers, their series and points, per-second curves and raw output."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Float, ForeignKey, Index, LargeBinary, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import REAL, BigInteger

from iotide_server.kit.db import Base, Identified, Json


class Series(Identified, Base):
    """All points with one key: cluster, node set, targets, workload, options hash, metric, labels."""

    __tablename__ = "series"

    key_sha256: Mapped[str] = mapped_column(unique=True)  # of that key, sorted; equal keys are one series for ever
    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    # node_ids, target_ids: sorted
    node_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    target_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    workload: Mapped[str]
    series_revision: Mapped[int]
    options: Mapped[Json]  # those that differ from the workload's frozen defaults
    options_sha256: Mapped[str]
    metric: Mapped[str]
    title: Mapped[str]
    unit: Mapped[str]
    better: Mapped[str]
    labels: Mapped[Json]
    variant: Mapped[str] = mapped_column(server_default="")  # of the campaign's stage; empty outside stages
    # why its numbers count no more, see `results.ingest.superseded`; empty where they count. Then it has no points
    superseded: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())

    __table_args__ = (
        Index("ix_series_cluster_id_id", "cluster_id", "id"),
        Index("ix_series_target_ids", "target_ids", postgresql_using="gin"),
    )


class Sample(Identified, Base):
    """One number of a run, in its metric's base unit."""

    __tablename__ = "sample"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    order_id: Mapped[int] = mapped_column(ForeignKey("node_order.id"))
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id"))
    target_id: Mapped[int | None] = mapped_column(ForeignKey("target.id"))
    value: Mapped[float]

    __table_args__ = (Index("ix_sample_run_id", "run_id"), Index("ix_sample_series_id_run_id", "series_id", "run_id"))


class Reading(Identified, Base):
    """One reading of an order's raw output; the newest one's numbers count and are rows of `sample`."""

    __tablename__ = "reading"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    order_id: Mapped[int] = mapped_column(ForeignKey("node_order.id"))
    ordinal: Mapped[int]  # 1 for what the node's own agent read
    # workload_revision, parser_version: whose parser it was; the version is that of its package
    workload_revision: Mapped[int]
    parser_version: Mapped[str | None]
    read_at: Mapped[datetime]
    read_by: Mapped[str | None]  # who had it read again; None for the node
    flags: Mapped[list[Any]] = mapped_column(JSONB)  # that this reading gave, as they stood
    # what it said once it is superseded: metric, title, unit, better, labels, target_id and value of each
    samples: Mapped[list[Any] | None] = mapped_column(JSONB(none_as_null=True))

    __table_args__ = (UniqueConstraint("order_id", "ordinal"), Index("ix_reading_run_id", "run_id"))


class Point(Identified, Base):
    """One per cell and series: the median of its valid runs with their range."""

    __tablename__ = "point"

    series_id: Mapped[int] = mapped_column(ForeignKey("series.id"))
    cell_id: Mapped[int] = mapped_column(ForeignKey("cell.id"))
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"))
    at: Mapped[datetime]  # when the first of its runs started
    # median, low, high: in the series' base unit
    median: Mapped[float]
    low: Mapped[float]
    high: Mapped[float]
    run_count: Mapped[int]  # runs behind it
    # variation_ratio, robust_spread_ratio: how far they scatter, see `iotide_server.statistics.summary.Summary`
    variation_ratio: Mapped[float | None]
    robust_spread_ratio: Mapped[float | None]
    # codes of the flags of its runs, sorted
    flags: Mapped[list[str]] = mapped_column(JSONB, server_default=text("'[]'"))

    __table_args__ = (UniqueConstraint("cell_id", "series_id"), Index("ix_point_series_id_at", "series_id", "at"))


class RunHeadline(Base):
    """The one number that a finished run is known by in lists, so that they can be sorted by it."""

    __tablename__ = "run_headline"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"), primary_key=True, autoincrement=False)
    workload: Mapped[str]  # by name; numbers of different workloads are in no order
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id"))
    value: Mapped[float]  # in the series' base unit; of several numbers of the run there, their median

    __table_args__ = (
        Index("ix_run_headline_workload_value_run_id", "workload", "value", "run_id"),
        Index("ix_run_headline_series_id", "series_id"),
    )


class Environment(Base):
    """Facts under which runs ran, stored once for all that share them."""

    __tablename__ = "environment"

    sha256: Mapped[str] = mapped_column(primary_key=True)
    facts: Mapped[Json]


class Blob(Base):
    """Raw output by its digest, compressed by PostgreSQL."""

    __tablename__ = "blob"

    sha256: Mapped[str] = mapped_column(primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class Artefact(Identified, Base):
    """A named piece of raw output of an order."""

    __tablename__ = "artefact"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    order_id: Mapped[int] = mapped_column(ForeignKey("node_order.id"))
    name: Mapped[str]
    sha256: Mapped[str] = mapped_column(ForeignKey("blob.sha256"))
    size_bytes: Mapped[int]
    stored_at: Mapped[datetime] = mapped_column(server_default=func.now())

    __table_args__ = (
        UniqueConstraint("order_id", "name"),
        Index("ix_artefact_run_id", "run_id"),
        Index("ix_artefact_sha256", "sha256"),
    )


class ThinnedRun(Base):
    """A run of which something was given up for its age; its numbers are kept for ever."""

    __tablename__ = "thinned_run"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"), primary_key=True, autoincrement=False)
    raw_removed_at: Mapped[datetime | None]
    curves_thinned_at: Mapped[datetime | None]


class CurveChunk(Identified, Base):
    """Up to 600 per-second values of one counter in one order."""

    __tablename__ = "curve_chunk"

    order_id: Mapped[int] = mapped_column(ForeignKey("node_order.id"))
    counter: Mapped[str]
    started_at: Mapped[datetime]
    step_seconds: Mapped[float] = mapped_column(Float)
    values: Mapped[list[float]] = mapped_column(ARRAY(REAL))
    # lows, highs: once it was thinned for its age, what is behind each value, which is a mean then
    lows: Mapped[list[float] | None] = mapped_column(ARRAY(REAL))
    highs: Mapped[list[float] | None] = mapped_column(ARRAY(REAL))

    __table_args__ = (
        UniqueConstraint("order_id", "counter", "started_at"),
        CheckConstraint("cardinality(values) BETWEEN 1 AND 600", name="values"),
    )
