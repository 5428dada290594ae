"""What a batch system's job means for the run that it is to start: why it waits, and what its end ends; pure."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.clock import written
from iotide_server.runs.endings import Ending
from iotide_server.runs.lifecycle import OrderEnd
from iotide_wire.batch import BatchSystem, JobEnd, JobState
from iotide_wire.messages import OrderState

NAMES: Final = {BatchSystem.SLURM: "Slurm", BatchSystem.LSF: "LSF"}  # as people write them
VANISHED: Final = "vanished"  # the end of a job that its batch system no longer lists
STANDS_BY: Final = "stands by"  # how the problem of a gateway begins that another one keeps from working

_HOW: Final = {
    JobEnd.DONE: "ended",
    JobEnd.CANCELLED: "was cancelled",
    JobEnd.TIME_LIMIT: "was ended at its time limit",
    JobEnd.NODE_FAILED: "lost a node",
    JobEnd.FAILED: "failed",
    VANISHED: "is no longer known",
}


@dataclass(frozen=True, slots=True)
class Gateway:
    """Who submits to the batch system, and is heard of like a node."""

    name: str
    seen_at: datetime | None  # when it last was; None: never
    problem: str | None  # what it says is wrong


@dataclass(frozen=True, slots=True)
class BatchSubmission:
    """A run of a cluster with a batch system."""

    system: BatchSystem
    gateway: Gateway | None  # None where the cluster has none
    state: str | None  # of the job of its open attempt; None where none is open
    job_id: str | None
    words: str | None


def gateway_obstacle(submitted: BatchSubmission, now: datetime) -> str | None:
    """Why nothing is submitted; None where it is."""
    system, gateway = NAMES[submitted.system], submitted.gateway
    if gateway is None:
        return f"the cluster has no gateway to {system}; enroll one"
    if gateway.seen_at is None:
        return f"gateway {gateway.name} has never been heard of; start `iotide-agent gateway` there"
    if now - gateway.seen_at > SILENT_AFTER:
        since = written(gateway.seen_at)
        return f"gateway {gateway.name} has been silent since {since}, and nothing else submits to {system}"
    return None if gateway.problem is None else f"gateway {gateway.name}: {gateway.problem}"


def waits_in_line(submitted: BatchSubmission, now: datetime) -> str | None:
    """Why a run that has its nodes of us has none of the batch system yet; None where it does not wait for that."""
    system = NAMES[submitted.system]
    obstacle = gateway_obstacle(submitted, now)
    if submitted.state == "wanted":
        return obstacle or f"it is about to be submitted to {system}"
    if submitted.state != JobState.PENDING:
        return None
    why = f": {submitted.words}" if submitted.words else ""
    unknown = f"; since then, {obstacle}" if obstacle else ""
    return f"{system} job {submitted.job_id} waits{why}{unknown}"


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A job that has ended."""

    system: BatchSystem
    job_id: str
    ending: str  # a `JobEnd`, or `VANISHED`
    words: str  # of the batch system

    def __str__(self) -> str:
        """In one sentence."""
        said = f" ({self.words})" if self.words else ""
        return f"{NAMES[self.system]} job {self.job_id} {_HOW[self.ending]}{said}"


def end_of_order(job: EndedJob, state: OrderState, now: datetime, *, is_silent: bool) -> Ending | None:
    """How an order of a job that has ended ends; None while its own node may still say it, or its load may still run.

    A job that ended before its order was claimed ran nothing. Once it was claimed, its node speaks for it; only
    where that is silent too is the end of the job believed, and never that of a job that lost its node: there the
    batch system knows no more than we do.
    """
    if state is OrderState.OFFERED:
        return _end(job, OrderEnd.WITHDRAWN, now, f"{job} before the node could claim the order")
    if not is_silent or job.ending == JobEnd.NODE_FAILED:
        return None
    return _end(job, OrderEnd.LOST, now, f"{job}, and the node is silent")


def refused(system: BatchSystem, words: str, now: datetime) -> Ending:
    """The end of an order whose job the batch system would not take."""
    return Ending(OrderEnd.DECLINED, now, "submit_refused", f"{NAMES[system]} would not take the job: {words}")


def too_late(system: BatchSystem, now: datetime) -> Ending:
    """The end of an order whose job had not started when its campaign's window closed, or before a blackout."""
    words = f"{NAMES[system]} had not started the job when it became too late for the campaign's window or a blackout"
    return Ending(OrderEnd.WITHDRAWN, now, "too_late", words)


def _end(job: EndedJob, otherwise: OrderEnd, now: datetime, words: str) -> Ending:
    if job.ending == JobEnd.CANCELLED:
        return Ending(OrderEnd.CANCELLED, now, "batch_cancelled", words)
    if job.ending == JobEnd.TIME_LIMIT and otherwise is OrderEnd.LOST:
        return Ending(OrderEnd.FAILED, now, "batch_time_limit", words)
    return Ending(otherwise, now, "batch_ended", words)
