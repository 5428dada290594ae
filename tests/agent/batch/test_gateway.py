"""Rounds of the batch gateway with a fake batch system and a fake server."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from agent.batch.batch_replies import CONFIG, wanted

from iotide_agent.batch.gateway import MOST_REFUSALS, Gateway
from iotide_agent.batch.slurm import Slurm
from iotide_agent.batch.system import BatchProblemError, JobKey
from iotide_agent.core.spool import Spool
from iotide_agent.core.transport import Transport
from iotide_wire.batch import (
    MOST_REFUSED,
    BatchReply,
    BatchReport,
    JobState,
    SeenHost,
    SeenJob,
    WantedJob,
)


class PaperSlurm(Slurm):
    """Fake batch system that lists the jobs it accepted, unless it is down or rejects them."""

    def __init__(self) -> None:
        super().__init__(CONFIG)
        self.listed: list[SeenJob] = []
        self.submitted: list[WantedJob] = []
        self.cancelled: list[str] = []
        self.is_away = False
        self.lists_late = False
        self.refusal: str | None = None

    def jobs(self) -> list[SeenJob]:
        if self.is_away:
            raise BatchProblemError("squeue: Unable to contact slurm controller")
        return self.listed

    def hosts(self) -> list[SeenHost]:
        return [SeenHost(name="n1", is_up=True, words="idle")]

    def submit(self, job: WantedJob) -> str:
        if self.refusal is not None:
            raise BatchProblemError(self.refusal)
        self.submitted.append(job)
        number = str(len(self.submitted))
        if not self.lists_late:
            self.listed.append(
                SeenJob(
                    run_id=job.run_id, fence=job.fence, job_id=number, state=JobState.PENDING, end=None, words="None"
                )
            )
        return number

    def cancel(self, job_id: str) -> None:
        self.cancelled.append(job_id)


@dataclass
class PaperServer(Transport):
    """Fake server that asks for these jobs until they are listed."""

    jobs: list[WantedJob] = field(default_factory=list)
    cancel: tuple[str, ...] = ()
    reports: list[BatchReport] = field(default_factory=list)

    def report_batch(self, report: BatchReport) -> BatchReply:
        self.reports.append(report)
        listed = {(job.run_id, job.fence) for job in report.jobs}
        submit = tuple(job for job in self.jobs if (job.run_id, job.fence) not in listed and not report.problem)
        return BatchReply(submit=submit, cancel=self.cancel, hello_wanted=False)


@dataclass
class Bench:
    slurm: PaperSlurm
    server: PaperServer
    start: Callable[[], Gateway]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    slurm, server = PaperSlurm(), PaperServer([wanted("n1")])
    spool = Spool(tmp_path / "state")
    spool.prepare()
    return Bench(slurm, server, lambda: Gateway(slurm, server, spool, "instance-1", "boot-1234"))


def test_jobs_that_the_server_requests_are_submitted_once_and_reported(bench: Bench) -> None:
    gateway = bench.start()
    assert gateway.round()
    assert not gateway.round()
    assert [job.run_id for job in bench.slurm.submitted] == [7]
    first, second = bench.server.reports
    assert (first.jobs, [job.job_id for job in second.jobs]) == ((), ["1"])
    assert [host.name for host in first.hosts] == ["n1"]


def test_a_gateway_that_died_after_it_submitted_finds_its_job_by_the_name(bench: Bench) -> None:
    bench.start().round()
    again = bench.start()
    again.round()
    assert len(bench.slurm.submitted) == 1
    assert [job.job_id for job in bench.server.reports[-1].jobs] == ["1"]


def test_a_batch_system_that_lists_late_is_not_asked_twice(bench: Bench) -> None:
    bench.slurm.lists_late = True
    gateway = bench.start()
    for _ in range(3):
        gateway.round()
    assert len(bench.slurm.submitted) == 1


def test_jobs_that_the_server_withdrew_are_cancelled(bench: Bench) -> None:
    bench.server.jobs, bench.server.cancel = [], ("4711",)
    assert bench.start().round()
    assert bench.slurm.cancelled == ["4711"]


def test_a_job_that_does_not_end_is_cancelled_again_and_makes_no_round_come_sooner(bench: Bench) -> None:
    """Slurm shows a job as completing for as long as its node does not answer."""
    bench.server.jobs, bench.server.cancel = [], ("4711",)
    gateway = bench.start()
    assert [gateway.round() for _ in range(3)] == [True, False, False]
    assert bench.slurm.cancelled == ["4711"] * 3


def test_a_long_complaint_of_a_batch_system_is_reported_in_short(bench: Bench) -> None:
    bench.slurm.refusal = "sbatch: " + "no such node; " * 1000
    gateway = bench.start()
    for _ in range(MOST_REFUSALS + 1):
        gateway.round()
    (refused,) = bench.server.reports[-1].refused
    assert refused.words.startswith("sbatch: no such node; ")


def test_a_batch_system_that_does_not_answer_is_reported_as_that_and_not_as_empty(bench: Bench) -> None:
    bench.slurm.is_away = True
    bench.start().round()
    (report,) = bench.server.reports
    assert report.problem == "squeue: Unable to contact slurm controller"
    assert bench.slurm.submitted == []


def test_a_refusal_is_reported_only_after_it_was_tried_again(bench: Bench) -> None:
    bench.slurm.refusal = "sbatch: error: invalid partition specified: bench"
    gateway = bench.start()
    for _ in range(MOST_REFUSALS):
        gateway.round()
    assert all(report.refused == () for report in bench.server.reports)
    gateway.round()
    (refused,) = bench.server.reports[-1].refused
    assert (refused.run_id, refused.fence) == JobKey(7, 99)
    assert "invalid partition" in refused.words


def test_a_submission_that_fails_and_was_taken_all_the_same_is_not_repeated(bench: Bench) -> None:
    bench.slurm.refusal = "sbatch: error: Socket timed out on send/recv operation"
    gateway = bench.start()
    gateway.round()
    taken = wanted("n1")
    bench.slurm.listed.append(
        SeenJob(run_id=taken.run_id, fence=taken.fence, job_id="5", state=JobState.PENDING, end=None, words="")
    )
    bench.slurm.refusal = None
    gateway.round()
    assert bench.slurm.submitted == []


def test_more_refusals_than_a_report_holds_are_sent_in_several_reports(bench: Bench) -> None:
    bench.slurm.refusal = "sbatch: error: invalid partition specified: bench"
    bench.server.jobs = [wanted("n1", run_id=number) for number in range(1, MOST_REFUSED + 6)]
    gateway = bench.start()
    for _ in range(MOST_REFUSALS + 2):
        gateway.round()
    assert [len(report.refused) for report in bench.server.reports[-2:]] == [MOST_REFUSED, 5]
