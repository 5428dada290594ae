"""Messages between agents and the server's gateway, in the order of a run."""

from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self

from pydantic import FailFast, Field, model_validator

from iotide_wire.base import Fence, Message, Name, Text, UtcTime
from iotide_wire.catalogue import WorkloadAnnouncement, WorkloadName
from iotide_wire.endpoint import DataAddress, Endpoint, NamedEndpoint
from iotide_wire.facts import Facts, MountFacts
from iotide_wire.foreign import ForeignLoad
from iotide_wire.measured import WITHOUT_TARGETS, Flag, NotJudged, SampleMessage, StepRecord, StepRole
from iotide_wire.nodes import BrokerAccess, ClockReading
from iotide_wire.plan import CachePolicy, QuietPolicy
from iotide_wire.scratch_sets import ScratchSets
from iotide_wire.versions import Since

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Instance = Annotated[str, Field(min_length=8, max_length=64)]
"""Identity of one agent process, new at every start."""
BootId = Annotated[str, Field(min_length=8, max_length=64)]
"""/proc/sys/kernel/random/boot_id, which changes at every boot."""
LookNumber = Annotated[int, Field(ge=1, le=10**9)]
"""Number of the server's request to report facts, counted up."""


_MAKERS_SINCE: Final = 3
"""First wire version with workloads that only prepare a stage."""


class NodeRole(StrEnum):
    """Role of a node. A gateway submits to a batch system and runs nothing itself."""

    COMPUTE = "compute"
    STORAGE = "storage"
    GATEWAY = "gateway"


class OrderRole(StrEnum):
    """Task of a node in an attempt: load the targets, or only sample itself."""

    LOAD = "load"
    OBSERVE = "observe"


class OrderState(StrEnum):
    """State of an order; it only moves forward."""

    OFFERED = "offered"
    CLAIMED = "claimed"
    PREFLIGHT = "preflight"
    READY = "ready"
    RUNNING = "running"
    UPLOADING = "uploading"
    ENDED = "ended"


class Outcome(StrEnum):
    """Outcome of an order as the agent reports it."""

    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DECLINED = "declined"


class EnrollRequest(Message):
    """First message of a node; the join token is its proof.

    Attributes:
        facts: for the admin who approves the host.
    """

    join_token: Annotated[str, Field(min_length=16, max_length=4000)]
    node_name: Name
    role: NodeRole
    agent_version: Text
    wire_version: int
    facts: Annotated[Facts, Since(2)] = Field(default_factory=dict)


class EnrollReply(Message):
    """Identity of the node; `node_token` is sent only here.

    Attributes:
        pending_until: deadline for an admin's approval; None if the node is approved.
    """

    node_id: int
    node_name: Name
    cluster: Name
    node_token: Text
    broker: BrokerAccess
    pending_until: Annotated[UtcTime | None, Since(2)] = None


class HeldOrder(Message):
    order_id: int
    fence: Fence


class HelloRequest(Message):
    """Sent at every start of the agent and when its facts change.

    Attributes:
        previous_instance: instance that used this state directory before. It allows a restart, but not a copy of the
            agent.
        look: number of the server's last request for facts before these were read.
        holds: orders on the agent's disk. Active orders that are missing here are lost.
        clock: None before the server's first answer.
        scratch_sets: None if the node's helper did not answer; then the server keeps those that it knows.
    """

    agent_instance: Instance
    previous_instance: Instance | None
    boot_id: BootId
    agent_version: Text
    wire_version: int
    sent_at: UtcTime
    facts: Facts
    mounts: Annotated[tuple[MountFacts, ...], Field(max_length=1000), FailFast()]
    approved_directories: Annotated[tuple[Text, ...], Field(max_length=100), FailFast()]
    workloads: Annotated[tuple[WorkloadAnnouncement, ...], Field(max_length=200), FailFast()]
    look: LookNumber | None = None
    holds: Annotated[tuple[HeldOrder, ...], Field(max_length=1000), FailFast()]
    clock: Annotated[ClockReading | None, Since(2)] = None
    scratch_sets: Annotated[ScratchSets | None, Since(3)] = None

    def for_version(self, version: int) -> Self:
        if version >= _MAKERS_SINCE:
            return self
        known = tuple(one for one in self.workloads if StepRole.MAKER not in one.step_roles)
        return self if known == self.workloads else self.model_copy(update={"workloads": known})


class HelloReply(Message):
    wire_version: int
    node_id: int
    node_name: Name
    server_time: UtcTime
    beat_seconds: float


class ClaimRequest(Message):
    """Request for a wake-up's order. Repeating it gets the same answer."""

    fence: Fence
    agent_instance: Instance
    boot_id: BootId


class OrderTarget(Message):
    """A target as this node must find it.

    Attributes:
        path: approved directory, in which the run makes its own directory.
        fstype, source: required mount before, during and after the run.
        root: required directory of the file system; / for all of it.
        identity: UUID of a file system on a device, whose name may change.
        reserve_bytes: space that must stay free.
    """

    target_id: int
    name: Name
    path: Text
    fstype: Text
    source: Text
    reserve_bytes: int
    mount_point: Text | None = None
    root: Text | None = None
    identity: Text | None = None


class GangNode(Message):
    """Node of one program over several nodes, with its `data_address`."""

    name: Name
    address: DataAddress


MOST_GANG_NODES: Final = 1024
"""Nodes of one program; the head has a connection to each."""


class Order(Message):
    """A node's part of an attempt.

    Attributes:
        targets: empty for an observer, which does not occupy its node.
        time_limit_seconds: from the start of the load. An observer ends after this time.
        quiet: policy if others use the node.
        quiet_wait_seconds: with `wait`, how long it may hold the node.
        step_role: this node's part; a CLIENT does all. Senders and makers have no targets.
        gang: nodes of one program in the order of their ranks, the HEAD first; empty for any other run.
        directory_order_id: order of the HEAD, whose directories on the targets all nodes of the gang share.
    """

    order_id: int
    run_id: int
    attempt: int
    fence: Fence
    role: OrderRole
    campaign: Name
    repeat: int
    workload: WorkloadName
    workload_revision: int
    schema_sha256: Digest
    options: dict[str, Any]
    targets: tuple[OrderTarget, ...]
    node_mode: Literal["shared", "exclusive"]
    time_limit_seconds: float
    cache: CachePolicy = CachePolicy.DROP
    quiet: QuietPolicy = QuietPolicy.FLAG
    quiet_wait_seconds: Annotated[float, Field(ge=0)] = 0.0
    step_role: StepRole = StepRole.CLIENT
    gang: Annotated[tuple[GangNode, ...], Field(max_length=MOST_GANG_NODES), FailFast(), Since(3)] = ()
    directory_order_id: Annotated[int | None, Since(3)] = None

    @model_validator(mode="after")
    def _has_targets(self) -> Self:
        if self.role is OrderRole.LOAD and self.step_role not in WITHOUT_TARGETS and not self.targets:
            message = "a load needs at least one target"
            raise ValueError(message)
        return self


class CurvePiece(Message):
    """Values of a counter; `values[i]` covers the step that starts at started_at + i x step_seconds."""

    counter: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")]
    started_at: UtcTime
    step_seconds: Annotated[float, Field(gt=0)]
    values: Annotated[tuple[float, ...], Field(min_length=1, max_length=600), FailFast()]


class OrderHeartbeat(Message):
    """State of an order.

    Attributes:
        progress: fraction from 0 to 1, or None if unknown.
        curves: unacknowledged pieces; a repeated piece is stored once.
        endpoint: set once the node is ready to receive.
        go_heard: the last start time that the server proposed to a gang.
    """

    order_id: int
    fence: Fence
    state: OrderState
    progress: Annotated[float, Field(ge=0, le=1)] | None
    phase: Text
    started_at: UtcTime | None
    curves: Annotated[tuple[CurvePiece, ...], Field(max_length=200), FailFast()] = ()
    endpoint: Endpoint | None = None
    go_heard: UtcTime | None = None


class StuckLoad(Message):
    """Processes of an ended order that no signal ends and that still occupy the node.

    Attributes:
        process, pid: of the first process.
        state: as in /proc, for instance D.
        waits_in: kernel function.
        processes: number of processes.
        since: when the agent first found them, by the node's clock.
    """

    order_id: Annotated[int, Field(ge=1, le=2**63 - 1)] | None
    process: Annotated[str, Field(min_length=1, max_length=64)]
    pid: Annotated[int, Field(ge=1, le=2**31 - 1)]
    state: Annotated[str, Field(pattern=r"^[A-Za-z]$")]
    waits_in: Annotated[str, Field(max_length=100)]
    processes: Annotated[int, Field(ge=1, le=10**6)]
    since: UtcTime


MOST_STUCK: Final = 100
"""Maximum number of stuck loads in a heartbeat."""


class HeartbeatRequest(Message):
    """Heartbeat of an agent with the state of everything it holds.

    Attributes:
        spool_bytes: size of orders and unsent results on disk.
        stuck: loads that still occupy the node; None if not checked, because an order loads it.
        problem: why the agent cannot take orders now, for instance a full disk.
    """

    agent_instance: Instance
    boot_id: BootId
    sent_at: UtcTime
    orders: Annotated[tuple[OrderHeartbeat, ...], Field(max_length=1000), FailFast()]
    spool_bytes: Annotated[int | None, Field(ge=0, le=2**63 - 1), Since(2)] = None
    clock: Annotated[ClockReading | None, Since(2)] = None
    stuck: Annotated[tuple[StuckLoad, ...] | None, Field(max_length=MOST_STUCK), Since(3)] = None
    problem: Annotated[Text | None, Since(3)] = None


class Word(StrEnum):
    """The server's instruction for an order."""

    CONTINUE = "continue"
    GO = "go"
    CANCEL = "cancel"
    UNKNOWN = "unknown"


class OrderWord(Message):
    """The server's instruction for one order.

    Attributes:
        word: `unknown`: the fence is not the order's. Stop the load, remove its files, forget it. `cancel`: for an
            observer the normal end.
        go_at: start time of a gang. With `continue` it is proposed until each node has confirmed it; with `go` it
            holds. A load without others starts at `go`.
        endpoint: with `go`, where the receiving node is ready.
        members: with `go` to the head of a gang, where each of its members is ready.
    """

    order_id: int
    fence: Fence
    word: Word
    go_at: UtcTime | None
    endpoint: Endpoint | None = None
    members: Annotated[tuple[NamedEndpoint, ...], Field(max_length=MOST_GANG_NODES), FailFast(), Since(3)] = ()


class HeartbeatReply(Message):
    """Answer to a heartbeat.

    Attributes:
        oldest_offer_seconds: age of the oldest unclaimed offer. Above 15 s the agent restarts its Celery worker.
        hello_wanted: the server lacks the node's facts.
        look: an idle agent must read its facts and say hello with this number.
        rotation_wanted: the node must ask for new credentials.
    """

    server_time: UtcTime
    beat_seconds: float
    orders: tuple[OrderWord, ...]
    oldest_offer_seconds: float | None
    hello_wanted: bool
    look: LookNumber | None = None
    rotation_wanted: Annotated[bool, Since(2)] = False


class ArtefactFact(Message):
    """An uploaded file of raw output."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
    sha256: Digest
    size_bytes: Annotated[int, Field(ge=0)]


class FinishRequest(Message):
    """Result of an order, sent until acknowledged. The server recognises a repeat by its digest."""

    fence: Fence
    agent_instance: Instance
    digest: Digest
    outcome: Outcome
    reason_code: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")] | None
    reason: Text | None
    started_at: UtcTime | None
    ended_at: UtcTime
    steps: Annotated[tuple[StepRecord, ...], Field(max_length=1000), FailFast()]
    samples: Annotated[tuple[SampleMessage, ...], Field(max_length=100_000), FailFast()]
    flags: Annotated[tuple[Flag, ...], Field(max_length=1000), FailFast()]
    environment: Facts
    artefacts: Annotated[tuple[ArtefactFact, ...], Field(max_length=1000), FailFast()]
    curves: Annotated[tuple[CurvePiece, ...], Field(max_length=20_000), FailFast()]
    foreign: ForeignLoad | None = None
    not_before: Annotated[UtcTime | None, Since(2)] = None
    not_judged: Annotated[tuple[NotJudged, ...] | None, Field(max_length=1000), Since(3)] = None

    def for_version(self, version: int) -> Self:
        codes = [flag.code.for_version(version) for flag in self.flags]
        known = tuple(
            flag if code is flag.code else flag.model_copy(update={"code": code})
            for flag, code in zip(self.flags, codes, strict=True)
            if code is not None
        )
        return self if known == self.flags else self.model_copy(update={"flags": known})


class FinishReply(Message):
    """Acknowledgement of a result.

    Attributes:
        accepted: false for a stale fence. The result has no effect, and the agent forgets the order.
    """

    accepted: bool
    duplicate: bool
