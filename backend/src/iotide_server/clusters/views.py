"""A node as people see it: its row, when it was last heard of, what it can run and what it is doing."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from iotide_server.clusters.models import Node
from iotide_server.kit.web import Output
from iotide_wire.versions import SPOKEN_VERSIONS, WIRE_VERSION

SILENT_AFTER: Final = timedelta(seconds=30)
"""Three beats of a node with a long run; silence is a remark and frees nothing."""


CLOCK_LIMIT_SECONDS: Final = 1.0
"""A clock further off shifts what is compared between nodes, and the times of events, by more than a beat."""


class NodeState(StrEnum):
    """How far a node can be counted on.

    STUCK: its heartbeats come, and no signal ends a load there. REVOKED: nothing is believed until its host is enrolled
    again. SAMPLE_DATA: there is no such host, so that nobody
    misses it.
    """

    ONLINE = "online"
    STUCK = "stuck"
    SILENT = "silent"
    NEVER_SEEN = "never_seen"
    REVOKED = "revoked"
    RETIRED = "retired"
    SAMPLE_DATA = "sample_data"


class AgentStanding(StrEnum):
    """Whether a node's agent and this server understand each other.

    BEHIND: still, but the next version of the server's language will shut it out. TOO_OLD, TOO_NEW: not any more, and
    not yet.
    """

    CURRENT = "current"
    BEHIND = "behind"
    TOO_OLD = "too_old"
    TOO_NEW = "too_new"
    UNKNOWN = "unknown"


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


class NodeClockOutput(Output):
    """A node's time of day against the server's."""

    offset_seconds: Annotated[float, Field(description="How far it is ahead; negative where it is behind")]
    uncertainty_seconds: Annotated[float, Field(description="The truth is no further off than this")]
    is_off: Annotated[bool, Field(description="It is certainly further off than 1 s")]


class NodeWorkloadOutput(Output):
    """A workload as a node has it."""

    name: Annotated[str, Field(examples=["fio"])]
    revision: int
    tool_version: Annotated[str | None, Field(examples=["fio-3.33"])]
    available: bool
    unavailable_because: str | None


class ActiveOrderOutput(Output):
    """An order that a node holds for a run."""

    order_id: int
    run_id: int
    state: Annotated[str, Field(examples=["running"])]
    progress: Annotated[float | None, Field(description="Fraction done, 0 to 1; null where unknown")]
    phase: Annotated[str, Field(examples=["writing 1.00 GiB"])]


def node_state(node: Node, origin: str, last_seen_at: datetime | None, now: datetime) -> NodeState:
    """Return the state of a node of a cluster of that origin, by its heartbeats and the clock."""
    if node.retired_at is not None:
        return NodeState.RETIRED
    return living_state(origin, node.revoked_at, last_seen_at, now, is_stuck=node.stuck is not None)


def living_state(
    origin: str, revoked_at: datetime | None, last_seen_at: datetime | None, now: datetime, *, is_stuck: bool
) -> NodeState:
    """Return the state of a node that is not retired."""
    if origin == Origin.MADE_UP:
        return NodeState.SAMPLE_DATA
    if revoked_at is not None:
        return NodeState.REVOKED
    return agent_state(last_seen_at, now, is_stuck=is_stuck)


def agent_state(last_seen_at: datetime | None, now: datetime, *, is_stuck: bool) -> NodeState:
    """Return the state of a node that is neither retired nor revoked."""
    if last_seen_at is None:
        return NodeState.NEVER_SEEN
    if now - last_seen_at > SILENT_AFTER:
        return NodeState.SILENT
    return NodeState.STUCK if is_stuck else NodeState.ONLINE


def node_clock(offset_seconds: float | None, uncertainty_seconds: float | None) -> NodeClockOutput | None:
    """Judge what a node's last heartbeat said of its clock; None where it said nothing."""
    if offset_seconds is None or uncertainty_seconds is None:
        return None
    is_off = abs(offset_seconds) - uncertainty_seconds > CLOCK_LIMIT_SECONDS
    return NodeClockOutput(offset_seconds=offset_seconds, uncertainty_seconds=uncertainty_seconds, is_off=is_off)


def agent_standing(wire_version: int | None) -> AgentStanding:
    """What follows from the wire version that a node's agent said last."""
    if wire_version is None:
        return AgentStanding.UNKNOWN
    if wire_version < SPOKEN_VERSIONS.start:
        return AgentStanding.TOO_OLD
    if wire_version > WIRE_VERSION:
        return AgentStanding.TOO_NEW
    return AgentStanding.CURRENT if wire_version == WIRE_VERSION else AgentStanding.BEHIND
