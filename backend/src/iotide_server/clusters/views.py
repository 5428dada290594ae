"""A node as people see it: its row, when it was last heard of, what it can run and what it is doing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from iotide_server.clusters.models import Cluster, Drain, Node

SILENT_AFTER: Final = timedelta(seconds=30)
"""Three beats of a node with a long run; silence is a remark and frees nothing."""


class NodeState(StrEnum):
    """Whether a node can be counted on."""

    ONLINE = "online"
    SILENT = "silent"
    NEVER_SEEN = "never_seen"
    RETIRED = "retired"


class Launcher(StrEnum):
    """Who starts the runs of a cluster: the agents of its nodes, or jobs of a batch system."""

    DIRECT = "direct"
    SLURM = "slurm"
    LSF = "lsf"


class Origin(StrEnum):
    """Where the results of a cluster come from.

    OWN: its nodes measured them. MADE_UP: nobody measured them, they show how a history looks. PUBLISHED: others
    measured them, and they are as an article printed them.
    """

    OWN = "own"
    MADE_UP = "made_up"
    PUBLISHED = "published"


class DrainKind(StrEnum):
    """What can be drained."""

    ALL = "all"
    CLUSTER = "cluster"
    NODE = "node"
    TARGET = "target"


@dataclass(frozen=True, slots=True)
class DrainWanted:
    """Why something is drained, and until when; None: until a person resumes it."""

    reason: str
    until: datetime | None


@dataclass(frozen=True, slots=True)
class NodeWorkload:
    """A workload as the node has it."""

    name: str
    revision: int
    tool_version: str | None
    available: bool
    unavailable_because: str | None


@dataclass(frozen=True, slots=True)
class ActiveOrder:
    """An order that has not ended on the node; `progress` is a fraction or unknown."""

    order_id: int
    run_id: int
    state: str
    progress: float | None
    phase: str


@dataclass(frozen=True, slots=True)
class ClusterView:
    """A cluster, and its drain if it is drained."""

    cluster: Cluster
    drain: Drain | None


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node with what other slices know of it.

    Attributes:
        drain: its own; its cluster may have one too.
    """

    node: Node
    state: NodeState
    drain: Drain | None
    last_seen_at: datetime | None
    workloads: Sequence[NodeWorkload]
    active_orders: Sequence[ActiveOrder]


def node_state(retired_at: datetime | None, last_seen_at: datetime | None, now: datetime) -> NodeState:
    """The state of a node by its beats and the clock."""
    if retired_at is not None:
        return NodeState.RETIRED
    if last_seen_at is None:
        return NodeState.NEVER_SEEN
    return NodeState.ONLINE if now - last_seen_at <= SILENT_AFTER else NodeState.SILENT
