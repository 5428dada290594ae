"""Tables of clusters, nodes and their agents."""

from datetime import date, datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column, synonym
from sqlalchemy.types import Text

from iotide_server.kit.db import Base, Identified, Json


class Leasable:
    """Counters of active leases, kept by a trigger on `lease`; their CHECK makes a double grant impossible."""

    shared_leases: Mapped[int] = mapped_column(server_default="0")
    exclusive_leases: Mapped[int] = mapped_column(server_default="0")
    cooling_until: Mapped[datetime | None]  # nothing starts on it before, since a campaign wanted it idle after a run


ONE_OR_MANY = "exclusive_leases BETWEEN 0 AND 1 AND shared_leases >= 0 AND (exclusive_leases = 0 OR shared_leases = 0)"
"""Either one exclusive lease or any number of shared ones."""


class Cluster(Identified, Leasable, Base):
    """A named set of nodes and targets."""

    __tablename__ = "cluster"

    cluster_id: Mapped[int] = synonym("id")  # as its nodes have it
    name: Mapped[str] = mapped_column(unique=True)
    description: Mapped[str] = mapped_column(server_default="")
    # who starts its runs: `direct` its nodes' agents, else a job of that batch system
    launcher: Mapped[str] = mapped_column(server_default="direct")
    # where its results come from (`Origin` in `views`); nothing ever runs on what is not `own`
    origin: Mapped[str] = mapped_column(server_default="own")
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())

    __table_args__ = (
        CheckConstraint(ONE_OR_MANY, name="leases"),
        CheckConstraint("launcher IN ('direct', 'slurm', 'lsf')", name="launcher"),
        CheckConstraint("origin IN ('own', 'made_up', 'published')", name="origin"),
        # Who may do what is asked with each request, and what is published is part of the answer.
        Index("ix_cluster_published", "id", postgresql_where=text("origin = 'published'")),
    )


class Node(Identified, Leasable, Base):
    """A host with an agent."""

    __tablename__ = "node"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    name: Mapped[str]
    role: Mapped[str]
    slots: Mapped[int] = mapped_column(server_default="1")  # how many runs may share the node
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    retired_at: Mapped[datetime | None]  # from then on its token and its Redis user are void
    # token_sha256, redis_password_sha256: hexadecimal digests; the secrets themselves are only on the node
    token_sha256: Mapped[str] = mapped_column(unique=True)
    redis_password_sha256: Mapped[str]
    agent_version: Mapped[str | None]
    # agent_instance, boot_id: of the last accepted hello
    agent_instance: Mapped[str | None]
    boot_id: Mapped[str | None]
    # facts, mounts, approved_directories: as last announced
    facts: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    mounts: Mapped[list[Any]] = mapped_column(JSONB, server_default=text("'[]'"))
    approved_directories: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    told_at: Mapped[datetime | None]  # when its agent, holding no order, last said what is mounted
    # look_asked, look_answered: number of the last request to look around, and of the last one that was answered
    look_asked: Mapped[int] = mapped_column(server_default="0")
    look_answered: Mapped[int] = mapped_column(server_default="0")
    problem: Mapped[str | None]  # why the scheduler passes the node over, in words; None when nothing is wrong
    problem_actor: Mapped[str | None]  # whom the problem calls `an operator` (see `kit/people.py`)
    # the loads there that no signal ends (`StuckLoad`), for which it is passed over, too; None: none
    stuck: Mapped[list[Any] | None] = mapped_column(JSONB(none_as_null=True))
    # an operator called it dead then; None again once its agent says hello with no order in hand
    declared_dead_at: Mapped[datetime | None]
    # its token and its Redis user are void since; None again once its host was enrolled anew
    revoked_at: Mapped[datetime | None]
    # what its agent said last that it speaks, whether the server understands it or not
    wire_version: Mapped[int | None]
    # since when it has its present token and Redis password
    credentials_at: Mapped[datetime] = mapped_column(server_default=func.now())
    rotation_wanted_at: Mapped[datetime | None]  # it is to have new ones since; None: it is not
    # next_token_sha256, next_redis_password_sha256: of the new ones, until the node has said that it keeps them
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
    """A host that somebody has to let in; no row of `node`, so that nothing which deals with nodes can meet it."""

    __tablename__ = "pending_node"

    # of the node that it becomes; taken from the sequence of `node`, so the identity on its disk stays good
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"))
    name: Mapped[str]
    role: Mapped[str]
    address: Mapped[str | None]  # where its enrolment came from
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    asked_at: Mapped[datetime]
    seen_at: Mapped[datetime | None]  # when its agent asked last whether it was let in; None: it never did
    expires_at: Mapped[datetime]  # forgotten then unless it was let in
    token_sha256: Mapped[str] = mapped_column(unique=True)
    redis_password_sha256: Mapped[str]
    agent_version: Mapped[str]
    wire_version: Mapped[int]
    facts: Mapped[Json] = mapped_column(server_default=text("'{}'"))  # of the host, as its agent said last

    __table_args__ = (Index("ix_pending_node_cluster_id", "cluster_id"),)


class NodeBeat(Base):
    """When a node was last heard of; a table of its own without an index on time, so that updates stay in place."""

    __tablename__ = "node_beat"

    node_id: Mapped[int] = mapped_column(
        ForeignKey("node.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    seen_at: Mapped[datetime]
    # what unsent results took on the node's disk then, by its word; None from agents that do not say
    spool_bytes: Mapped[int | None]
    # how far its clock is ahead of the server's; None: its agent does not say
    clock_offset_seconds: Mapped[float | None]
    clock_uncertainty_seconds: Mapped[float | None]  # the truth is no further off than this
    # raw_on, raw_bytes: the day (UTC) on which the node last sent raw output, curves or a result, and its bytes
    raw_on: Mapped[date | None]
    raw_bytes: Mapped[int] = mapped_column(server_default="0")
    # series_on, new_series: the day (UTC) on which a result of the node last began series, and how many that day
    series_on: Mapped[date | None]
    new_series: Mapped[int] = mapped_column(server_default="0")

    __table_args__ = ({"postgresql_with": {"fillfactor": "50"}},)


class Drain(Base):
    """Something on which nothing new starts; gone as soon as it is resumed, since the audit log keeps what was."""

    __tablename__ = "drain"

    kind: Mapped[str] = mapped_column(primary_key=True)
    subject_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # of the kind's table; 0 for `all`
    # whose it is; None for `all`
    cluster_id: Mapped[int | None] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"))
    reason: Mapped[str]
    by: Mapped[str]
    since: Mapped[datetime]
    # it is resumed by itself then, and the row, which counts no more, is deleted soon after; None: a person resumes it
    until: Mapped[datetime | None]

    __table_args__ = (
        CheckConstraint("kind IN ('all', 'cluster', 'node', 'target')", name="kind"),
        CheckConstraint("(kind = 'all') = (cluster_id IS NULL)", name="cluster"),
    )


class JoinToken(Identified, Base):
    """Lets new nodes into one cluster; only the SHA-256 of its secret is stored."""

    __tablename__ = "join_token"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"))
    secret_sha256: Mapped[str] = mapped_column(unique=True)
    uses_left: Mapped[int]
    expires_at: Mapped[datetime]
    # who enrols with it waits until somebody lets it in
    needs_approval: Mapped[bool] = mapped_column(server_default=text("false"))
    # it makes no new node but gives this one, whose host lost its identity, another one
    node_id: Mapped[int | None] = mapped_column(ForeignKey("node.id", ondelete="CASCADE"))
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())

    __table_args__ = (CheckConstraint("uses_left >= 0", name="uses_left"),)


class Blackout(Identified, Base):
    """A maintenance of a cluster: no run starts in it, nor one that by its time limit could not end before it."""

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
