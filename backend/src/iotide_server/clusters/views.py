"""Views of a node: state, clock, workloads and orders."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from iotide_server.clusters.models import Node
from iotide_server.kit.web import Output
from iotide_wire.versions import SPOKEN_VERSIONS, WIRE_VERSION

SILENT_AFTER: Final = timedelta(seconds=30)
"""Three heartbeats of a node with a long run. Silence is only shown; it frees nothing."""


CLOCK_LIMIT_SECONDS: Final = 1.0
"""A larger error distorts comparisons between nodes and the times of events."""


class NodeState(StrEnum):
    """State of a node.

    STUCK: online, with a load that cannot be killed. REVOKED: its agent is rejected until its host enrolls again.
    SAMPLE_DATA: it has no host.
    """

    ONLINE = "online"
    STUCK = "stuck"
    SILENT = "silent"
    NEVER_SEEN = "never_seen"
    REVOKED = "revoked"
    RETIRED = "retired"
    SAMPLE_DATA = "sample_data"


class AgentStanding(StrEnum):
    """Compatibility of a node's agent with this server.

    BEHIND: it works, but will not with the server's next wire version. TOO_OLD, TOO_NEW: it does not work.
    """

    CURRENT = "current"
    BEHIND = "behind"
    TOO_OLD = "too_old"
    TOO_NEW = "too_new"
    UNKNOWN = "unknown"


class Launcher(StrEnum):
    """Starter of a cluster's runs: the agents of its nodes, or jobs of a batch system."""

    DIRECT = "direct"
    SLURM = "slurm"
    LSF = "lsf"
    PBS = "pbs"
    FLUX = "flux"


class Origin(StrEnum):
    """Source of a cluster's results.

    OWN: its nodes measured them. SAMPLE_DATA: sample data that shows how a history looks. PUBLISHED: copied from a
    publication.
    """

    OWN = "own"
    SAMPLE_DATA = "made_up"
    PUBLISHED = "published"


class DrainKind(StrEnum):
    ALL = "all"
    CLUSTER = "cluster"
    NODE = "node"
    TARGET = "target"


class NodeClockOutput(Output):
    offset_seconds: Annotated[float, Field(description="How far it is ahead; negative if it is behind")]
    uncertainty_seconds: Annotated[float, Field(description="Maximum error of the offset")]
    is_off: Annotated[bool, Field(description="True if it is certainly more than 1 s off")]


class NodeWorkloadOutput(Output):
    name: Annotated[str, Field(examples=["fio"])]
    revision: int
    tool_version: Annotated[str | None, Field(examples=["fio-3.33"])]
    available: bool
    unavailable_because: str | None


class ActiveOrderOutput(Output):
    """Order that a node holds for a run."""

    order_id: int
    run_id: int
    state: Annotated[str, Field(examples=["running"])]
    progress: Annotated[float | None, Field(description="Fraction done, 0 to 1; null if unknown")]
    phase: Annotated[str, Field(examples=["writing 1.00 GiB"])]


def node_state(node: Node, origin: str, last_seen_at: datetime | None, now: datetime) -> NodeState:
    if node.retired_at is not None:
        return NodeState.RETIRED
    return living_state(origin, node.revoked_at, last_seen_at, now, is_stuck=node.stuck is not None)


def living_state(
    origin: str, revoked_at: datetime | None, last_seen_at: datetime | None, now: datetime, *, is_stuck: bool
) -> NodeState:
    if origin == Origin.SAMPLE_DATA:
        return NodeState.SAMPLE_DATA
    if revoked_at is not None:
        return NodeState.REVOKED
    return agent_state(last_seen_at, now, is_stuck=is_stuck)


def agent_state(last_seen_at: datetime | None, now: datetime, *, is_stuck: bool) -> NodeState:
    if last_seen_at is None:
        return NodeState.NEVER_SEEN
    if now - last_seen_at > SILENT_AFTER:
        return NodeState.SILENT
    return NodeState.STUCK if is_stuck else NodeState.ONLINE


def node_clock(offset_seconds: float | None, uncertainty_seconds: float | None) -> NodeClockOutput | None:
    if offset_seconds is None or uncertainty_seconds is None:
        return None
    is_off = abs(offset_seconds) - uncertainty_seconds > CLOCK_LIMIT_SECONDS
    return NodeClockOutput(offset_seconds=offset_seconds, uncertainty_seconds=uncertainty_seconds, is_off=is_off)


def agent_standing(wire_version: int | None) -> AgentStanding:
    if wire_version is None:
        return AgentStanding.UNKNOWN
    if wire_version < SPOKEN_VERSIONS.start:
        return AgentStanding.TOO_OLD
    if wire_version > WIRE_VERSION:
        return AgentStanding.TOO_NEW
    return AgentStanding.CURRENT if wire_version == WIRE_VERSION else AgentStanding.BEHIND
