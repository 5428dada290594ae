"""What the gateway of a batch system and the server say to each other; the nodes' own words are in `messages`."""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import FailFast, Field

from iotide_wire.base import Fence, Message, Name, Text
from iotide_wire.messages import Instance
from iotide_wire.nodes import ClockReading
from iotide_wire.versions import Since

RunId = Annotated[int, Field(ge=1, le=2**63 - 1)]
JobId = Annotated[str, Field(pattern=r"^[0-9]{1,19}$")]
"""The batch system's own number of a job."""
MOST_LISTED: Final = 10_000
"""Jobs, and hosts, in one report."""
MOST_REFUSED: Final = 100
MOST_WORDS: Final = 300
Words = Annotated[str, Field(max_length=MOST_WORDS)]
"""What a batch system says of one of thousands."""


class BatchSystem(StrEnum):
    """A batch system that can start runs."""

    SLURM = "slurm"
    LSF = "lsf"


class JobState(StrEnum):
    """Where a job is in its batch system."""

    PENDING = "pending"
    RUNNING = "running"
    ENDED = "ended"


class JobEnd(StrEnum):
    """How a job ended, as far as its batch system says.

    `node_failed` is the end of the job but not of its processes: the batch system has lost the node.
    """

    DONE = "done"
    CANCELLED = "cancelled"
    TIME_LIMIT = "time_limit"
    NODE_FAILED = "node_failed"
    FAILED = "failed"


class SeenJob(Message):
    """A job as the batch system lists it.

    Attributes:
        end: of one that has ended.
        words: why it is where it is, in the batch system's own words, for instance `Resources`.
    """

    run_id: RunId
    fence: Fence
    job_id: JobId
    state: JobState
    end: JobEnd | None
    words: Words


class SeenHost(Message):
    """A host as the batch system lists it.

    Attributes:
        words: the batch system's own, for instance `drained`.
    """

    name: Name
    is_up: bool
    words: Words


class RefusedJob(Message):
    """A job that the batch system would not take, in its own words."""

    run_id: RunId
    fence: Fence
    words: Text


class BatchReport(Message):
    """What a gateway sees, said again and again: each report is complete, so that a lost one is no loss.

    Attributes:
        problem: why the batch system cannot be asked; `jobs` and `hosts` say nothing then.
        jobs: of this gateway's user, those with a name of iotide's alone.
    """

    agent_instance: Instance
    system: BatchSystem
    problem: Text | None
    jobs: Annotated[tuple[SeenJob, ...], Field(max_length=MOST_LISTED), FailFast()]
    hosts: Annotated[tuple[SeenHost, ...], Field(max_length=MOST_LISTED), FailFast()]
    refused: Annotated[tuple[RefusedJob, ...], Field(max_length=MOST_REFUSED), FailFast()]
    clock: Annotated[ClockReading | None, Since(2)] = None


class JobNode(Message):
    """A node of a job and the order that is for it."""

    name: Name
    order_id: int


class WantedJob(Message):
    """A job to be submitted, of which the batch system lists none.

    Attributes:
        time_limit_seconds: of the load and of its wait for a quiet node; what comes before and after them is the
            gateway's to add.
    """

    run_id: RunId
    fence: Fence
    nodes: Annotated[tuple[JobNode, ...], Field(min_length=1)]
    time_limit_seconds: float


class BatchReply(Message):
    """What the gateway is to do.

    Attributes:
        cancel: jobs to be cancelled.
        hello_wanted: the server lacks the gateway's hello.
        rotation_wanted: the gateway's node is to ask for new credentials.
    """

    submit: tuple[WantedJob, ...]
    cancel: tuple[JobId, ...]
    hello_wanted: bool
    rotation_wanted: Annotated[bool, Since(2)] = False
