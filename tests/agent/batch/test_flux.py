"""Fake Flux: output by the man pages of flux-core, since no real one is available."""

from pathlib import Path

import pytest
from agent.batch.batch_replies import CONFIG, Commands, wanted

from iotide_agent.batch.flux import Flux, parse_hosts, parse_jobs
from iotide_agent.batch.system import BatchProblemError
from iotide_wire.batch import JobEnd, JobState

DATA = Path(__file__).parents[2] / "data" / "batch"


def test_a_row_says_where_a_job_is_and_a_broken_one_of_a_foreign_job_is_skipped() -> None:
    found = {(job.run_id, job.fence): (job.state, job.end, job.words) for job in parse_jobs(_text("flux-jobs.txt"))}
    lost = "FAILED, exec: lost contact with job shell on broker n2 (rank 1)"
    assert found == {
        (4, 2): (JobState.RUNNING, None, ""),
        (5, 3): (JobState.PENDING, None, ""),
        (6, 4): (JobState.ENDED, JobEnd.DONE, "COMPLETED"),
        (7, 5): (JobState.ENDED, JobEnd.CANCELLED, "CANCELED, cancel"),
        (8, 6): (JobState.ENDED, JobEnd.TIME_LIMIT, "TIMEOUT, timeout: resource allocation expired"),
        (9, 7): (JobState.ENDED, JobEnd.NODE_FAILED, lost),
        (9, 8): (JobState.ENDED, JobEnd.FAILED, "FAILED"),
        (9, 9): (JobState.RUNNING, None, "CLEANUP"),
    }


def test_a_node_with_free_and_allocated_cores_is_one_host_and_odd_rows_hide_none() -> None:
    hosts = {host.name: (host.is_up, host.words) for host in parse_hosts(_text("flux-resource-list.txt"))}
    assert {name for name, (is_up, _) in hosts.items() if is_up} == {"n1", "n2", "n3", "n4", "n9"}
    assert {name for name, (is_up, _) in hosts.items() if not is_up} == {"n5", "n7", "n8"}
    assert hosts["n7"] == (False, "down")


def test_a_flux_that_does_not_answer_has_no_list() -> None:
    with pytest.raises(BatchProblemError, match="flux resource list"):
        parse_hosts("flux-resource: ERROR: unable to connect to Flux\n")


@pytest.mark.parametrize("printed", ["\u0192uAsjAo\n", "fuAsjAo\n", "1717986918402\n"])
def test_a_job_is_submitted_alone_on_its_nodes_with_one_task_each(printed: str) -> None:
    commands = Commands()
    commands.say("flux", printed)
    assert Flux(CONFIG, commands).submit(wanted("n1", "n2")) == printed.strip()
    [argv] = commands.of("flux")
    assert argv[:7] == [
        *("submit", "--nodes=2", "--ntasks=2", "--exclusive", "--requires=host:n1,n2"),
        *("--time-limit=12m", "--job-name=iotide-7-99"),
    ]
    assert argv[7:9] == ["--output=/dev/null", "--partition=bench"]
    assert Path(argv[9]).is_file()
    assert argv[10:12] == ["2", "/opt/iotide/bin/iotide-agent"]


def test_jobs_that_ended_are_asked_for_and_a_job_is_cancelled_by_its_number() -> None:
    commands = Commands()
    commands.say("flux", "1717986918402|iotide-4-2|RUN||\n")
    flux = Flux(CONFIG, commands)
    assert [job.job_id for job in flux.jobs()] == ["1717986918402"]
    assert commands.of("flux")[0][:4] == ["jobs", "-a", "-n", "--count=0"]
    flux.cancel("1717986918402")
    assert commands.of("flux")[1] == ["cancel", "1717986918402"]


def _text(name: str) -> str:
    return (DATA / name).read_text()
