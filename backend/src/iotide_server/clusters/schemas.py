"""Schemas of clusters, nodes and join tokens."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field

from iotide_server.clusters import models
from iotide_server.clusters.agents.access import AgentAccess
from iotide_server.clusters.drains.schemas import DrainOutput
from iotide_server.clusters.views import (
    ActiveOrderOutput,
    AgentStanding,
    Launcher,
    NodeClockOutput,
    NodeState,
    NodeWorkloadOutput,
    Origin,
    agent_standing,
)
from iotide_server.kit.pagination import LARGEST_ID
from iotide_server.kit.people import PersonShown
from iotide_server.kit.web import Input, Output
from iotide_wire.base import Name, WrittenTime
from iotide_wire.facts import Facts, MountFacts
from iotide_wire.messages import NodeRole
from iotide_wire.nodes import fingerprint

ClusterName = Annotated[Name, Field(examples=["blade-2026"])]
Description = Annotated[str, Field(max_length=2000, description="Free text for other users", examples=["rack 4"])]
ClusterLauncher = Annotated[
    Launcher, Field(description="Starter of its runs: its nodes' agents, or jobs of a batch system")
]
Slots = Annotated[int, Field(ge=1, le=1000, description="How many runs may share the node", examples=[1])]


class ClusterInput(Input):
    name: ClusterName
    description: Description = ""
    launcher: ClusterLauncher = Launcher.DIRECT


class ClusterPatch(Input):
    """Fields of a cluster to change; omitted or null fields stay."""

    name: ClusterName | None = None
    description: Description | None = None
    launcher: ClusterLauncher | None = None


class ClusterOutput(Output):
    """A named set of nodes and targets."""

    id: int
    name: ClusterName
    description: Description
    launcher: ClusterLauncher
    origin: Annotated[
        Origin,
        Field(
            description="Source of its results: `own`: its nodes measured them; `made_up`: sample data; `published`:"
            " copied from a publication. Nothing runs on the latter two"
        ),
    ]
    created_at: datetime
    drain: Annotated[DrainOutput | None, Field(description="No new run starts in the cluster; null: it is not drained")]


class BlackoutInput(Input):
    starts_at: Annotated[WrittenTime, Field(examples=["2026-12-01T07:00:00Z"])]
    ends_at: Annotated[WrittenTime, Field(examples=["2026-12-01T17:00:00Z"])]
    reason: Annotated[str, Field(min_length=1, max_length=200, examples=["new firmware on the switches"])]

    def row(self) -> models.Blackout:
        return models.Blackout(starts_at=self.starts_at, ends_at=self.ends_at, reason=self.reason)


class BlackoutOutput(Output):
    """Maintenance window of a cluster: no run starts in it, or before it if it could not finish in time."""

    id: int
    cluster_id: int
    starts_at: datetime
    ends_at: datetime
    reason: str
    created_at: datetime


JoinTokenSeconds = Annotated[float, Field(ge=60, le=30 * 86_400, examples=[3600.0])]


class JoinTokenInput(Input):
    uses: Annotated[int, Field(ge=1, le=10_000, description="How many nodes can enroll with it", examples=[8])] = 1
    expires_in_seconds: JoinTokenSeconds = 3600.0
    needs_approval: Annotated[
        bool | None,
        Field(
            strict=True,
            description="Nodes that enroll with it wait for an admin's approval; by default if it has several uses",
        ),
    ] = None


class ReenrolmentInput(Input):
    """Join token for an existing node."""

    expires_in_seconds: JoinTokenSeconds = 3600.0


class JoinTokenOutput(Output):
    """Join token without its secret."""

    id: int
    cluster_id: int
    node_id: Annotated[
        int | None, Field(description="Existing node that gets a new identity; null: each use makes a new node")
    ]
    uses_left: int
    needs_approval: bool
    created_at: datetime
    expires_at: datetime
    made_by: Annotated[PersonShown, Field(description="User who created it; null if the account was deleted")]


@dataclass(frozen=True, slots=True)
class NewJoinToken:
    """Join token with its secret, shown only at its creation."""

    shown: JoinTokenOutput
    secret: str


class JoinTokenCreated(JoinTokenOutput):
    """New join token; its secret is shown only once."""

    token: Annotated[str, Field(description="`<secret>.<SHA-256 of the server's CA, or ->`")]
    command: Annotated[str, Field(description="Command that enrols a host with an agent")]
    install_command: Annotated[
        str | None,
        Field(
            description="Command for root that installs an agent and enrols the host; append the directories for runs."
            " Null if the server has no agent files"
        ),
    ]

    @classmethod
    def made(cls, new: NewJoinToken, access: AgentAccess) -> "JoinTokenCreated":
        token = access.join_token(new.secret)
        command = access.enroll_command(token, replaces=new.shown.node_id is not None)
        return cls(**dict(new.shown), token=token, command=command, install_command=access.install_command(token))


class PendingNodeOutput(Output):
    """Host that enrolled and waits for approval; its identity gives no access yet."""

    id: Annotated[int, Field(description="Id of the future node")]
    cluster_id: int
    name: Annotated[str, Field(examples=["node07"])]
    role: NodeRole
    address: Annotated[str | None, Field(description="Address from which it enrolled", examples=["10.1.2.3"])]
    fingerprint: Annotated[
        str,
        Field(
            description="Fingerprint of its token; `iotide-agent check` prints it too", examples=["3f2a 91bc 07de 4410"]
        ),
    ]
    agent_version: str
    agent_standing: AgentStanding
    facts: Facts
    asked_at: datetime
    last_seen_at: Annotated[datetime | None, Field(description="Last time its agent asked whether it was approved")]
    expires_at: datetime

    @classmethod
    def of(cls, row: models.PendingNode) -> "PendingNodeOutput":
        return cls.of_row(
            row,
            fingerprint=fingerprint(row.token_sha256),
            agent_standing=agent_standing(row.wire_version),
            last_seen_at=row.seen_at,
        )


class PendingChoice(Input):
    pending_ids: Annotated[list[Annotated[int, Field(ge=1, le=LARGEST_ID)]], Field(min_length=1, max_length=1000)]


class NodePatch(Input):
    """Fields of a node to change; omitted or null fields stay."""

    slots: Slots | None = None
    role: NodeRole | None = None


class StuckLoadOutput(Output):
    """Load that no signal can kill. It holds its node until it is gone."""

    process: Annotated[str, Field(examples=["dd (pid 25760) in state D, waiting in percpu_rwsem_wait"])]
    since: datetime
    run_id: Annotated[int | None, Field(description="Null if its run is unknown")]
    targets: Annotated[list[str], Field(description="Names of the targets that it loads", examples=[["home-nfs"]])]


class NodeSummaryOutput(Output):
    """Host with an agent, as lists show it."""

    id: int
    name: Annotated[str, Field(examples=["node07"])]
    role: NodeRole
    state: NodeState
    last_seen_at: datetime | None
    agent_version: str | None
    agent_standing: AgentStanding
    clock_is_off: Annotated[bool, Field(description="True if its clock is certainly more than 1 s off")]
    facts: Annotated[Facts, Field(description="`cpu.count`, `memory.total_bytes` and `kernel.release`, where known")]
    problem: Annotated[str | None, Field(description="Why the scheduler skips it")]
    stuck: Annotated[list[StuckLoadOutput], Field(description="Unkillable loads; no run starts until they are gone")]
    drain: Annotated[
        DrainOutput | None, Field(description="Drain of the node itself; its cluster may be drained as well")
    ]
    active_orders: list[ActiveOrderOutput]


class NodeOutput(Output):
    """Host with an agent."""

    id: int
    cluster_id: int
    name: Annotated[str, Field(examples=["node07"])]
    role: NodeRole
    slots: Slots
    state: NodeState
    last_seen_at: datetime | None
    agent_version: str | None
    wire_version: Annotated[int | None, Field(description="Wire version that its agent last announced")]
    agent_standing: Annotated[
        AgentStanding,
        Field(
            description="Compatibility of its agent with this server. `behind`: works, but will not with the server's"
            " next wire version. `too_old`, `too_new`: gets no runs until the agent or the server is upgraded"
        ),
    ]
    clock: Annotated[NodeClockOutput | None, Field(description="Null if its agent does not report it")]
    credentials_at: Annotated[datetime, Field(description="When it got its present token")]
    rotation_wanted_at: Annotated[datetime | None, Field(description="When a new token was requested; null: none is")]
    boot_id: str | None
    facts: Facts
    mounts: list[MountFacts]
    approved_directories: Annotated[
        list[str], Field(description="Directories where its agent lets runs write", examples=[["/scratch"]])
    ]
    workloads: list[NodeWorkloadOutput]
    active_orders: list[ActiveOrderOutput]
    problem: Annotated[str | None, Field(description="Why the scheduler skips it")]
    stuck: Annotated[list[StuckLoadOutput], Field(description="Unkillable loads; no run starts until they are gone")]
    drain: Annotated[
        DrainOutput | None, Field(description="Drain of the node itself; its cluster may be drained as well")
    ]
