"""Messages between the gateway of a batch system and the server; those of nodes are in `messages`."""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import FailFast, Field

from iotide_wire.base import Fence, Message, Name, Text
from iotide_wire.messages import Instance
from iotide_wire.nodes import ClockReading
from iotide_wire.versions import Since

RunId = Annotated[int, Field(ge=1, le=2**63 - 1)]
JobId = Annotated[str, Field(pattern=r"^[0-9]{1,19}$")]
MOST_LISTED: Final = 10_000
"""Maximum number of jobs, and of hosts, in one report."""
MOST_REFUSED: Final = 100
MOST_WORDS: Final = 300
Words = Annotated[str, Field(max_length=MOST_WORDS)]


class BatchSystem(StrEnum):
    SLURM = "slurm"
    LSF = "lsf"
    PBS = "pbs"
    FLUX = "flux"


class JobState(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    ENDED = "ended"


class JobEnd(StrEnum):
    """End of a job as the batch system reports it.

    `node_failed`: the batch system has lost the node, and the job's processes may still run.
    """

    DONE = "done"
    CANCELLED = "cancelled"
    TIME_LIMIT = "time_limit"
    NODE_FAILED = "node_failed"
    FAILED = "failed"


class SeenJob(Message):
    """`words`: reason of its state, for instance `Resources`."""

    run_id: RunId
    fence: Fence
    job_id: JobId
    state: JobState
    end: JobEnd | None
    words: Words


class SeenHost(Message):
    """`words`: its state, for instance `drained`."""

    name: Name
    is_up: bool
    words: Words


class RefusedJob(Message):
    run_id: RunId
    fence: Fence
    words: Text


class BatchReport(Message):
    """Complete report of a gateway, sent repeatedly.

    Attributes:
        problem: why the batch system does not answer; `jobs` and `hosts` are then meaningless.
        jobs: those with a name of iotide.
    """

    agent_instance: Instance
    system: BatchSystem
    problem: Text | None
    jobs: Annotated[tuple[SeenJob, ...], Field(max_length=MOST_LISTED), FailFast()]
    hosts: Annotated[tuple[SeenHost, ...], Field(max_length=MOST_LISTED), FailFast()]
    refused: Annotated[tuple[RefusedJob, ...], Field(max_length=MOST_REFUSED), FailFast()]
    clock: Annotated[ClockReading | None, Since(2)] = None


class JobNode(Message):
    name: Name
    order_id: int


class WantedJob(Message):
    """A job to submit, which the batch system does not list yet.

    Attributes:
        time_limit_seconds: without the margin that the gateway adds.
    """

    run_id: RunId
    fence: Fence
    nodes: Annotated[tuple[JobNode, ...], Field(min_length=1)]
    time_limit_seconds: float


class BatchReply(Message):
    """Instructions for the gateway.

    Attributes:
        hello_wanted: the server lacks the gateway's hello.
        rotation_wanted: the gateway must ask for new credentials.
    """

    submit: tuple[WantedJob, ...]
    cancel: tuple[JobId, ...]
    hello_wanted: bool
    rotation_wanted: Annotated[bool, Since(2)] = False
