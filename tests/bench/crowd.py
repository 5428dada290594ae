"""Generated cluster of many nodes with a long queue, as rows: input of `./dev bench scheduler`."""

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.agent_api import service as gateway
from iotide_server.campaigns.models import Campaign
from iotide_server.kit.db import Database
from iotide_server.runs.line_repository import open_stage
from iotide_server.runs.repository import NewRuns, insert_runs
from iotide_server.scheduling.queues import NodeQueues
from iotide_server.workloads.models import Workload, WorkloadBaseline
from iotide_wire.messages import FinishRequest, Outcome

NODES_PER_RUN_OF_A_CAMPAIGN: Final = 4
"""A campaign has a quarter as many runs as there are nodes. The heads of the queues thus belong to several campaigns,
and to the same ones for every queue length.
"""
OWNERS: Final = 5
NODES_PER_TARGET: Final = 50
GANG_SHARE: Final = 0.15
LARGEST_GANG: Final = 16
TARGET_SHARE: Final = 0.4
EXCLUSIVE_SHARE: Final = 0.3
"""Of the runs on a shared target."""
TIME_LIMITS_SECONDS: Final = (600.0, 3600.0, 4 * 3600.0)

_SITE: Final = (
    "INSERT INTO user_account (name) SELECT 'owner' || i FROM generate_series(1, :owners) AS i",
    "INSERT INTO cluster (name) VALUES ('crowd')",
    """INSERT INTO node (cluster_id, name, role, token_sha256, redis_password_sha256, agent_instance, boot_id)
       SELECT cluster.id, 'n' || i, 'compute', 'token' || i, '', 'instance', 'boot'
       FROM cluster, generate_series(1, :nodes) AS i""",
    "INSERT INTO node_beat (node_id, seen_at) SELECT id, :now FROM node",
    """INSERT INTO target (cluster_id, name, path, scope)
       SELECT cluster.id, 't' || i, '/t' || i, 'shared' FROM cluster, generate_series(1, :targets) AS i""",
)
_CELLS: Final = text(
    """
    WITH made AS (
        INSERT INTO cell (campaign_id, ordinal, workload_id, options, options_sha256, bytes_needed, bytes_moved)
        SELECT :campaign_id, ordinal, :workload_id, '{}', '', 0, 0 FROM generate_series(1, :cells) AS ordinal
        RETURNING id, ordinal
    ), on_nodes AS (
        INSERT INTO cell_node (cell_id, node_id)
        SELECT made.id, node_id
        FROM unnest(CAST(:node_ordinals AS bigint[]), CAST(:node_ids AS bigint[])) AS loading (ordinal, node_id)
        JOIN made USING (ordinal)
    )
    INSERT INTO cell_target (cell_id, target_id)
    SELECT made.id, target_id
    FROM unnest(CAST(:target_ordinals AS bigint[]), CAST(:target_ids AS bigint[])) AS loaded (ordinal, target_id)
    JOIN made USING (ordinal)
    """
)
_MOUNTS: Final = text(
    "INSERT INTO target_mount (target_id, node_id, path, fstype, source, mount_options, seen_at)"
    " SELECT DISTINCT target_id, node_id, '/t', 'nfs', 'server:/t', 'rw', CAST(:now AS timestamptz)"
    " FROM cell_target JOIN cell_node USING (cell_id) ON CONFLICT DO NOTHING"
)
_CLAIMED: Final = text(
    "UPDATE node_order SET state = 'running', next_offer_at = NULL, claimed_at = :now, claimed_by = 'instance',"
    " claimed_boot_id = 'boot', started_at = :now WHERE state = 'offered'"
)
_ACTIVE: Final = text("SELECT id FROM run WHERE state = 'active' ORDER BY id")
_ORDERS: Final = text(
    "SELECT node_order.id, node_order.node_id, attempt.fence FROM node_order"
    " JOIN attempt ON attempt.id = node_order.attempt_id WHERE attempt.state = 'open' AND node_order.run_id = :run_id"
)
_COUNTS: Final = text(
    "SELECT (SELECT count(*) FROM run WHERE state = 'waiting') AS waiting,"
    " (SELECT count(*) FROM node WHERE exclusive_leases + shared_leases = 0) AS idle_nodes"
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """Requirements of a run."""

    nodes: tuple[int, ...]
    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of the crowd's states."""

    waiting: int
    idle_nodes: int


class Crowd:
    """Nodes and runs; agents do exactly what the server asks.

    For a given number of nodes the mix of runs and their ends are always the same: a longer queue is the shorter one
    with more runs behind it.
    """

    def __init__(self, database: Database, nodes: int, now: datetime) -> None:
        self.database = database
        self.lines = NodeQueues()
        self.now = now
        self._random = random.Random(nodes)  # noqa: S311 - no secret
        self._ending = random.Random(nodes)  # noqa: S311 - no secret
        values = {"nodes": nodes, "now": now, "owners": OWNERS, "targets": max(1, nodes // NODES_PER_TARGET)}
        with database.transaction() as session:
            for statement in _SITE:
                session.execute(text(statement), values)
            self._cluster_id = session.scalars(text("SELECT id FROM cluster")).one()
            self._owner_ids = session.scalars(text("SELECT id FROM user_account ORDER BY id")).all()
            self._node_ids = session.scalars(text("SELECT id FROM node ORDER BY id")).all()
            self.target_ids = session.scalars(text("SELECT id FROM target ORDER BY id")).all()
            self._workload_id = _add_workload(session)

    def queue(self, runs: int, target_id: int | None = None) -> None:
        """Add this many waiting runs, in campaigns a minute apart with rotating owners.

        Args:
            target_id: target of all of them; None: as the mix says.
        """
        size = len(self._node_ids) // NODES_PER_RUN_OF_A_CAMPAIGN
        campaigns = runs // size
        for number in range(campaigns):
            drawn = [self._draw(target_id) for _ in range(size)]
            alone = [run for run in drawn if run.targets and self._random.random() < EXCLUSIVE_SHARE]
            at = self.now - timedelta(minutes=campaigns - number)
            with self.database.transaction() as session:
                self._submit(session, [run for run in drawn if run not in alone], "node", number, at)
                self._submit(session, alone, "node+target", number, at)
        with self.database.transaction() as session:
            session.execute(_MOUNTS, {"now": self.now})

    def block(self, target_id: int) -> None:
        """Add a waiting run that needs the target exclusively, ahead of all others."""
        with self.database.transaction() as session:
            run = Drawn((self._node_ids[0],), (target_id,))
            self._submit(session, [run], "node+target", 0, self.now - timedelta(days=1))

    def go_on(self, seconds: float) -> None:
        """Advance time: offered runs start, and every node has just sent a heartbeat."""
        self.now += timedelta(seconds=seconds)
        with self.database.transaction() as session:
            session.execute(_CLAIMED, {"now": self.now})
            session.execute(text("UPDATE node_beat SET seen_at = :now"), {"now": self.now})

    def end(self, share: float) -> int:
        """End a share of the active runs as their nodes would report it; return how many."""
        with self.database.transaction() as session:
            active = session.scalars(_ACTIVE).all()
        ending = self._ending.sample(active, max(1, round(share * len(active))))
        for run_id in ending:
            with self.database.transaction() as session:
                orders = session.execute(_ORDERS, {"run_id": run_id}).all()
            for order in orders:
                with self.database.transaction() as session:
                    gateway.finish(session, order.node_id, order.id, self._result(order.fence, order.id), self.now)
        return len(ending)

    def counts(self) -> Counts:
        """Return the present counts."""
        with self.database.transaction() as session:
            row = session.execute(_COUNTS).one()
        return Counts(row.waiting, row.idle_nodes)

    def _draw(self, target_id: int | None) -> Drawn:
        is_gang = self._random.random() < GANG_SHARE
        size = self._random.randint(2, LARGEST_GANG) if is_gang else 1
        nodes = tuple(self._random.sample(self._node_ids, size))
        if target_id is not None:
            return Drawn(nodes, (target_id,))
        has_target = self._random.random() < TARGET_SHARE
        return Drawn(nodes, (self._random.choice(self.target_ids),) if has_target else ())

    def _submit(self, session: Session, runs: Sequence[Drawn], exclusive: str, number: int, at: datetime) -> None:
        campaign = Campaign(
            cluster_id=self._cluster_id,
            name=f"c{number}",
            owner_id=self._owner_ids[number % OWNERS],
            plan={},
            request_sha256="",
            created_at=at,
        )
        session.add(campaign)
        session.flush()
        values = {
            "campaign_id": campaign.id,
            "workload_id": self._workload_id,
            "cells": len(runs),
            "node_ordinals": [ordinal for ordinal, run in enumerate(runs, start=1) for _ in run.nodes],
            "node_ids": [node_id for run in runs for node_id in run.nodes],
            "target_ordinals": [ordinal for ordinal, run in enumerate(runs, start=1) for _ in run.targets],
            "target_ids": [target_id for run in runs for target_id in run.targets],
        }
        session.execute(_CELLS, values)
        new = NewRuns(
            campaign_id=campaign.id,
            cluster_id=self._cluster_id,
            exclusive=exclusive,
            sort_key=at.timestamp(),
            time_limit_seconds=TIME_LIMITS_SECONDS[number % len(TIME_LIMITS_SECONDS)],
            cool_down_seconds=0.0,
            attempts_allowed=2,
            created_at=at,
        )
        insert_runs(session, new, repeats=1)
        open_stage(session, campaign.id, 1, at)

    def _result(self, fence: int, order_id: int) -> FinishRequest:
        return FinishRequest(
            fence=fence,
            agent_instance="instance",
            digest=hashlib.sha256(str(order_id).encode()).hexdigest(),
            outcome=Outcome.FINISHED,
            reason_code=None,
            reason=None,
            started_at=self.now,
            ended_at=self.now,
            steps=(),
            samples=(),
            flags=(),
            environment={},
            artefacts=(),
            curves=(),
        )


def _add_workload(session: Session) -> int:
    number = {"kind": "number", "value": 1.0}
    workload = Workload(
        name="dd",
        revision=1,
        schema_sha256="",
        title="dd",
        description="",
        options_schema={},
        option_defaults={},
        metrics=[],
        bytes_needed=number,
        bytes_moved=number,
        breaks_series=False,
        tool="dd",
    )
    session.add_all([workload, WorkloadBaseline(name="dd", option_defaults={})])
    session.flush()
    return workload.id
