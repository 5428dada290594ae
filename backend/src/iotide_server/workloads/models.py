"""Tables of the catalogue that agents announced."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import JSON, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified, Json

_APART: Final = "@"  # no name and no digest has one


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Defines what a workload's name stands for: in one cluster, or everywhere where iotide ships the workload."""

    cluster_id: int | None  # whose nodes announce it; None for iotide's own

    def key(self, text: str) -> str:
        """Return a name or digest as it is unique in the database: `3f5b...@7` in the catalogue of cluster 7.

        The columns were unique before catalogues were apart, and the previous release relies on that.
        """
        return text if self.cluster_id is None else f"{text}{_APART}{self.cluster_id}"


EVERYWHERE: Final = Catalogue(None)


class Workload(Identified, Base):
    """One revision of a workload as at least one agent has it; two agents with other schemas make two rows."""

    __tablename__ = "workload"

    name: Mapped[str]
    revision: Mapped[int]
    schema_sha256: Mapped[str]  # the announcement's digest as `Catalogue.key` has it
    title: Mapped[str]
    description: Mapped[str]
    options_schema: Mapped[Json] = mapped_column(JSON)  # JSONB would lose the order of the form's fields
    option_defaults: Mapped[Json]
    metrics: Mapped[list[Any]] = mapped_column(JSONB)
    bytes_needed: Mapped[Json]
    bytes_moved: Mapped[Json]
    run_seconds: Mapped[Json] = mapped_column(server_default=text("""'{"kind": "number", "value": 0}'"""))
    breaks_series: Mapped[bool]
    step_roles: Mapped[list[Any]] = mapped_column(JSONB, server_default=text("'[]'"))
    tool: Mapped[str]
    # of the cluster whose catalogue it is in; NULL for a workload that iotide ships
    cluster_id: Mapped[int | None] = mapped_column(ForeignKey("cluster.id"))
    # the last revision up to this one that breaks series, as it was known when it was stored. What is announced later
    # never changes it
    series_revision: Mapped[int] = mapped_column(server_default=text("1"))
    announced_by: Mapped[str | None]  # name of the node that announced it first; NULL for a workload that iotide ships
    first_seen_at: Mapped[datetime] = mapped_column(server_default=func.now())

    __table_args__ = (
        UniqueConstraint("name", "revision", "schema_sha256"),
        Index("ix_workload_cluster_id_name", "cluster_id", "name"),
    )

    @property
    def digest(self) -> str:
        """Return the announcement's digest, equal on nodes whose results can be compared."""
        return self.schema_sha256.partition(_APART)[0]


class NodeWorkload(Base):
    """Whether a node can run a workload now."""

    __tablename__ = "node_workload"

    node_id: Mapped[int] = mapped_column(ForeignKey("node.id", ondelete="CASCADE"), primary_key=True)
    workload_id: Mapped[int] = mapped_column(ForeignKey("workload.id"), primary_key=True)
    available: Mapped[bool]
    unavailable_because: Mapped[str | None]
    tool_version: Mapped[str | None]


class WorkloadBaseline(Base):
    """Defaults frozen at a workload's first revision: only options that differ from them are in the series key."""

    __tablename__ = "workload_baseline"

    name: Mapped[str] = mapped_column(primary_key=True)  # of the workload, as `Catalogue.key` has it
    option_defaults: Mapped[Json]
