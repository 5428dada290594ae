"""Reasons why a run waits for its batch job, and effects of the job's end. Pure functions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.clock import written
from iotide_server.runs.endings import Ending
from iotide_server.runs.lifecycle import OrderEnd
from iotide_wire.batch import BatchSystem, JobEnd, JobState
from iotide_wire.messages import OrderState

NAMES: Final = {
    BatchSystem.SLURM: "Slurm",
    BatchSystem.LSF: "LSF",
    BatchSystem.PBS: "PBS",
    BatchSystem.FLUX: "Flux",
}
VANISHED: Final = "vanished"  # end of a job that its batch system no longer lists
STANDS_BY: Final = "stands by"  # first words of a gateway's problem while another gateway submits

_HOW: Final = {
    JobEnd.DONE: "ended",
    JobEnd.CANCELLED: "was cancelled",
    JobEnd.TIME_LIMIT: "reached its time limit",
    JobEnd.NODE_FAILED: "lost a node",
    JobEnd.FAILED: "failed",
    VANISHED: "is no longer listed",
}


@dataclass(frozen=True, slots=True)
class Gateway:
    name: str
    seen_at: datetime | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class BatchSubmission:
    system: BatchSystem
    gateway: Gateway | None
    state: str | None  # of the open attempt's job; None if no attempt is open
    job_id: str | None
    words: str | None


def gateway_obstacle(submitted: BatchSubmission, now: datetime) -> str | None:
    system, gateway = NAMES[submitted.system], submitted.gateway
    if gateway is None:
        return f"the cluster has no gateway to {system}; enroll one"
    if gateway.seen_at is None:
        return f"gateway {gateway.name} has never contacted the server; start `iotide-agent gateway` there"
    if now - gateway.seen_at > SILENT_AFTER:
        since = written(gateway.seen_at)
        return f"gateway {gateway.name} has been silent since {since}, and no other gateway submits to {system}"
    return None if gateway.problem is None else f"gateway {gateway.name}: {gateway.problem}"


def waits_for_job(submitted: BatchSubmission, now: datetime) -> str | None:
    system = NAMES[submitted.system]
    obstacle = gateway_obstacle(submitted, now)
    if submitted.state == "wanted":
        return obstacle or f"about to be submitted to {system}"
    if submitted.state != JobState.PENDING:
        return None
    why = f": {submitted.words}" if submitted.words else ""
    unknown = f"; its state is not updated: {obstacle}" if obstacle else ""
    return f"{system} job {submitted.job_id} waits{why}{unknown}"


@dataclass(frozen=True, slots=True)
class EndedJob:
    system: BatchSystem
    job_id: str
    ending: str
    words: str

    def __str__(self) -> str:
        said = f" ({self.words})" if self.words else ""
        return f"{NAMES[self.system]} job {self.job_id} {_HOW[self.ending]}{said}"


def end_of_order(job: EndedJob, state: OrderState, now: datetime, *, is_silent: bool) -> Ending | None:
    """Return how an order of an ended batch job ends; None: wait for its node.

    Before the claim nothing ran. After it, the job's end counts only while the node is silent, and never if the job
    lost a node: the load may still run.
    """
    if state is OrderState.OFFERED:
        return _end(job, OrderEnd.WITHDRAWN, now, f"{job} before the node could claim the order")
    if not is_silent or job.ending == JobEnd.NODE_FAILED:
        return None
    return _end(job, OrderEnd.LOST, now, f"{job}, and the node is silent")


def refused(system: BatchSystem, words: str, now: datetime) -> Ending:
    return Ending(OrderEnd.DECLINED, now, "submit_refused", f"{NAMES[system]} refused the job: {words}")


def too_late(system: BatchSystem, now: datetime) -> Ending:
    words = f"{NAMES[system]} did not start the job in time for the campaign's window or a maintenance window"
    return Ending(OrderEnd.WITHDRAWN, now, "too_late", words)


def _end(job: EndedJob, otherwise: OrderEnd, now: datetime, words: str) -> Ending:
    if job.ending == JobEnd.CANCELLED:
        return Ending(OrderEnd.CANCELLED, now, "batch_cancelled", words)
    if job.ending == JobEnd.TIME_LIMIT and otherwise is OrderEnd.LOST:
        return Ending(OrderEnd.FAILED, now, "batch_time_limit", words)
    return Ending(otherwise, now, "batch_ended", words)
