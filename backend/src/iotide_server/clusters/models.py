"""Tables of clusters and nodes."""

from datetime import date, datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column, synonym
from sqlalchemy.types import Text

from iotide_server.kit.db import Base, Identified, Json


class Leasable:
    """Counts of active leases, kept by a trigger on `lease`. The CHECK rules out a double grant."""

    shared_leases: Mapped[int] = mapped_column(server_default="0")
    exclusive_leases: Mapped[int] = mapped_column(server_default="0")
    cooling_until: Mapped[datetime | None]  # nothing starts before, because a campaign needs idle time after its run


ONE_OR_MANY = "exclusive_leases BETWEEN 0 AND 1 AND shared_leases >= 0 AND (exclusive_leases = 0 OR shared_leases = 0)"


class Cluster(Identified, Leasable, Base):
    __tablename__ = "cluster"

    cluster_id: Mapped[int] = synonym("id")
    name: Mapped[str] = mapped_column(unique=True)
    description: Mapped[str] = mapped_column(server_default="")
    # `direct`: its nodes' agents start runs; else jobs of that batch system do
    launcher: Mapped[str] = mapped_column(server_default="direct")
    # source of its results (`views.Origin`); only an `own` cluster runs anything
    origin: Mapped[str] = mapped_column(server_default="own")
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())

    __table_args__ = (
        CheckConstraint(ONE_OR_MANY, name="leases"),
        CheckConstraint("launcher IN ('direct', 'slurm', 'lsf', 'pbs', 'flux')", name="launcher"),
        CheckConstraint("origin IN ('own', 'made_up', 'published')", name="origin"),
        # Every request reads the published clusters to check permissions.
        Index("ix_cluster_published", "id", postgresql_where=text("origin = 'published'")),
    )


class Node(Identified, Leasable, Base):
    __tablename__ = "node"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    name: Mapped[str]
    role: Mapped[str]
    slots: Mapped[int] = mapped_column(server_default="1")
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    retired_at: Mapped[datetime | None]  # when its token and its Redis user became void
    # token_sha256, redis_password_sha256: hexadecimal; only the node has the secrets
    token_sha256: Mapped[str] = mapped_column(unique=True)
    redis_password_sha256: Mapped[str]
    agent_version: Mapped[str | None]
    agent_instance: Mapped[str | None]
    boot_id: Mapped[str | None]
    facts: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    mounts: Mapped[list[Any]] = mapped_column(JSONB, server_default=text("'[]'"))
    approved_directories: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    told_at: Mapped[datetime | None]  # when its agent, without an order, last announced its mounts
    # look_asked, look_answered: numbers of the last request to probe and the last answered one
    look_asked: Mapped[int] = mapped_column(server_default="0")
    look_answered: Mapped[int] = mapped_column(server_default="0")
    problem: Mapped[str | None]
    problem_actor: Mapped[str | None]  # replaces `an operator` in the problem (see `kit/people.py`)
    # loads that cannot be killed (`StuckLoad`), for which the scheduler also skips it
    stuck: Mapped[list[Any] | None] = mapped_column(JSONB(none_as_null=True))
    # when an operator declared it dead; None again after a hello without orders
    declared_dead_at: Mapped[datetime | None]
    # when its token and its Redis user became void; None after its host enrolls again
    revoked_at: Mapped[datetime | None]
    # as last announced, supported or not
    wire_version: Mapped[int | None]
    credentials_at: Mapped[datetime] = mapped_column(server_default=func.now())
    rotation_wanted_at: Mapped[datetime | None]
    # next_token_sha256, next_redis_password_sha256: until the node confirms that it stored the new ones
    next_token_sha256: Mapped[str | None] = mapped_column(unique=True)
    next_redis_password_sha256: Mapped[str | None]

    __table_args__ = (
        Index(
            "uq_node_cluster_id_name", "cluster_id", "name", unique=True, postgresql_where=text("retired_at IS NULL")
        ),
        Index("ix_node_cooling_until", "cooling_until", postgresql_where=text("cooling_until IS NOT NULL")),
        CheckConstraint(f"{ONE_OR_MANY} AND shared_leases <= slots", name="leases"),
        CheckConstraint("slots BETWEEN 1 AND 1000", name="slots"),
        CheckConstraint("role IN ('compute', 'storage', 'gateway')", name="role"),
    )


class PendingNode(Base):
    """Host that waits for approval, in its own table to stay out of queries of nodes."""

    __tablename__ = "pending_node"

    # from the sequence of `node`, so that the identity on its disk stays valid
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"))
    name: Mapped[str]
    role: Mapped[str]
    address: Mapped[str | None]
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    asked_at: Mapped[datetime]
    seen_at: Mapped[datetime | None]
    expires_at: Mapped[datetime]
    token_sha256: Mapped[str] = mapped_column(unique=True)
    redis_password_sha256: Mapped[str]
    agent_version: Mapped[str]
    wire_version: Mapped[int]
    facts: Mapped[Json] = mapped_column(server_default=text("'{}'"))

    __table_args__ = (Index("ix_pending_node_cluster_id", "cluster_id"),)


class NodeHeartbeat(Base):
    """Last heartbeat of a node. No index on time, and its own table, so that updates stay in place."""

    __tablename__ = "node_beat"

    node_id: Mapped[int] = mapped_column(
        ForeignKey("node.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    seen_at: Mapped[datetime]
    # bytes of unsent results on the node's disk
    spool_bytes: Mapped[int | None]
    # ahead of the server's clock
    clock_offset_seconds: Mapped[float | None]
    clock_uncertainty_seconds: Mapped[float | None]
    # raw_on, raw_bytes: last UTC day with raw output, curves or results, and that day's bytes
    raw_on: Mapped[date | None]
    raw_bytes: Mapped[int] = mapped_column(server_default="0")
    # series_on, new_series: last UTC day on which its results created series, and their number
    series_on: Mapped[date | None]
    new_series: Mapped[int] = mapped_column(server_default="0")

    __table_args__ = ({"postgresql_with": {"fillfactor": "50"}},)


class Drain(Base):
    """Drained node, target or cluster, or everything; deleted on resume."""

    __tablename__ = "drain"

    kind: Mapped[str] = mapped_column(primary_key=True)
    subject_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # 0 for `all`
    cluster_id: Mapped[int | None] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"))
    reason: Mapped[str]
    by: Mapped[str]
    since: Mapped[datetime]
    # resumed automatically then; the row is deleted soon after
    until: Mapped[datetime | None]

    __table_args__ = (
        CheckConstraint("kind IN ('all', 'cluster', 'node', 'target')", name="kind"),
        CheckConstraint("(kind = 'all') = (cluster_id IS NULL)", name="cluster"),
    )


class JoinToken(Identified, Base):
    """Permission to enroll nodes in one cluster. Only the SHA-256 of its secret is stored."""

    __tablename__ = "join_token"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"))
    secret_sha256: Mapped[str] = mapped_column(unique=True)
    uses_left: Mapped[int]
    expires_at: Mapped[datetime]
    needs_approval: Mapped[bool] = mapped_column(server_default=text("false"))
    # re-enrolls this node, whose host lost its identity
    node_id: Mapped[int | None] = mapped_column(ForeignKey("node.id", ondelete="CASCADE"))
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())

    __table_args__ = (CheckConstraint("uses_left >= 0", name="uses_left"),)


class Blackout(Identified, Base):
    __tablename__ = "blackout"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"))
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    reason: Mapped[str]
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())

    __table_args__ = (
        CheckConstraint("starts_at < ends_at", name="ends_at"),
        Index("ix_blackout_cluster_id_ends_at", "cluster_id", "ends_at"),
    )
