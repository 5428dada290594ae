"""A campaign with delivered results, as rows, and results as a node sends them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Campaign, Cell, CellNode, CellTarget
from iotide_server.clusters.models import Cluster, Node
from iotide_server.kit.digests import canonical_sha256
from iotide_server.results.ingest import service as results
from iotide_server.runs.models import Attempt, Order, Run
from iotide_server.targets.models import Target
from iotide_server.workloads.models import Workload, WorkloadBaseline
from iotide_wire.catalogue import MetricSpec
from iotide_wire.facts import FactValue
from iotide_wire.measured import Flag, SampleMessage, StepRecord
from iotide_wire.messages import FinishRequest, Outcome
from iotide_wire.units import Unit

NUMBER = {"kind": "number", "value": 1.0}
METRICS = (
    MetricSpec(
        name="write_rate",
        title="Write rate",
        unit=Unit.BYTES_PER_SECOND,
        better="higher",
        labels=("operation", "writer", "file_size_bytes", "record_size_bytes", "direct"),
    ),
    MetricSpec(name="wait", title="Wait", unit=Unit.SECONDS, better="lower", labels=("operation", "part")),
)
DEFAULTS = {"file_size_bytes": 1024, "direct": False}


@dataclass
class Measured:
    """One node, one target and one workload in a cluster; everything is flushed, nothing committed."""

    session: Session
    now: datetime
    name: str = "blade"
    cluster: Cluster = field(init=False)
    node: Node = field(init=False)
    target: Target = field(init=False)
    workload: Workload = field(init=False)

    def __post_init__(self) -> None:
        self.cluster = Cluster(name=self.name)
        self.session.add(self.cluster)
        self.session.flush()
        self.node = Node(
            cluster_id=self.cluster.id, name="node1", role="compute", token_sha256=self.name, redis_password_sha256=""
        )
        self.target = Target(cluster_id=self.cluster.id, name="scratch", path="/scratch", scope="node")
        self.session.add_all([self.node, self.target])
        if self.session.get(WorkloadBaseline, "dd") is None:
            self.session.add(WorkloadBaseline(name="dd", option_defaults=DEFAULTS))
        self.workload = Workload(
            name="dd",
            revision=1,
            schema_sha256=self.name,
            title="dd",
            description="",
            options_schema={},
            option_defaults=DEFAULTS,
            metrics=[metric.model_dump(mode="json") for metric in METRICS],
            bytes_needed=NUMBER,
            bytes_moved=NUMBER,
            breaks_series=False,
            tool="dd",
        )
        self.session.add(self.workload)
        self.session.flush()

    def campaign(self, name: str = "nightly") -> Campaign:
        campaign = Campaign(
            cluster_id=self.cluster.id, name=name, plan={}, request_sha256="", owner_id=None, created_at=self.now
        )
        self.session.add(campaign)
        self.session.flush()
        return campaign

    def cell(self, campaign: Campaign | None = None, /, **options: object) -> Cell:
        campaign = campaign or self.campaign()
        differing = {name: value for name, value in options.items() if DEFAULTS.get(name) != value}
        cell = Cell(
            campaign_id=campaign.id,
            ordinal=1 + len(self.session.query(Cell).filter_by(campaign_id=campaign.id).all()),
            workload_id=self.workload.id,
            options=DEFAULTS | options,
            options_sha256=canonical_sha256(differing),
            bytes_needed=1.0,
            bytes_moved=1.0,
        )
        self.session.add(cell)
        self.session.flush()
        self.session.add(CellNode(cell_id=cell.id, node_id=self.node.id))
        self.session.add(CellTarget(cell_id=cell.id, target_id=self.target.id))
        self.session.flush()
        return cell

    def add_node(self, name: str, cell: Cell) -> Node:
        """Add a node that loads with the first in each run of the cell."""
        node = Node(cluster_id=self.cluster.id, name=name, role="compute", token_sha256=name, redis_password_sha256="")
        self.session.add(node)
        self.session.flush()
        self.join(node, cell)
        return node

    def join(self, node: Node, cell: Cell) -> None:
        """Let this node load in each run of the cell, too."""
        self.session.add(CellNode(cell_id=cell.id, node_id=node.id))
        self.session.flush()

    def send_from(self, node: Node, cell: Cell) -> None:
        """Make this node send in the cell's runs, and the other one receive."""
        for of_cell in self.session.query(CellNode).filter_by(cell_id=cell.id):
            of_cell.step_role = "sender" if of_cell.node_id == node.id else "receiver"
        self.session.flush()

    def lead_from(self, node: Node, cell: Cell) -> None:
        """Make this node the head of one program over the cell's nodes."""
        for of_cell in self.session.query(CellNode).filter_by(cell_id=cell.id):
            of_cell.step_role = "head" if of_cell.node_id == node.id else "member"
        self.session.flush()

    def deliver_together(self, cell: Cell, results_by_node: Mapping[int, FinishRequest], *, minutes: float = 0) -> Run:
        """Finish a run of a gang with these results, in their order of arrival."""
        run = self.run(cell, minutes=minutes)
        attempt = Attempt(run_id=run.id, ordinal=1, fence=run.id * 100 + 1)
        self.session.add(attempt)
        self.session.flush()
        orders = {
            node_id: Order(attempt_id=attempt.id, run_id=run.id, node_id=node_id, role="load", state="uploading")
            for node_id in results_by_node
        }
        self.session.add_all(orders.values())
        self.session.flush()
        for node_id, result in results_by_node.items():
            order = orders[node_id]
            order.started_at, order.result_sha256 = result.started_at, result.digest
            order.steps = [step.model_dump(mode="json") for step in result.steps]
            results.ingest(self.session, order, result, self.now)
            order.state, order.outcome = "ended", "finished"
        attempt.state = run.state = "finished"
        self.session.flush()
        return run

    def observe(self, run: Run, name: str, result: FinishRequest) -> Order:
        """Deliver the result of a node that observed the run's last attempt."""
        node = Node(cluster_id=self.cluster.id, name=name, role="storage", token_sha256=name, redis_password_sha256="")
        self.session.add(node)
        self.session.flush()
        attempt = self.session.query(Attempt).filter_by(run_id=run.id).order_by(Attempt.id.desc()).first() or Attempt()
        order = Order(attempt_id=attempt.id, run_id=run.id, node_id=node.id, role="observe", state="ended")
        self.session.add(order)
        self.session.flush()
        order.outcome, order.result_sha256 = "finished", result.digest
        results.ingest_observed(self.session, order, result, self.now)
        return order

    def run(self, cell: Cell, *, minutes: float = 0) -> Run:
        """Make a run that is active since `minutes` after now."""
        run = Run(
            campaign_id=cell.campaign_id,
            cell_id=cell.id,
            cluster_id=self.cluster.id,
            repeat=len(self.session.query(Run).filter_by(cell_id=cell.id).all()) + 1,
            state="active",
            exclusive="node",
            sort_key=0.0,
            time_limit_seconds=60.0,
            attempts_allowed=2,
            started_at=self.now + timedelta(minutes=minutes),
        )
        self.session.add(run)
        self.session.flush()
        return run

    def order(self, run: Run, ordinal: int = 1) -> Order:
        """Add the node's order to a new attempt of the run."""
        attempt = Attempt(run_id=run.id, ordinal=ordinal, fence=run.id * 100 + ordinal)
        self.session.add(attempt)
        self.session.flush()
        order = Order(attempt_id=attempt.id, run_id=run.id, node_id=self.node.id, role="load", state="uploading")
        self.session.add(order)
        self.session.flush()
        return order

    def end(self, run: Run, order: Order, state: str = "finished") -> None:
        """Write what the life cycle writes on the order's result."""
        attempt = self.session.get_one(Attempt, order.attempt_id)
        attempt.state = run.state = state
        order.state, order.outcome, order.result_sha256 = "ended", state, "0" * 64
        self.session.flush()

    def deliver(self, cell: Cell, result: FinishRequest, *, minutes: float = 0) -> Run:
        """Finish a run with this result."""
        run = self.run(cell, minutes=minutes)
        order = self.order(run)
        results.ingest(self.session, order, result, self.now)
        self.end(run, order)
        return run


def announced_again(measured: Measured, revision: int, *, digest: str, **changes: object) -> Workload:
    """Return the workload as a row of this revision and digest."""
    columns = {column.name: getattr(measured.workload, column.name) for column in Workload.__table__.columns}
    del columns["id"]
    row = Workload(**columns | {"revision": revision, "schema_sha256": digest} | changes)
    measured.session.add(row)
    measured.session.flush()
    return row


def sample(value: float, metric: str = "write_rate", **labels: str | float | bool) -> SampleMessage:
    return SampleMessage(metric=metric, value=value, labels=labels, target_id=None)


def finish(
    now: datetime,
    *samples: SampleMessage,
    flags: tuple[Flag, ...] = (),
    environment: Mapping[str, FactValue] | None = None,
    outcome: Outcome = Outcome.FINISHED,
) -> FinishRequest:
    """Return a node's result."""
    return FinishRequest(
        fence=1,
        agent_instance="instance-1",
        digest=hashlib.sha256(repr(samples).encode()).hexdigest(),
        outcome=outcome,
        reason_code=None,
        reason=None,
        started_at=now,
        ended_at=now,
        steps=(),
        samples=samples,
        flags=flags,
        environment=dict(environment or {"kernel.release": "6.1.0"}),
        artefacts=(),
        curves=(),
    )


def step(name: str, tool: str, started_at: datetime, seconds: float) -> StepRecord:
    """Return a command that ran that long and succeeded."""
    return StepRecord(
        name=name,
        phase=name,
        argv=(tool,),
        target_id=None,
        writer=None,
        started_at=started_at,
        wall_seconds=seconds,
        user_seconds=0.0,
        system_seconds=0.0,
        max_rss_bytes=0,
        exit_status=0,
        signal=None,
    )
