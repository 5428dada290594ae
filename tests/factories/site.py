"""A cluster at work: waiting runs, agents that use the services of the gateway, and a readable broker."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count, zip_longest

from factories.announced import mount
from factories.clock import MovedClock
from factories.people import ADMIN
from factories.ready_cluster import ReadyCluster, announced
from sqlalchemy import text

from iotide_server.agent_api import heartbeats, service
from iotide_server.campaigns.models import Campaign, Cell, CellNode, CellObserver, CellTarget
from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.models import Node
from iotide_server.kit.db import Database
from iotide_server.kit.errors import IotideError
from iotide_server.runs import reading
from iotide_server.runs.line_repository import open_stage
from iotide_server.runs.models import Run
from iotide_server.runs.repository import NewRuns, insert_runs
from iotide_server.scheduling.queues import NodeQueues
from iotide_server.scheduling.starting import start_runs
from iotide_server.workloads.models import Workload
from iotide_wire.facts import MountFacts
from iotide_wire.messages import (
    ClaimRequest,
    FinishReply,
    FinishRequest,
    HeartbeatReply,
    HeartbeatRequest,
    HeldOrder,
    HelloRequest,
    Order,
    OrderHeartbeat,
    OrderState,
    Outcome,
    StuckLoad,
    Word,
)

_serial = count(1)


@dataclass(frozen=True, slots=True)
class Offered:
    """An order, as its node receives it."""

    order_id: int
    fence: int
    run_id: int


def order_heartbeat(
    offer: Offered | Order,
    state: OrderState = OrderState.RUNNING,
    started_at: datetime | None = None,
    **changes: object,
) -> OrderHeartbeat:
    """Return a heartbeat's report of an order, with some fields changed."""
    usual = {"progress": None, "phase": state.value, "started_at": started_at}
    return OrderHeartbeat.model_validate(
        {"order_id": offer.order_id, "fence": offer.fence, "state": state, **usual, **changes}
    )


@dataclass
class Site:
    """Online nodes `n1` and up; targets `scratch` (private to each) and `nfs` (shared by all)."""

    database: Database
    clock: MovedClock
    node_count: int = 2
    slots: int = 1
    cluster_id: int = field(init=False)
    node_ids: list[int] = field(init=False)
    target_ids: dict[str, int] = field(init=False)
    lines: NodeQueues = field(default_factory=NodeQueues, init=False)

    def __post_init__(self) -> None:
        with self.database.transaction() as session:
            ready = ReadyCluster(session, self.clock(), node_count=self.node_count)
            self.cluster_id = ready.cluster.id
            self.node_ids = [node.id for node in ready.nodes]
            self.target_ids = {"scratch": ready.target.id, "nfs": ready.add_target("nfs", scope="shared").id}
            for node in ready.nodes:
                node.slots = self.slots
                node.redis_password_sha256 = f"{node.id:064x}"
            session.flush()
        self.keep_online()

    def keep_online(self) -> None:
        """Store a heartbeat of every node's agent."""
        with self.database.transaction() as session:
            for number, node_id in enumerate(self.node_ids, start=1):
                agents.heartbeat(session, node_id, f"instance-n{number}", self.clock())

    def add_runs(
        self,
        *cells: Collection[int],
        target: str = "scratch",
        repeats: int = 1,
        exclusive: str = "node",
        cool_down: float = 0.0,
        attempts: int = 2,
        limit: float = 60.0,
        observers: Collection[int] = (),
        owner: int | None = None,
        roles: Sequence[str] = (),
    ) -> list[int]:
        """Add a campaign with a cell for each set of nodes (numbers from 1); return the ids of its waiting runs in
        queue order.

        Args:
            roles: of the nodes of each set, in their order.
        """
        with self.database.transaction() as session:
            campaign = Campaign(
                cluster_id=self.cluster_id,
                name=f"c{next(_serial)}",
                owner_id=owner,
                plan={},
                request_sha256="",
                created_at=self.clock(),
            )
            session.add(campaign)
            session.flush()
            workload_id = session.query(Workload.id).filter_by(name="dd").scalar()
            made = [
                Cell(
                    campaign_id=campaign.id,
                    ordinal=ordinal,
                    workload_id=workload_id,
                    options={},
                    options_sha256="",
                    bytes_needed=0.0,
                    bytes_moved=0.0,
                )
                for ordinal in range(1, len(cells) + 1)
            ]
            session.add_all(made)
            session.flush()
            for cell, nodes in zip(made, cells, strict=True):
                session.add_all(
                    CellNode(cell_id=cell.id, node_id=self.node_ids[node - 1], step_role=role)
                    for node, role in zip_longest(nodes, roles)
                )
                session.add_all(CellObserver(cell_id=cell.id, node_id=self.node_ids[node - 1]) for node in observers)
                session.add(CellTarget(cell_id=cell.id, target_id=self.target_ids[target]))
            session.flush()
            insert_runs(
                session,
                NewRuns(
                    campaign_id=campaign.id,
                    cluster_id=self.cluster_id,
                    exclusive=exclusive,
                    sort_key=self.clock().timestamp(),
                    time_limit_seconds=limit,
                    cool_down_seconds=cool_down,
                    attempts_allowed=attempts,
                    created_at=self.clock(),
                ),
                repeats,
            )
            open_stage(session, campaign.id, 1, self.clock())
            campaign_id = campaign.id
        return self.runs_of(campaign_id)

    def start(self) -> list[int]:
        """Run one pass of a scheduler; return the started runs, once for each of their orders."""
        return started_by(self.database, self.lines, self.clock())

    def run(self, run_id: int) -> Run:
        with self.database.transaction() as session:
            return session.get_one(Run, run_id)

    def runs_of(self, campaign_id: int) -> list[int]:
        with self.database.transaction() as session:
            return list(
                session.scalars(text("SELECT id FROM run WHERE campaign_id = :id ORDER BY id"), {"id": campaign_id})
            )

    def states(self, run_ids: Sequence[int]) -> list[str]:
        return [self.run(run_id).state for run_id in run_ids]

    def why_waiting(self, run_id: int) -> str:
        """Return the queue reason of the run's page."""
        with self.database.transaction() as session:
            return reading.why_waiting(session, reading.run(session, ADMIN, run_id), self.clock()) or ""

    def node(self, number: int) -> Node:
        with self.database.transaction() as session:
            return session.get_one(Node, self.node_ids[number - 1])

    def agent(self, number: int) -> "SimulatedAgent":
        return SimulatedAgent(self, self.node_ids[number - 1], f"instance-n{number}")

    def start_load(self, number: int = 1, *, started_at: datetime | None = None) -> "tuple[SimulatedAgent, Offered]":
        """Start a run on one node, up to its load."""
        self.add_runs([number])
        self.start()
        agent = self.agent(number)
        return agent, agent.run_offer(started_at=started_at)

    def change(self, statement: str, **values: object) -> None:
        with self.database.transaction() as session:
            session.execute(text(statement), values)


def started_by(database: Database, lines: NodeQueues, now: datetime) -> list[int]:
    """Return the runs that one pass starts, once for each of their orders."""
    order_ids = [offer.order_id for batch in start_runs(database, lines, now) for offer in batch]
    with database.transaction() as session:
        rows = session.execute(text("SELECT id, run_id FROM node_order WHERE id = ANY(:ids)"), {"ids": order_ids})
        run_ids = {row.id: row.run_id for row in rows}
    return [run_ids[order_id] for order_id in order_ids]


@dataclass
class SimulatedAgent:
    """A simulated agent of one node.

    Attributes:
        acknowledged: the last start moment received, by order.
    """

    site: Site
    node_id: int
    instance: str
    boot_id: str = "boot-1234"
    acknowledged: dict[int, datetime] = field(default_factory=dict)

    def offers(self) -> list[Offered]:
        """Return the offers to the node, oldest first."""
        with self.site.database.transaction() as session:
            rows = session.execute(
                text(
                    "SELECT node_order.id, fence, node_order.run_id FROM node_order JOIN attempt"
                    " ON attempt.id = node_order.attempt_id"
                    " WHERE node_id = :node_id AND node_order.state = 'offered' ORDER BY node_order.id"
                ),
                {"node_id": self.node_id},
            )
            return [Offered(*row) for row in rows]

    def offer(self) -> Offered:
        """Return the only offer."""
        (offer,) = self.offers()
        return offer

    def claim(self, offer: Offered, *, fence: int | None = None) -> Order:
        request = ClaimRequest(fence=fence or offer.fence, agent_instance=self.instance, boot_id=self.boot_id)
        with self.site.database.transaction() as session:
            claimed = service.claim(session, self.node_id, offer.order_id, request, self.site.clock())
        if isinstance(claimed, IotideError):
            raise claimed
        return claimed

    def claim_offer(self) -> Offered:
        """Claim the only offer."""
        offer = self.offer()
        self.claim(offer)
        return offer

    def run_offer(self, *, started_at: datetime | None = None) -> Offered:
        """Claim the only offer, and report its load as running, by default from now on."""
        offer = self.claim_offer()
        self.say(offer, OrderState.RUNNING, 0.1, started_at=started_at or self.site.clock())
        return offer

    def heartbeat(
        self,
        *orders: OrderHeartbeat,
        instance: str | None = None,
        spool_bytes: int | None = None,
        stuck: Collection[StuckLoad] | None = None,
        problem: str | None = None,
    ) -> HeartbeatReply:
        request = HeartbeatRequest(
            agent_instance=instance or self.instance,
            boot_id=self.boot_id,
            sent_at=self.site.clock(),
            orders=tuple(self._with_acknowledged(order) for order in orders),
            spool_bytes=spool_bytes,
            stuck=None if stuck is None else tuple(stuck),
            problem=problem,
        )
        with self.site.database.transaction() as session:
            reply = heartbeats.answer_heartbeat(session, self.node_id, request, self.site.clock())
        self.acknowledged |= {word.order_id: word.go_at for word in reply.orders if word.go_at is not None}
        return reply

    def _with_acknowledged(self, order: OrderHeartbeat) -> OrderHeartbeat:
        """Return the order's heartbeat with the last start moment received, as an agent reports it."""
        return order.model_copy(update={"go_heard": self.acknowledged.get(order.order_id)})

    def say(
        self, offer: Offered, state: OrderState, progress: float | None = None, *, started_at: datetime | None = None
    ) -> Word:
        """Send a heartbeat with one order; return the server's word on it."""
        return self.heartbeat(order_heartbeat(offer, state, started_at, progress=progress)).orders[0].word

    def result(
        self,
        offer: Offered,
        outcome: Outcome = Outcome.FINISHED,
        *,
        fence: int | None = None,
        reason: str | None = None,
        **changes: object,
    ) -> FinishRequest:
        values: Mapping[str, object] = {
            "fence": fence or offer.fence,
            "agent_instance": self.instance,
            "digest": hashlib.sha256(f"{offer} {outcome} {reason}".encode()).hexdigest(),
            "outcome": outcome,
            "reason_code": reason and "because",
            "reason": reason,
            "started_at": self.site.clock(),
            "ended_at": self.site.clock(),
            "steps": (),
            "samples": (),
            "flags": (),
            "environment": {},
            "artefacts": (),
            "curves": (),
        }
        return FinishRequest.model_validate({**values, **changes})

    def hand_in(self, offer: Offered, result: FinishRequest) -> FinishReply:
        with self.site.database.transaction() as session:
            return service.finish(session, self.node_id, offer.order_id, result, self.site.clock())

    def finish(self, offer: Offered, outcome: Outcome = Outcome.FINISHED, *, reason: str | None = None) -> FinishReply:
        return self.hand_in(offer, self.result(offer, outcome, reason=reason))

    def hello(
        self,
        *held: Offered,
        instance: str,
        boot_id: str | None = None,
        mounts: tuple[MountFacts, ...] = (mount("/scratch"), mount("/nfs")),
        look: int | None = None,
        wire_version: int = 1,
    ) -> None:
        """Say hello as a new process of the agent, with `instance` and `boot_id` from now on."""
        request = HelloRequest(
            agent_instance=instance,
            previous_instance=self.instance,
            boot_id=boot_id or self.boot_id,
            agent_version="1",
            wire_version=wire_version,
            sent_at=self.site.clock(),
            facts={},
            mounts=mounts,
            approved_directories=("/scratch", "/nfs", "/ost"),
            workloads=tuple(announced(())),
            look=look,
            holds=tuple(HeldOrder(order_id=offer.order_id, fence=offer.fence) for offer in held),
        )
        with self.site.database.transaction() as session:
            service.hello(session, self.node_id, request, self.site.clock())
        self.instance, self.boot_id = instance, request.boot_id


def agree(*gang: tuple[SimulatedAgent, Offered]) -> list[Word]:
    """Let each node of a gang report ready and acknowledge the start moment; return the server's words."""
    for _ in range(3):
        for agent, offer in gang:
            agent.say(offer, OrderState.READY)
    return [agent.say(offer, OrderState.READY) for agent, offer in gang]
