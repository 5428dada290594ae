"""Tables of executions: a run, its attempts, what each node does in one, and what a run waits for and holds."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import BigInteger

from iotide_server.kit.db import Base, Identified, Json


class Run(Identified, Base):
    """One repeat of a cell."""

    __tablename__ = "run"

    # campaign_id, cluster_id: of its cell, and copied here; PostgreSQL does not look them up for each run
    campaign_id: Mapped[int]
    cell_id: Mapped[int] = mapped_column(ForeignKey("cell.id"))
    cluster_id: Mapped[int]
    repeat: Mapped[int]
    state: Mapped[str] = mapped_column(server_default="waiting")
    # `valid` or `rejected`; a column beside the state, decided by its flags
    validity: Mapped[str] = mapped_column(server_default="valid")
    flags: Mapped[list[Any]] = mapped_column(JSONB, server_default=text("'[]'"))
    # its time limit passed in silence; nothing was freed for that
    overdue: Mapped[bool] = mapped_column(server_default="false")
    exclusive: Mapped[str]
    # place in every line it stands in: seconds of submission minus an hour for each step of priority
    sort_key: Mapped[float]
    time_limit_seconds: Mapped[float]
    # its nodes stay idle for so long after it, and what it had to itself besides
    cool_down_seconds: Mapped[float] = mapped_column(server_default="0")
    attempts_allowed: Mapped[int]
    attempts_made: Mapped[int] = mapped_column(server_default="0")
    declines: Mapped[int] = mapped_column(server_default="0")
    not_before: Mapped[datetime | None]  # after a declined or lost attempt it waits until then
    # id of the person in whose name it waits, where that is not the campaign's owner: who added it to the campaign or
    # retried it
    asked_by: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    reason_code: Mapped[str | None]
    reason: Mapped[str | None]
    reason_actor: Mapped[str | None]  # whom the reason calls `an operator` (see `kit/people.py`)
    environment_sha256: Mapped[str | None]  # of the facts it ran under, see `environment`
    # checks without an answer, as its agents reported them (`NotJudged`); None where they did not
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
        # For lists of all runs, by when they were and by how long they took.
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
    """One try of a run; at most one of a run is open, whatever the code does."""

    __tablename__ = "attempt"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    ordinal: Mapped[int]
    state: Mapped[str] = mapped_column(server_default="open")
    fence: Mapped[int]
    go_at: Mapped[datetime | None]  # when its loads start: of a gang, the moment that was last proposed to its nodes
    # when each of them had said that it heard of it; no load of a gang starts before
    go_agreed_at: Mapped[datetime | None]
    go_put_offs: Mapped[int] = mapped_column(server_default="0")  # moments that passed before all had
    opened_at: Mapped[datetime] = mapped_column(server_default=func.now())
    ended_at: Mapped[datetime | None]
    reason_code: Mapped[str | None]
    reason: Mapped[str | None]
    reason_actor: Mapped[str | None]  # as of the run

    __table_args__ = (
        UniqueConstraint("run_id", "ordinal"),
        Index("uq_attempt_open", "run_id", unique=True, postgresql_where=text("state = 'open'")),
        CheckConstraint("state IN ('open', 'finished', 'failed', 'cancelled', 'declined', 'lost')", name="state"),
    )


class Order(Identified, Base):
    """What one node does in an attempt."""

    __tablename__ = "node_order"

    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id"))
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    node_id: Mapped[int] = mapped_column(ForeignKey("node.id"))
    role: Mapped[str]  # `load`, or `observe`: it only samples itself, holds no lease, and nothing waits for it
    state: Mapped[str] = mapped_column(server_default="offered")
    offers_made: Mapped[int] = mapped_column(server_default="0")
    offered_at: Mapped[datetime] = mapped_column(server_default=func.now())
    # when the scheduler wakes the node again, for an offer that nobody claimed or a cancel that nobody confirmed; None
    # when the node knows
    next_offer_at: Mapped[datetime | None] = mapped_column(server_default=func.now())
    claimed_at: Mapped[datetime | None]
    claimed_by: Mapped[str | None]
    claimed_boot_id: Mapped[str | None]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    progress: Mapped[float | None]  # fraction done, 0 to 1
    phase: Mapped[str] = mapped_column(server_default="")  # in words
    silent_since: Mapped[datetime | None]  # beats stopped then; a flag that frees nothing
    cancel_wanted_at: Mapped[datetime | None]
    outcome: Mapped[str | None]
    result_sha256: Mapped[str | None]  # digest of the stored result; the same result again changes nothing
    # the commands as they ran (`StepRecord`)
    steps: Mapped[list[Any]] = mapped_column(JSONB, server_default=text("'[]'"))
    # of what a node that observed said of itself, see `environment`; that of loads is the run's
    environment_sha256: Mapped[str | None]
    # what others used of the node before and during the load (`ForeignLoad`); None where nobody said
    foreign_load: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    # where it receives what another node of the attempt sends (`Endpoint`), with the token that proves it; until it
    # ends
    endpoint: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    go_heard_at: Mapped[datetime | None]  # the moment of the start of which the node last said that it heard
    # its load could not be killed then, so its leases stay although it has ended; None again once nothing of the load
    # is left or an operator freed them
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
    """What a batch system is to run, or runs, for an attempt whose cluster's launcher it is."""

    __tablename__ = "batch_job"

    attempt_id: Mapped[int] = mapped_column(
        ForeignKey("attempt.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"))
    system: Mapped[str]  # the batch system, as it was when the attempt was opened
    # `wanted` until the batch system lists a job of the attempt's name, then as it is there
    state: Mapped[str] = mapped_column(server_default="wanted")
    job_id: Mapped[str | None]
    # of one that has ended, how (`JobEnd`), or `vanished`: the batch system no longer knows it
    ending: Mapped[str | None]
    words: Mapped[str] = mapped_column(server_default="")  # why it is where it is, in the batch system's own words
    started_at: Mapped[datetime | None]  # when it was first seen to run
    is_over: Mapped[bool] = mapped_column(server_default="false")  # nothing more is to come of it

    __table_args__ = (
        Index("ix_batch_job_open", "cluster_id", postgresql_where=text("NOT is_over")),
        CheckConstraint("system IN ('slurm', 'lsf')", name="system"),
        CheckConstraint("state IN ('wanted', 'pending', 'running', 'ended')", name="state"),
    )


class RunEvent(Identified, Base):
    """One line of a run's log."""

    __tablename__ = "run_event"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    order_id: Mapped[int | None] = mapped_column(ForeignKey("node_order.id"))
    at: Mapped[datetime] = mapped_column(server_default=func.now())
    kind: Mapped[str]
    text: Mapped[str]
    actor: Mapped[str | None]  # whom the text calls `an operator` (see `kit/people.py`)

    __table_args__ = (Index("ix_run_event_run_id_id", "run_id", "id"),)


class LinePlace(Base):
    """A waiting run's place in the line of a node that it names; gone as soon as the run no longer waits.

    Nodes and runs are never deleted, so PostgreSQL does not look them up for each place.
    """

    __tablename__ = "line_place"

    node_id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(primary_key=True)
    sort_key: Mapped[float]
    not_before: Mapped[datetime | None]
    # those of them that were of scope `shared` when the run stepped into its lines
    shared_target_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    # of the run's campaign, 0 where it has none; a line is one line for each owner
    owner_id: Mapped[int] = mapped_column(server_default="0")
    # all that the run loads; carried here so that the pass can skip what waits for a blocked target without reading the
    # run
    target_ids: Mapped[list[int]] = mapped_column(ARRAY(BigInteger), server_default=text("'{}'"))
    # 0, and read by the release before alone, which then reads the nodes of the run
    node_count: Mapped[int] = mapped_column(server_default="0")

    __table_args__ = (
        # With all that the pass asks of a place, so that it skips many without reading their rows.
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
    """What an owner's runs used of a cluster lately, and how far those that wait stand back behind others for it."""

    __tablename__ = "fair_share"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"), primary_key=True)
    owner_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # as in `LinePlace`
    # how many nodes the owner's runs held on average, what was long ago counting less and less
    nodes_used: Mapped[float]
    stands_back_seconds: Mapped[float]
    sampled_at: Mapped[datetime]


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
