"""Tables of results."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Float, ForeignKey, Index, LargeBinary, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import REAL, BigInteger

from iotide_server.kit.db import Base, Identified, Json


class Series(Identified, Base):
    __tablename__ = "series"

    key_sha256: Mapped[str] = mapped_column(unique=True)  # equal keys always mean the same series
    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    # node_ids, target_ids: sorted
    node_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    target_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    workload: Mapped[str]
    series_revision: Mapped[int]
    options: Mapped[Json]
    options_sha256: Mapped[str]
    metric: Mapped[str]
    title: Mapped[str]
    unit: Mapped[str]
    better: Mapped[str]
    labels: Mapped[Json]
    variant: Mapped[str] = mapped_column(server_default="")
    # why its values no longer count, see `results.ingest.superseded`; then it has no points
    superseded: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())

    __table_args__ = (
        Index("ix_series_cluster_id_id", "cluster_id", "id"),
        Index("ix_series_target_ids", "target_ids", postgresql_using="gin"),
    )


class Sample(Identified, Base):
    __tablename__ = "sample"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    order_id: Mapped[int] = mapped_column(ForeignKey("node_order.id"))
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id"))
    target_id: Mapped[int | None] = mapped_column(ForeignKey("target.id"))
    value: Mapped[float]

    __table_args__ = (Index("ix_sample_run_id", "run_id"), Index("ix_sample_series_id_run_id", "series_id", "run_id"))


class Reading(Identified, Base):
    """One parse of an order's raw output. The values of the newest one count, as rows of `sample`."""

    __tablename__ = "reading"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    order_id: Mapped[int] = mapped_column(ForeignKey("node_order.id"))
    ordinal: Mapped[int]
    # workload_revision, parser_version: of the parser and its package
    workload_revision: Mapped[int]
    parser_version: Mapped[str | None]
    read_at: Mapped[datetime]
    read_by: Mapped[str | None]
    flags: Mapped[list[Any]] = mapped_column(JSONB)
    # values of a superseded reading
    samples: Mapped[list[Any] | None] = mapped_column(JSONB(none_as_null=True))

    __table_args__ = (UniqueConstraint("order_id", "ordinal"), Index("ix_reading_run_id", "run_id"))


class Point(Identified, Base):
    """Median and range of a cell's valid runs in one series."""

    __tablename__ = "point"

    series_id: Mapped[int] = mapped_column(ForeignKey("series.id"))
    cell_id: Mapped[int] = mapped_column(ForeignKey("cell.id"))
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"))
    at: Mapped[datetime]  # start of its first run
    # median, low, high: in the series' base unit
    median: Mapped[float]
    low: Mapped[float]
    high: Mapped[float]
    run_count: Mapped[int]
    # see `iotide_server.statistics.summary.Summary`
    variation_ratio: Mapped[float | None]
    robust_spread_ratio: Mapped[float | None]
    flags: Mapped[list[str]] = mapped_column(JSONB, server_default=text("'[]'"))
    # runs with each of the flags; None: stored by release 0.2
    flag_runs: Mapped[dict[str, int] | None] = mapped_column(JSONB(none_as_null=True))
    # flags that at least 90 % of the series' 20 runs before it had
    usual_flags: Mapped[list[str]] = mapped_column(JSONB, server_default=text("'[]'"))

    __table_args__ = (UniqueConstraint("cell_id", "series_id"), Index("ix_point_series_id_at", "series_id", "at"))


class RunHeadline(Base):
    """Value that represents a finished run in lists and sorts them."""

    __tablename__ = "run_headline"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"), primary_key=True, autoincrement=False)
    workload: Mapped[str]
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id"))
    value: Mapped[float]

    __table_args__ = (
        Index("ix_run_headline_workload_value_run_id", "workload", "value", "run_id"),
        Index("ix_run_headline_series_id", "series_id"),
    )


class Environment(Base):
    """Facts about the environment of runs, each set stored once."""

    __tablename__ = "environment"

    sha256: Mapped[str] = mapped_column(primary_key=True)
    facts: Mapped[Json]


class Blob(Base):
    __tablename__ = "blob"

    sha256: Mapped[str] = mapped_column(primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class Artefact(Identified, Base):
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
    """A run whose raw output or curves were reduced because of age. Its values are kept forever."""

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
    # lows, highs: ranges behind the means of a row that was thinned because of age
    lows: Mapped[list[float] | None] = mapped_column(ARRAY(REAL))
    highs: Mapped[list[float] | None] = mapped_column(ARRAY(REAL))

    __table_args__ = (
        UniqueConstraint("order_id", "counter", "started_at"),
        CheckConstraint("cardinality(values) BETWEEN 1 AND 600", name="values"),
    )
