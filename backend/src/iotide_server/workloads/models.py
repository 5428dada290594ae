"""Tables of the workload catalogue."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import JSON, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified, Json

_APART: Final = "@"  # not in any name or digest


@dataclass(frozen=True, slots=True)
class Catalogue:
    cluster_id: int | None  # its nodes announce it; None: iotide's own

    def key(self, text: str) -> str:
        """Return a name or digest as stored, e.g. `3f5b...@7` in the catalogue of cluster 7.

        The previous release has only one catalogue and relies on unique columns.
        """
        return text if self.cluster_id is None else f"{text}{_APART}{self.cluster_id}"


EVERYWHERE: Final = Catalogue(None)


class Workload(Identified, Base):
    __tablename__ = "workload"

    name: Mapped[str]
    revision: Mapped[int]
    schema_sha256: Mapped[str]
    title: Mapped[str]
    description: Mapped[str]
    options_schema: Mapped[Json] = mapped_column(JSON)  # JSONB would lose the order of the form's fields
    option_defaults: Mapped[Json]
    metrics: Mapped[list[Any]] = mapped_column(JSONB)
    bytes_needed: Mapped[Json]
    bytes_moved: Mapped[Json]
    run_seconds: Mapped[Json] = mapped_column(server_default=text("""'{"kind": "number", "value": 0}'"""))
    own_programs: Mapped[Json] = mapped_column(server_default=text("""'{"kind": "number", "value": 1}'"""))
    breaks_series: Mapped[bool]
    step_roles: Mapped[list[Any]] = mapped_column(JSONB, server_default=text("'[]'"))
    tool: Mapped[str]
    # cluster of its catalogue; NULL for iotide's own
    cluster_id: Mapped[int | None] = mapped_column(ForeignKey("cluster.id"))
    # last revision up to this one that breaks series, as known when stored; never changed later
    series_revision: Mapped[int] = mapped_column(server_default=text("1"))
    announced_by: Mapped[str | None]  # node that announced it first; NULL for iotide's own
    first_seen_at: Mapped[datetime] = mapped_column(server_default=func.now())

    __table_args__ = (
        UniqueConstraint("name", "revision", "schema_sha256"),
        Index("ix_workload_cluster_id_name", "cluster_id", "name"),
    )

    @property
    def digest(self) -> str:
        """Equal digests mean comparable results."""
        return self.schema_sha256.partition(_APART)[0]


class NodeWorkload(Base):
    __tablename__ = "node_workload"

    node_id: Mapped[int] = mapped_column(ForeignKey("node.id", ondelete="CASCADE"), primary_key=True)
    workload_id: Mapped[int] = mapped_column(ForeignKey("workload.id"), primary_key=True)
    available: Mapped[bool]
    unavailable_because: Mapped[str | None]
    tool_version: Mapped[str | None]


class WorkloadBaseline(Base):
    """Defaults frozen at the first revision; only other values are in the series key."""

    __tablename__ = "workload_baseline"

    name: Mapped[str] = mapped_column(primary_key=True)
    option_defaults: Mapped[Json]
