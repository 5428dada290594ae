"""Tables of the catalogue that agents announced."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified, Json


class Workload(Identified, Base):
    """One revision of a workload as at least one agent has it; two agents with other schemas make two rows."""

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
    breaks_series: Mapped[bool]
    step_roles: Mapped[list[Any]] = mapped_column(JSONB, server_default=text("'[]'"))
    tool: Mapped[str]
    first_seen_at: Mapped[datetime] = mapped_column(server_default=func.now())

    __table_args__ = (UniqueConstraint("name", "revision", "schema_sha256"),)


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

    name: Mapped[str] = mapped_column(primary_key=True)
    option_defaults: Mapped[Json]
