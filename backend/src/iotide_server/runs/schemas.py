"""What the API gives for runs."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import Field

from iotide_server.kit.pagination import LARGEST_ID
from iotide_server.kit.people import PersonShown
from iotide_server.kit.web import Input, Output
from iotide_server.runs.lifecycle import AttemptState, OrderEnd, RunState
from iotide_wire.batch import BatchSystem
from iotide_wire.foreign import ForeignLoad
from iotide_wire.measured import Flag, StepRecord
from iotide_wire.messages import OrderRole, OrderState

OptionalId = Annotated[int | None, Query(ge=1, le=LARGEST_ID)]
Progress = Annotated[float | None, Field(description="Fraction done, 0 to 1; null where it cannot be known")]


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs are wanted, as query parameters; what is left out stays open."""

    campaign_id: OptionalId = None
    cluster_id: OptionalId = None
    state: RunState | None = None
    node_id: OptionalId = None
    target_id: OptionalId = None
    workload: Annotated[str | None, Query(max_length=100, examples=["dd"])] = None
    series_id: OptionalId = None


class RunOutput(Output):
    """One repeat of a cell.

    `validity` says whether its numbers count, `overdue` that its time limit passed in silence, and `reason` why it
    failed, was cancelled or has to wait for another attempt.
    """

    id: int
    campaign_id: int
    campaign_name: str
    cell_id: int
    repeat: int
    cluster_id: int
    node_names: list[str]
    target_names: list[str]
    variant: Annotated[str, Field(description="Of its stage; empty outside stages", examples=["ext3 data=journal"])]
    workload: Annotated[str, Field(examples=["dd"])]
    options: dict[str, Any]
    state: RunState
    validity: Literal["valid", "rejected"]
    flags: Annotated[
        list[Flag], Field(description="In a list of runs the first of each code and effect, where there are very many")
    ]
    overdue: bool
    created_at: datetime
    started_at: Annotated[datetime | None, Field(description="When its load started")]
    ended_at: datetime | None
    reason_code: str | None
    reason: str | None
    progress: Progress
    phase: Annotated[str | None, Field(examples=["writing 1.00 GiB"])]
    attempts_made: int


class RunOrder(Output):
    """What one node does in an attempt.

    `steps` are the commands as they really ran, `foreign_load` what others used of the node before and during the load;
    null where it only observed, or its agent did not say.
    """

    id: int
    node_id: int
    node_name: str
    role: OrderRole
    step_role: Annotated[
        Literal["sender", "receiver"] | None, Field(description="Its part of the work; null where it does all of it")
    ]
    state: OrderState
    progress: Progress
    phase: str
    silent_since: datetime | None
    claimed_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    outcome: OrderEnd | None
    steps: list[StepRecord]
    foreign_load: ForeignLoad | None


class BatchJobOutput(Output):
    """The job of a batch system that is to run, or ran, an attempt; `words` are the batch system's own."""

    system: BatchSystem
    state: Literal["wanted", "pending", "running", "ended"]
    job_id: Annotated[str | None, Field(description="Null until the batch system has it", examples=["4711"])]
    ending: Annotated[str | None, Field(description="How it ended; null before", examples=["cancelled"])]
    words: Annotated[str, Field(examples=["Resources"])]
    started_at: datetime | None


class AttemptOutput(Output):
    """One try of a run.

    `go_at` is the moment at which all its nodes were told to start their loads; `start_skew_seconds` by how much the
    last of them really started after the first, by their own clocks, null for a single node.
    """

    ordinal: int
    state: AttemptState
    opened_at: datetime
    go_at: datetime | None
    start_skew_seconds: float | None
    ended_at: datetime | None
    reason: str | None
    batch_job: Annotated[BatchJobOutput | None, Field(description="Null where the nodes' agents start it")]
    orders: list[RunOrder]


class RunEventOutput(Output):
    """One line of a run's log."""

    id: int
    at: datetime
    kind: Annotated[str, Field(examples=["claimed"])]
    text: str


@dataclass(frozen=True, slots=True)
class QueueChoice:
    """Which part of a queue is wanted, as query parameters."""

    limit: Annotated[int, Query(ge=1, le=200, description="Runs shown at most")] = 50
    campaign_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Of this campaign alone")] = None


class QueuedRun(Output):
    """A waiting run in its place."""

    run_id: int
    campaign_id: int
    campaign_name: str
    owner: Annotated[PersonShown, Field(description="Who submitted it; null when that person is gone")]
    priority: int
    repeat: int
    workload: Annotated[str, Field(examples=["dd"])]
    node_names: list[str]
    target_names: list[str]
    created_at: datetime
    waiting_because: Annotated[str, Field(description="Everything that keeps it from starting now, in words")]


class Queue(Output):
    """What waits in a cluster, the first to be served first."""

    waiting: Annotated[int, Field(description="Runs that wait in all")]
    runs: list[QueuedRun]


Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="Of the statement as it was shown")]


class DoomedOrderOutput(Output):
    """An order of the node that would end."""

    order_id: int
    state: Annotated[OrderState, Field(description="By the node's last word")]
    started_at: datetime | None
    end: OrderEnd


class EndedRunOutput(Output):
    """What it would do to a run."""

    run_id: int
    campaign_id: int
    campaign_name: str
    workload: str
    orders: list[DoomedOrderOutput]
    becomes: Annotated[RunState, Field(description="At once, or when the other nodes of its gang have stopped")]
    ends: Annotated[str, Field(description="What ends, what is free then and what becomes of the run")]
    risk: Annotated[str, Field(description="What happens if the node is only cut off and its load still runs")]


class DeathStatement(Output):
    """State all that calling a silent node dead frees and ends."""

    node_id: int
    node_name: str
    last_seen_at: datetime
    runs: list[EndedRunOutput]
    waiting_count: Annotated[int, Field(description="Runs that wait for the node and go on waiting")]
    statement_sha256: str


class HeldRunOutput(Output):
    """A run whose load no signal ends, and what it holds."""

    run_id: int
    campaign_id: int
    campaign_name: str
    workload: str
    process: Annotated[str, Field(examples=["dd (pid 25760) in state D, waiting in percpu_rwsem_wait"])]
    since: datetime
    frees: Annotated[str, Field(description="What is free then")]
    risk: Annotated[str, Field(description="What the load may do later")]


class StuckStatement(Output):
    """State all that freeing a stuck node does."""

    node_id: int
    node_name: str
    runs: list[HeldRunOutput]
    afterwards: Annotated[str, Field(description="What becomes of the node itself")]
    statement_sha256: str


class DeathConfirmation(Input):
    """Confirms that a statement was read and is to be carried out."""

    statement_sha256: Digest


class TouchedRunOutput(Output):
    """A run of which the node has orders."""

    run_id: int
    campaign_id: int
    campaign_name: str
    workload: str
    ends: Annotated[
        bool, Field(description="Its orders there end at once; else they stay until somebody calls the node dead")
    ]
    words: Annotated[str, Field(description="What follows for it")]


class RevocationOutput(Output):
    """What revoking a node would do, and what it would leave to a person."""

    node_id: int
    node_name: str
    runs: list[TouchedRunOutput]
    waiting_count: Annotated[int, Field(description="Runs that wait for the node and go on waiting")]
