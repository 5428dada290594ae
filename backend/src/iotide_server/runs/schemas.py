"""API schemas of runs."""

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
Progress = Annotated[float | None, Field(description="Fraction done, 0 to 1; null if unknown")]


@dataclass(frozen=True, slots=True)
class RunFilter:
    campaign_id: OptionalId = None
    cluster_id: OptionalId = None
    state: RunState | None = None
    node_id: OptionalId = None
    target_id: OptionalId = None
    workload: Annotated[str | None, Query(max_length=100, examples=["dd"])] = None
    series_id: OptionalId = None


class RunOutput(Output):
    """One repeat of a cell.

    `validity`: whether its results count. `overdue`: past its time limit while its nodes are silent. `reason`: why it
    failed, was cancelled or waits for another attempt.
    """

    id: int
    campaign_id: int
    campaign_name: str
    cell_id: int
    repeat: int
    cluster_id: int
    node_names: list[str]
    target_names: list[str]
    variant: Annotated[
        str, Field(description="Variant of its stage; empty without stages", examples=["ext3 data=journal"])
    ]
    workload: Annotated[str, Field(examples=["dd"])]
    options: dict[str, Any]
    state: RunState
    validity: Literal["valid", "rejected"]
    flags: Annotated[
        list[Flag], Field(description="Lists of runs shorten very many flags to the first of each code and effect")
    ]
    usual_flags: Annotated[
        list[str],
        Field(description="Flags of at least 90 % of the 20 runs of one of its series before", examples=[["ZEROES"]]),
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
    """Work of one node in an attempt.

    `foreign_load`: other load on the node before and during the run; null if not reported.
    """

    id: int
    node_id: int
    node_name: str
    role: OrderRole
    step_role: Annotated[
        Literal["sender", "receiver", "maker", "head", "member"] | None,
        Field(
            description="Part of the work; null if the node does all of it. A maker only prepares scratch disks. The"
            " head starts one program over all nodes and has its results; members start their parts of it"
        ),
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
    system: BatchSystem
    state: Literal["wanted", "pending", "running", "ended"]
    job_id: Annotated[str | None, Field(description="Null until the batch system lists the job", examples=["4711"])]
    ending: Annotated[str | None, Field(description="How the job ended; null before", examples=["cancelled"])]
    words: Annotated[str, Field(examples=["Resources"])]
    started_at: datetime | None


class AttemptOutput(Output):
    """One try of a run.

    `go_at`: common start time of its loads. `start_skew_seconds`: delay between the first and the last actual start,
    by the nodes' clocks; null for a single node.
    """

    ordinal: int
    state: AttemptState
    opened_at: datetime
    go_at: datetime | None
    start_skew_seconds: float | None
    ended_at: datetime | None
    reason: str | None
    batch_job: Annotated[BatchJobOutput | None, Field(description="Null if the nodes' agents start the attempt")]
    orders: list[RunOrder]


class RunEventOutput(Output):
    id: int
    at: datetime
    kind: Annotated[str, Field(examples=["claimed"])]
    text: str


@dataclass(frozen=True, slots=True)
class QueueChoice:
    limit: Annotated[int, Query(ge=1, le=200, description="Maximum number of runs")] = 50
    campaign_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Only runs of this campaign")] = None


class QueuedRun(Output):
    run_id: int
    campaign_id: int
    campaign_name: str
    owner: Annotated[PersonShown, Field(description="Who submitted it; null if that user was deleted")]
    priority: int
    repeat: int
    workload: Annotated[str, Field(examples=["dd"])]
    node_names: list[str]
    target_names: list[str]
    created_at: datetime
    waiting_because: Annotated[str, Field(description="Every reason why it does not start now")]


class Queue(Output):
    waiting: Annotated[int, Field(description="Total number of waiting runs")]
    runs: list[QueuedRun]


Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the statement that the caller saw")]


class DoomedOrderOutput(Output):
    order_id: int
    state: Annotated[OrderState, Field(description="As the node last reported")]
    started_at: datetime | None
    end: OrderEnd


class EndedRunOutput(Output):
    run_id: int
    campaign_id: int
    campaign_name: str
    workload: str
    orders: list[DoomedOrderOutput]
    becomes: Annotated[
        RunState, Field(description="Next state, at once or when the other nodes of its gang have stopped")
    ]
    ends: Annotated[str, Field(description="Orders that end, resources that are freed and the run's next state")]
    risk: Annotated[str, Field(description="Risk if the node is only cut off and its load still runs")]


class DeathStatement(Output):
    node_id: int
    node_name: str
    last_seen_at: datetime
    runs: list[EndedRunOutput]
    waiting_count: Annotated[int, Field(description="Runs that wait for the node and keep waiting")]
    statement_sha256: str


class HeldRunOutput(Output):
    run_id: int
    campaign_id: int
    campaign_name: str
    workload: str
    process: Annotated[str, Field(examples=["dd (pid 25760) in state D, waiting in percpu_rwsem_wait"])]
    since: datetime
    frees: Annotated[str, Field(description="Resources that are freed")]
    risk: Annotated[str, Field(description="Risk if the load still runs")]


class StuckStatement(Output):
    node_id: int
    node_name: str
    runs: list[HeldRunOutput]
    afterwards: Annotated[str, Field(description="State of the node afterwards")]
    statement_sha256: str


class DeathConfirmation(Input):
    statement_sha256: Digest


class TouchedRunOutput(Output):
    run_id: int
    campaign_id: int
    campaign_name: str
    workload: str
    ends: Annotated[
        bool,
        Field(
            description="True: its orders there end at once. False: they stay until an operator declares the node dead"
        ),
    ]
    words: Annotated[str, Field(description="Effect on the run")]


class RevocationOutput(Output):
    node_id: int
    node_name: str
    runs: list[TouchedRunOutput]
    waiting_count: Annotated[int, Field(description="Runs that wait for the node and keep waiting")]
