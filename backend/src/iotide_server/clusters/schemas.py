"""What the API takes and gives for clusters, nodes and join tokens."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from iotide_server.clusters import models
from iotide_server.clusters.drain_schemas import Drain
from iotide_server.clusters.views import ClusterView, Launcher, NodeState, NodeView, Origin
from iotide_server.kit.web import Input, Output
from iotide_wire.base import Name, WrittenTime
from iotide_wire.facts import Facts, MountFacts
from iotide_wire.messages import NodeRole

ClusterName = Annotated[Name, Field(examples=["blade-2026"])]
Description = Annotated[str, Field(max_length=2000, description="What a colleague should know", examples=["rack 4"])]
ClusterLauncher = Annotated[
    Launcher, Field(description="Who starts its runs: its nodes' agents, or jobs of a batch system")
]
Slots = Annotated[int, Field(ge=1, le=1000, description="How many runs may share the node", examples=[1])]


class ClusterInput(Input):
    """A new cluster."""

    name: ClusterName
    description: Description = ""
    launcher: ClusterLauncher = Launcher.DIRECT


class ClusterPatch(Input):
    """The fields of a cluster to change; what is left out or null stays."""

    name: ClusterName | None = None
    description: Description | None = None
    launcher: ClusterLauncher | None = None


class Cluster(Output):
    """A named set of nodes and targets."""

    id: int
    name: ClusterName
    description: Description
    launcher: ClusterLauncher
    origin: Annotated[
        Origin,
        Field(
            description="Who measured its results: its `own` nodes, nobody since they are `made_up`, or others who"
            " `published` them; nothing runs on the latter two"
        ),
    ]
    created_at: datetime
    drain: Annotated[Drain | None, Field(description="Nothing new starts in the whole cluster")]

    @classmethod
    def of(cls, view: ClusterView) -> "Cluster":
        """As the API shows the view."""
        row = view.cluster
        return cls(
            id=row.id,
            name=row.name,
            description=row.description,
            launcher=Launcher(row.launcher),
            origin=Origin(row.origin),
            created_at=row.created_at,
            drain=None if view.drain is None else Drain.model_validate(view.drain),
        )


class BlackoutInput(Input):
    """A new blackout."""

    starts_at: Annotated[WrittenTime, Field(examples=["2026-12-01T07:00:00Z"])]
    ends_at: Annotated[WrittenTime, Field(examples=["2026-12-01T17:00:00Z"])]
    reason: Annotated[str, Field(min_length=1, max_length=200, examples=["new firmware on the switches"])]

    def row(self) -> models.Blackout:
        """What it asks for, of no cluster yet."""
        return models.Blackout(starts_at=self.starts_at, ends_at=self.ends_at, reason=self.reason)


class Blackout(Output):
    """A maintenance of a cluster: no run starts in it, nor one that by its time limit could not end before it."""

    id: int
    cluster_id: int
    starts_at: datetime
    ends_at: datetime
    reason: str
    created_at: datetime

    @classmethod
    def of(cls, row: models.Blackout) -> "Blackout":
        """As the API shows the row."""
        return cls.model_validate(row)


class JoinTokenInput(Input):
    """A new join token."""

    uses: Annotated[int, Field(ge=1, le=10_000, description="How many nodes it lets in", examples=[8])] = 1
    expires_in_seconds: Annotated[float, Field(ge=60, le=30 * 86_400, examples=[3600.0])] = 3600.0


class JoinToken(Output):
    """A join token, without its secret."""

    id: int
    cluster_id: int
    uses_left: int
    created_at: datetime
    expires_at: datetime

    @classmethod
    def of(cls, row: models.JoinToken) -> "JoinToken":
        """As the API shows the row."""
        return cls.model_validate(row)


class JoinTokenCreated(JoinToken):
    """A new join token; its secret is shown this once."""

    token: Annotated[str, Field(description="`<secret>.<SHA-256 of the server's CA, or ->`")]
    command: Annotated[str, Field(description="What to run on each new node")]


class NodePatch(Input):
    """The fields of a node to change; what is left out or null stays."""

    slots: Slots | None = None
    role: NodeRole | None = None


class NodeWorkload(Output):
    """A workload as a node has it."""

    name: Annotated[str, Field(examples=["fio"])]
    revision: int
    tool_version: Annotated[str | None, Field(examples=["fio-3.33"])]
    available: bool
    unavailable_because: str | None


class ActiveOrder(Output):
    """What a node is doing for a run."""

    order_id: int
    run_id: int
    state: Annotated[str, Field(examples=["running"])]
    progress: Annotated[float | None, Field(description="Fraction done, 0 to 1; null where unknown")]
    phase: Annotated[str, Field(examples=["writing 1.00 GiB"])]


class Node(Output):
    """A host with an agent."""

    id: int
    cluster_id: int
    name: Annotated[str, Field(examples=["node07"])]
    role: NodeRole
    slots: Slots
    state: NodeState
    last_seen_at: datetime | None
    agent_version: str | None
    boot_id: str | None
    facts: Facts
    mounts: list[MountFacts]
    approved_directories: Annotated[
        list[str], Field(description="Where its agent lets runs write", examples=[["/scratch"]])
    ]
    workloads: list[NodeWorkload]
    active_orders: list[ActiveOrder]
    problem: Annotated[str | None, Field(description="Why the scheduler passes it over")]
    drain: Annotated[Drain | None, Field(description="Nothing new starts on it; its cluster may be drained, too")]

    @classmethod
    def of(cls, view: NodeView) -> "Node":
        """As the API shows the view."""
        node = view.node
        return cls(
            id=node.id,
            cluster_id=node.cluster_id,
            name=node.name,
            role=NodeRole(node.role),
            slots=node.slots,
            state=view.state,
            last_seen_at=view.last_seen_at,
            agent_version=node.agent_version,
            boot_id=node.boot_id,
            facts=node.facts,
            mounts=[MountFacts.model_validate(mount) for mount in node.mounts],
            approved_directories=node.approved_directories,
            workloads=[NodeWorkload.model_validate(workload) for workload in view.workloads],
            active_orders=[ActiveOrder.model_validate(order) for order in view.active_orders],
            problem=node.problem,
            drain=None if view.drain is None else Drain.model_validate(view.drain),
        )
