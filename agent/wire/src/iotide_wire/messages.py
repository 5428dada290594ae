"""The messages between a node agent and the server's gateway, in the order in which a run needs them."""

from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self

from pydantic import FailFast, Field, model_validator

from iotide_wire.base import Fence, Message, Name, Text, UtcTime
from iotide_wire.catalogue import WorkloadAnnouncement, WorkloadName
from iotide_wire.endpoint import Endpoint
from iotide_wire.facts import Facts, MountFacts
from iotide_wire.foreign import ForeignLoad
from iotide_wire.measured import Flag, NotJudged, SampleMessage, StepRecord, StepRole
from iotide_wire.nodes import BrokerAccess, ClockReading
from iotide_wire.plan import CachePolicy, QuietPolicy
from iotide_wire.versions import Since

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Instance = Annotated[str, Field(min_length=8, max_length=64)]
"""Identity of one agent process; a new one at every start."""
BootId = Annotated[str, Field(min_length=8, max_length=64)]
"""/proc/sys/kernel/random/boot_id: changes at every boot of the node."""
LookNumber = Annotated[int, Field(ge=1, le=10**9)]
"""Of the server's requests to a node to look around, counted up."""


class NodeRole(StrEnum):
    """What a node is for; a gateway submits to a batch system and runs nothing itself."""

    COMPUTE = "compute"
    STORAGE = "storage"
    GATEWAY = "gateway"


class OrderRole(StrEnum):
    """What a node does in an attempt: load the targets, or only sample itself while others do."""

    LOAD = "load"
    OBSERVE = "observe"


class OrderState(StrEnum):
    """Where an order is; it only moves forwards."""

    OFFERED = "offered"
    CLAIMED = "claimed"
    PREFLIGHT = "preflight"
    READY = "ready"
    RUNNING = "running"
    UPLOADING = "uploading"
    ENDED = "ended"


class Outcome(StrEnum):
    """How an order ended, by the agent's word."""

    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DECLINED = "declined"


class EnrollRequest(Message):
    """A node's first word; the join token is its proof.

    Attributes:
        facts: of the host, for whoever decides whether it is let in.
    """

    join_token: Annotated[str, Field(min_length=16, max_length=4000)]
    node_name: Name
    role: NodeRole
    agent_version: Text
    wire_version: int
    facts: Annotated[Facts, Since(2)] = Field(default_factory=dict)


class EnrollReply(Message):
    """The node's identity from now on; `node_token` is shown this once.

    Attributes:
        pending_until: somebody has to let it in, until then; None: it is in.
    """

    node_id: int
    node_name: Name
    cluster: Name
    node_token: Text
    broker: BrokerAccess
    pending_until: Annotated[UtcTime | None, Since(2)] = None


class HeldOrder(Message):
    """An order that the agent has on its disk."""

    order_id: int
    fence: Fence


class HelloRequest(Message):
    """Said at every start of the agent and whenever its facts changed.

    Attributes:
        previous_instance: the instance of this state directory before; lets a restart succeed itself while a copy
            of the agent on another machine is refused.
        look: the server's last request to look around that came before the node was looked at for this hello.
        holds: the orders on its disk; one that the server counts as active and is not named here is lost.
        clock: None before the first answer of the server.
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


class HelloReply(Message):
    """What the server expects of the agent."""

    wire_version: int
    node_id: int
    node_name: Name
    server_time: UtcTime
    beat_seconds: float


class ClaimRequest(Message):
    """Asks for the order behind a wake-up; repeating it with the same instance and boot gives the same answer."""

    fence: Fence
    agent_instance: Instance
    boot_id: BootId


class OrderTarget(Message):
    """A target as this node must find it.

    Attributes:
        path: approved directory on this node below which the run makes its own directory.
        fstype, source: what the mount must be before, during and after the run.
        mount_point: where it must be mounted; root: which directory of the file system, / for all of it.
        identity: what mkfs named the file system, where the source is a device, whose name does not tell.
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


class Order(Message):
    """All that a node needs to do its part of an attempt.

    Attributes:
        targets: what it loads; none of one that only observes, which touches no target and holds no node.
        time_limit_seconds: of a load from its start; one that observes ends by itself after so long.
        quiet: what becomes of it where others use the node.
        quiet_wait_seconds: with `wait`, how long it may hold the node back for that; never beyond the last moment at
            which it may start.
        step_role: which part of the run this node does; a CLIENT does all of it. A sender has no targets.
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

    @model_validator(mode="after")
    def _has_targets(self) -> Self:
        if self.role is OrderRole.LOAD and self.step_role is not StepRole.SENDER and not self.targets:
            message = "a load needs at least one target"
            raise ValueError(message)
        return self


class CurvePiece(Message):
    """Per-second values of one counter; `values[i]` covers the step that starts at started_at + i x step_seconds.

    Attributes:
        counter: for instance `write_bytes_per_second` or `cpu_user_ratio`.
    """

    counter: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")]
    started_at: UtcTime
    step_seconds: Annotated[float, Field(gt=0)]
    values: Annotated[tuple[float, ...], Field(min_length=1, max_length=600), FailFast()]


class OrderBeat(Message):
    """Where an order is now.

    Attributes:
        progress: fraction done, 0 to 1, or None where it cannot be known.
        curves: pieces not yet acknowledged; a repeated piece is stored once.
        endpoint: of a node that is ready to receive from another one of its run.
        go_heard: the moment that the server last proposed for the start of a gang, word for word.
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
    """Processes of an order that has ended, which no signal ends and which still hold the node.

    Attributes:
        order_id: None where their order is unknown.
        process, pid: of the first of them.
        state: as in /proc, for instance D.
        waits_in: the kernel function in which it waits.
        processes: how many there are.
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
"""Stuck loads that a heartbeat names; from that many on there may be more."""


class BeatRequest(Message):
    """The agent's pulse, with the state of everything it holds.

    Attributes:
        spool_bytes: what orders and unsent results take on the node's disk.
        stuck: what holds the node although no order of the agent loads it; empty: nothing does. None: not looked at,
            since an order loads the node.
        problem: why the agent can take no order now, in words, as for a full disk of its own; None where it can.
    """

    agent_instance: Instance
    boot_id: BootId
    sent_at: UtcTime
    orders: Annotated[tuple[OrderBeat, ...], Field(max_length=1000), FailFast()]
    spool_bytes: Annotated[int | None, Field(ge=0, le=2**63 - 1), Since(2)] = None
    clock: Annotated[ClockReading | None, Since(2)] = None
    stuck: Annotated[tuple[StuckLoad, ...] | None, Field(max_length=MOST_STUCK), Since(3)] = None
    problem: Annotated[Text | None, Since(3)] = None


class Word(StrEnum):
    """What the server says of an order in its answer to a beat."""

    CONTINUE = "continue"
    GO = "go"
    CANCEL = "cancel"
    UNKNOWN = "unknown"


class OrderWord(Message):
    """The server's word on one order.

    Attributes:
        word: `unknown` means the fence is not (or no longer) the order's: stop the load, remove its files, forget it;
            `cancel` tells an observer that the loads have ended, which is its normal end.
        go_at: of a gang. With `continue`, the moment that is proposed for its start, until each node has said that it
            heard of it; with `go`, the one on which all agreed. A load without others starts at the word.
        endpoint: with `go`, where the node that receives what this one sends is ready.
    """

    order_id: int
    fence: Fence
    word: Word
    go_at: UtcTime | None
    endpoint: Endpoint | None = None


class BeatReply(Message):
    """The server's answer.

    Attributes:
        oldest_offer_seconds: age of the oldest offer to this node that nobody claimed; above 15 s the agent
            restarts its Celery worker, whatever made it deaf.
        hello_wanted: the server lacks or lost the node's facts.
        look: an idle agent is to look around and say hello with this number; None where nobody waits for that.
        rotation_wanted: the node is to ask for new credentials.
    """

    server_time: UtcTime
    beat_seconds: float
    orders: tuple[OrderWord, ...]
    oldest_offer_seconds: float | None
    hello_wanted: bool
    look: LookNumber | None = None
    rotation_wanted: Annotated[bool, Since(2)] = False


class ArtefactFact(Message):
    """A file of raw output that was uploaded before."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
    sha256: Digest
    size_bytes: Annotated[int, Field(ge=0)]


class FinishRequest(Message):
    """The result of an order; sent until acknowledged, stored once by its digest.

    Attributes:
        foreign: what others used of the node; None where it only observed, and from agents that did not say.
        not_before: of a declined order, when the node could take it; None where it does not know.
        not_judged: checks that found neither good nor bad; None from agents that did not say.
    """

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
        """Return the result without flags whose code is newer than that wire version."""
        known = tuple(flag for flag in self.flags if flag.code.since_version <= version)
        return self if known == self.flags else self.model_copy(update={"flags": known})


class FinishReply(Message):
    """Acknowledges a result.

    Attributes:
        accepted: False where the fence was stale: kept as evidence, nothing changed; the agent forgets the order.
    """

    accepted: bool
    duplicate: bool
