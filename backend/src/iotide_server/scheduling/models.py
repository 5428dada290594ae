"""Tables of waiting lines and leases."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import BigInteger

from iotide_server.kit.db import Base, Identified


class LinePlace(Base):
    """A waiting run's place in the line of a node that it names; gone as soon as the run no longer waits.

    Attributes:
        shared_target_ids: targets of scope `shared` that the run loads; carried here so that the pass can cut a
            line at a blocked target without reading the run.
    """

    __tablename__ = "line_place"

    node_id: Mapped[int] = mapped_column(ForeignKey("node.id"), primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    sort_key: Mapped[float]
    not_before: Mapped[datetime | None]
    exclusive: Mapped[str]
    shared_target_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))

    __table_args__ = (
        Index("ix_line_place_line", "node_id", "sort_key", "run_id"),
        Index("ix_line_place_run_id", "run_id"),
    )


class Lease(Identified, Base):
    """The right of an order to a node, a target or a cluster.

    A trigger keeps the counters on the resource; their CHECK refuses a second exclusive lease and any mixture, so a
    double grant fails in the database whatever the scheduler believed.
    """

    __tablename__ = "lease"

    order_id: Mapped[int] = mapped_column(ForeignKey("node_order.id"))
    resource_kind: Mapped[str]
    resource_id: Mapped[int]
    mode: Mapped[str]
    active: Mapped[bool] = mapped_column(server_default="true")
    taken_at: Mapped[datetime] = mapped_column(server_default=func.now())
    released_at: Mapped[datetime | None]

    __table_args__ = (
        UniqueConstraint("order_id", "resource_kind", "resource_id"),
        Index("ix_lease_active", "resource_kind", "resource_id", postgresql_where=text("active")),
        CheckConstraint("resource_kind IN ('node', 'target', 'cluster')", name="resource_kind"),
        CheckConstraint("mode IN ('shared', 'exclusive')", name="mode"),
        CheckConstraint("active = (released_at IS NULL)", name="released"),
    )
