"""Tables of executions: runs, attempts, orders, queues and leases."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import BigInteger

from iotide_server.kit.db import Base, Identified, Json


class Run(Identified, Base):
    __tablename__ = "run"

    # copied from the cell; no foreign keys, which PostgreSQL would check for each run
    campaign_id: Mapped[int]
    cell_id: Mapped[int] = mapped_column(ForeignKey("cell.id"))
    cluster_id: Mapped[int]
    repeat: Mapped[int]
    state: Mapped[str] = mapped_column(server_default="waiting")
    # decided by the flags: `valid` or `rejected`
    validity: Mapped[str] = mapped_column(server_default="valid")
    flags: Mapped[list[Any]] = mapped_column(JSONB, server_default=text("'[]'"))
    # past its time limit while its nodes are silent; nothing is freed
    overdue: Mapped[bool] = mapped_column(server_default="false")
    exclusive: Mapped[str]
    # queue position: seconds of submission, minus an hour per step of priority
    sort_key: Mapped[float]
    time_limit_seconds: Mapped[float]
    # idle time of its nodes and exclusive resources afterwards
    cool_down_seconds: Mapped[float] = mapped_column(server_default="0")
    attempts_allowed: Mapped[int]
    attempts_made: Mapped[int] = mapped_column(server_default="0")
    declines: Mapped[int] = mapped_column(server_default="0")
    not_before: Mapped[datetime | None]
    # user who added or retried it; None: the campaign's owner
    asked_by: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    reason_code: Mapped[str | None]
    reason: Mapped[str | None]
    reason_actor: Mapped[str | None]  # called `an operator` in the reason, see `kit/people.py`
    environment_sha256: Mapped[str | None]  # facts it ran under, see `environment`
    # checks without an answer (`NotJudged`); None: not reported
    not_judged: Mapped[list[Any] | None] = mapped_column(JSONB(none_as_null=True))

    __table_args__ = (
        UniqueConstraint("cell_id", "repeat"),
        CheckConstraint("state IN ('waiting', 'active', 'finished', 'failed', 'cancelled')", name="state"),
        CheckConstraint("validity IN ('valid', 'rejected')", name="validity"),
        CheckConstraint("exclusive IN ('none', 'node', 'node+target', 'cluster')", name="exclusive"),
        Index("ix_run_campaign_id_id", "campaign_id", "id"),
        Index("ix_run_campaign_id_state", "campaign_id", "state"),
        Index("ix_run_cluster_id_id", "cluster_id", "id"),
        Index("ix_run_overdue", "id", postgresql_where=text("overdue")),
        Index("ix_run_open", "state", "sort_key", postgresql_where=text("state IN ('waiting', 'active')")),
        Index("ix_run_failed", "cluster_id", text("ended_at DESC"), postgresql_where=text("state = 'failed'")),
        Index("ix_run_moment", text("coalesce(started_at, created_at)"), "id"),
        Index("ix_run_cluster_id_moment", "cluster_id", text("coalesce(started_at, created_at)"), "id"),
        Index(
            "ix_run_flags",
            "flags",
            postgresql_using="gin",
            postgresql_ops={"flags": "jsonb_path_ops"},
            postgresql_where=text("flags <> '[]'"),
        ),
        Index(
            "ix_run_duration",
            text("(ended_at - started_at)"),
            "id",
            postgresql_where=text("ended_at IS NOT NULL AND started_at IS NOT NULL"),
        ),
    )


class Attempt(Identified, Base):
    __tablename__ = "attempt"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    ordinal: Mapped[int]
    state: Mapped[str] = mapped_column(server_default="open")
    fence: Mapped[int]
    go_at: Mapped[datetime | None]  # start of its loads; for a gang, the latest proposal
    # when all nodes of a gang had confirmed `go_at`
    go_agreed_at: Mapped[datetime | None]
    go_put_offs: Mapped[int] = mapped_column(server_default="0")  # proposed times that passed before all had confirmed
    opened_at: Mapped[datetime] = mapped_column(server_default=func.now())
    ended_at: Mapped[datetime | None]
    reason_code: Mapped[str | None]
    reason: Mapped[str | None]
    reason_actor: Mapped[str | None]

    __table_args__ = (
        UniqueConstraint("run_id", "ordinal"),
        Index("uq_attempt_open", "run_id", unique=True, postgresql_where=text("state = 'open'")),
        CheckConstraint("state IN ('open', 'finished', 'failed', 'cancelled', 'declined', 'lost')", name="state"),
    )


class Order(Identified, Base):
    __tablename__ = "node_order"

    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id"))
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    node_id: Mapped[int] = mapped_column(ForeignKey("node.id"))
    role: Mapped[str]  # `observe`: only samples itself; no lease, blocks nothing
    state: Mapped[str] = mapped_column(server_default="offered")
    offers_made: Mapped[int] = mapped_column(server_default="0")
    offered_at: Mapped[datetime] = mapped_column(server_default=func.now())
    # next wake-up of the node, for an unclaimed offer or unconfirmed cancel
    next_offer_at: Mapped[datetime | None] = mapped_column(server_default=func.now())
    claimed_at: Mapped[datetime | None]
    claimed_by: Mapped[str | None]
    claimed_boot_id: Mapped[str | None]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    progress: Mapped[float | None]
    phase: Mapped[str] = mapped_column(server_default="")
    silent_since: Mapped[datetime | None]  # last heartbeat; only a flag, frees nothing
    cancel_wanted_at: Mapped[datetime | None]
    outcome: Mapped[str | None]
    reason_code: Mapped[str | None]  # of its own end; the attempt has the reason that explains all
    result_sha256: Mapped[str | None]  # digest of the stored result; resending it changes nothing
    steps: Mapped[list[Any]] = mapped_column(JSONB, server_default=text("'[]'"))
    # facts of an observing node; the run has those of load orders
    environment_sha256: Mapped[str | None]
    # use of the node by others (`ForeignLoad`); None: not reported
    foreign_load: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    # where it receives from another node (`Endpoint`), with a token; cleared at its end
    endpoint: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    go_heard_at: Mapped[datetime | None]  # start time that the node last confirmed
    # since when its load is unkillable: the ended order keeps its leases. None again when freed.
    stuck_since: Mapped[datetime | None]

    __table_args__ = (
        UniqueConstraint("attempt_id", "node_id", "role"),
        Index("ix_node_order_stuck", "node_id", postgresql_where=text("stuck_since IS NOT NULL")),
        Index("ix_node_order_run_id", "run_id"),
        Index("ix_node_order_active", "node_id", postgresql_where=text("state <> 'ended'")),
        Index("ix_node_order_silent", "node_id", postgresql_where=text("silent_since IS NOT NULL")),
        Index("ix_node_order_next_offer_at", "next_offer_at", postgresql_where=text("next_offer_at IS NOT NULL")),
        CheckConstraint(
            "state IN ('offered', 'claimed', 'preflight', 'ready', 'running', 'uploading', 'ended')", name="state"
        ),
        CheckConstraint("role IN ('load', 'observe')", name="role"),
    )


class BatchJob(Base):
    __tablename__ = "batch_job"

    attempt_id: Mapped[int] = mapped_column(
        ForeignKey("attempt.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"))
    system: Mapped[str]
    # `wanted` until the batch system lists the attempt's job, then that job's state
    state: Mapped[str] = mapped_column(server_default="wanted")
    job_id: Mapped[str | None]
    # of an ended job: a `JobEnd`, or `vanished`
    ending: Mapped[str | None]
    words: Mapped[str] = mapped_column(server_default="")  # from the batch system
    started_at: Mapped[datetime | None]  # first seen running
    is_over: Mapped[bool] = mapped_column(server_default="false")

    __table_args__ = (
        Index("ix_batch_job_open", "cluster_id", postgresql_where=text("NOT is_over")),
        CheckConstraint("system IN ('slurm', 'lsf', 'pbs', 'flux')", name="system"),
        CheckConstraint("state IN ('wanted', 'pending', 'running', 'ended')", name="state"),
    )


class RunEvent(Identified, Base):
    __tablename__ = "run_event"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    order_id: Mapped[int | None] = mapped_column(ForeignKey("node_order.id"))
    at: Mapped[datetime] = mapped_column(server_default=func.now())
    kind: Mapped[str]
    text: Mapped[str]
    actor: Mapped[str | None]

    __table_args__ = (Index("ix_run_event_run_id_id", "run_id", "id"),)


class LinePlace(Base):
    """Position of a waiting run in the queue of one of its nodes.

    No foreign keys: nodes and runs are never deleted.
    """

    __tablename__ = "line_place"

    node_id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(primary_key=True)
    sort_key: Mapped[float]
    not_before: Mapped[datetime | None]
    # targets with scope `shared` when the run joined its queues
    shared_target_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    # owner of the run's campaign, 0 for none; each owner has a queue on each node
    owner_id: Mapped[int] = mapped_column(server_default="0")
    # all its targets: the scheduler skips blocked ones without reading the run
    target_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger), server_default=text("'{}'"))
    # always 0; only the previous release reads it
    node_count: Mapped[int] = mapped_column(server_default="0")

    __table_args__ = (
        Index(
            "ix_line_place_line",
            "node_id",
            "owner_id",
            "sort_key",
            "run_id",
            postgresql_include=["not_before", "target_ids"],
        ),
        Index("ix_line_place_owner_id", "owner_id"),
        Index("ix_line_place_run_id", "run_id"),
        Index("ix_line_place_not_before", "not_before", postgresql_where=text("not_before IS NOT NULL")),
    )


class FairShare(Base):
    """Recent use of a cluster by an owner, and the resulting delay."""

    __tablename__ = "fair_share"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"), primary_key=True)
    owner_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    # average number of nodes held, weighted towards recent use
    nodes_used: Mapped[float]
    stands_back_seconds: Mapped[float]
    sampled_at: Mapped[datetime]


class Lease(Identified, Base):
    """Right of an order to a node, a target or a cluster.

    A trigger keeps counters on the resource, whose CHECK rejects any double grant, even if the scheduler is wrong.
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
