"""What the API takes and gives for clusters, nodes and join tokens."""

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


class ClusterOutput(Output):
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
    drain: Annotated[DrainOutput | None, Field(description="Nothing new starts in the whole cluster")]


class BlackoutInput(Input):
    """A new blackout."""

    starts_at: Annotated[WrittenTime, Field(examples=["2026-12-01T07:00:00Z"])]
    ends_at: Annotated[WrittenTime, Field(examples=["2026-12-01T17:00:00Z"])]
    reason: Annotated[str, Field(min_length=1, max_length=200, examples=["new firmware on the switches"])]

    def row(self) -> models.Blackout:
        """What it asks for, of no cluster yet."""
        return models.Blackout(starts_at=self.starts_at, ends_at=self.ends_at, reason=self.reason)


class BlackoutOutput(Output):
    """A maintenance of a cluster: no run starts in it, nor one that by its time limit could not end before it."""

    id: int
    cluster_id: int
    starts_at: datetime
    ends_at: datetime
    reason: str
    created_at: datetime


JoinTokenSeconds = Annotated[float, Field(ge=60, le=30 * 86_400, examples=[3600.0])]


class JoinTokenInput(Input):
    """A new join token."""

    uses: Annotated[int, Field(ge=1, le=10_000, description="How many nodes it lets in", examples=[8])] = 1
    expires_in_seconds: JoinTokenSeconds = 3600.0
    needs_approval: Annotated[
        bool | None,
        Field(
            strict=True,
            description="Whoever enrolls with it waits until somebody lets them in; by default if it is for several",
        ),
    ] = None


class ReenrolmentInput(Input):
    """A new join token for a node that is there."""

    expires_in_seconds: JoinTokenSeconds = 3600.0


class JoinTokenOutput(Output):
    """A join token, without its secret."""

    id: int
    cluster_id: int
    node_id: Annotated[int | None, Field(description="It makes no new node but gives this one another identity")]
    uses_left: int
    needs_approval: bool
    created_at: datetime
    expires_at: datetime
    made_by: Annotated[PersonShown, Field(description="Who made it; null when that person is gone")]


@dataclass(frozen=True, slots=True)
class NewJoinToken:
    """A join token with its secret, which is only known here."""

    shown: JoinTokenOutput
    secret: str


class JoinTokenCreated(JoinTokenOutput):
    """A new join token; its secret is shown this once."""

    token: Annotated[str, Field(description="`<secret>.<SHA-256 of the server's CA, or ->`")]
    command: Annotated[str, Field(description="What to run on each new node")]

    @classmethod
    def made(cls, new: NewJoinToken, access: AgentAccess) -> "JoinTokenCreated":
        token = access.join_token(new.secret)
        command = access.enroll_command(token, replaces=new.shown.node_id is not None)
        return cls(**dict(new.shown), token=token, command=command)


class PendingNodeOutput(Output):
    """A host that enrolled and waits until somebody lets it in; it has an identity, which opens nothing yet."""

    id: Annotated[int, Field(description="Of the node that it becomes")]
    cluster_id: int
    name: Annotated[str, Field(examples=["node07"])]
    role: NodeRole
    address: Annotated[str | None, Field(description="Where its enrolment came from", examples=["10.1.2.3"])]
    fingerprint: Annotated[
        str, Field(description="Of its token; `iotide-agent check` prints it too", examples=["3f2a 91bc 07de 4410"])
    ]
    agent_version: str
    agent_standing: AgentStanding
    facts: Facts
    asked_at: datetime
    last_seen_at: Annotated[datetime | None, Field(description="When its agent asked last whether it was let in")]
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
    """Some of the hosts that wait."""

    pending_ids: Annotated[list[Annotated[int, Field(ge=1, le=LARGEST_ID)]], Field(min_length=1, max_length=1000)]


class NodePatch(Input):
    """The fields of a node to change; what is left out or null stays."""

    slots: Slots | None = None
    role: NodeRole | None = None


class StuckLoadOutput(Output):
    """A load that no signal ends, and that holds its node until it is gone."""

    process: Annotated[str, Field(examples=["dd (pid 25760) in state D, waiting in percpu_rwsem_wait"])]
    since: datetime
    run_id: Annotated[int | None, Field(description="Null where its run is unknown")]
    targets: Annotated[list[str], Field(description="Names of what it loads", examples=[["home-nfs"]])]


class NodeSummaryOutput(Output):
    """A host with an agent, as a list of many shows it."""

    id: int
    name: Annotated[str, Field(examples=["node07"])]
    role: NodeRole
    state: NodeState
    last_seen_at: datetime | None
    agent_version: str | None
    agent_standing: AgentStanding
    clock_is_off: Annotated[bool, Field(description="Its clock is certainly further off than 1 s")]
    facts: Annotated[Facts, Field(description="`cpu.count`, `memory.total_bytes` and `kernel.release`, where known")]
    problem: Annotated[str | None, Field(description="Why the scheduler passes it over")]
    stuck: Annotated[list[StuckLoadOutput], Field(description="Nothing starts on it until none is left")]
    drain: Annotated[DrainOutput | None, Field(description="Nothing new starts on it; its cluster may be drained, too")]
    active_orders: list[ActiveOrderOutput]


class NodeOutput(Output):
    """A host with an agent."""

    id: int
    cluster_id: int
    name: Annotated[str, Field(examples=["node07"])]
    role: NodeRole
    slots: Slots
    state: NodeState
    last_seen_at: datetime | None
    agent_version: str | None
    wire_version: Annotated[int | None, Field(description="What its agent said last that it speaks")]
    agent_standing: Annotated[
        AgentStanding,
        Field(
            description="Whether it understands this server: `behind` still does, and will not after the next change of"
            " the language; `too_old` and `too_new` get nothing to do until agent or server is upgraded"
        ),
    ]
    clock: Annotated[NodeClockOutput | None, Field(description="Null where its agent does not say")]
    credentials_at: Annotated[datetime, Field(description="Since when it has its present token")]
    rotation_wanted_at: Annotated[datetime | None, Field(description="It is to ask for a new one since")]
    boot_id: str | None
    facts: Facts
    mounts: list[MountFacts]
    approved_directories: Annotated[
        list[str], Field(description="Where its agent lets runs write", examples=[["/scratch"]])
    ]
    workloads: list[NodeWorkloadOutput]
    active_orders: list[ActiveOrderOutput]
    problem: Annotated[str | None, Field(description="Why the scheduler passes it over")]
    stuck: Annotated[list[StuckLoadOutput], Field(description="Nothing starts on it until none is left")]
    drain: Annotated[DrainOutput | None, Field(description="Nothing new starts on it; its cluster may be drained, too")]
