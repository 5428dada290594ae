"""Lists of batch systems with a row that cannot be read."""

from collections.abc import Callable
from pathlib import Path

import pytest

from iotide_agent.batch import lsf, slurm
from iotide_agent.batch.system import BatchProblemError
from iotide_wire.batch import JobState, SeenHost, SeenJob

DATA = Path(__file__).parents[2] / "data" / "batch"


@pytest.mark.parametrize(
    ("name", "parse", "job_id"),
    [
        ("squeue-newline-in-foreign-name.txt", slurm.parse_jobs, "8"),
        ("bjobs-newline-in-foreign-name.txt", lsf.parse_jobs, "2813"),
    ],
)
def test_a_line_break_in_the_name_of_a_foreign_job_hides_no_job(
    name: str, parse: Callable[[str], list[SeenJob]], job_id: str
) -> None:
    [job] = parse((DATA / name).read_text())
    assert (job.run_id, job.fence, job.job_id, job.state) == (4, 2, job_id, JobState.RUNNING)


def test_a_list_with_only_the_broken_row_of_a_foreign_job_is_an_answer() -> None:
    assert slurm.parse_jobs("7|nightly\nreport|RUNNING|None\n") == []


@pytest.mark.parametrize("printed", ["7|x\niotide-4-2|RUNNING|None\n", "9|iotide-4-2|RUNNING\n"])
def test_a_row_of_an_own_job_that_cannot_be_read_is_a_problem_since_the_job_would_seem_to_have_ended(
    printed: str,
) -> None:
    with pytest.raises(BatchProblemError, match="iotide-4-2"):
        slurm.parse_jobs("8|iotide-5-1|RUNNING|None\n" + printed)


@pytest.mark.parametrize(
    ("name", "parse", "up"),
    [
        ("sinfo-odd-row.txt", slurm.parse_hosts, ["n1", "n3"]),
        ("bhosts-odd-row.txt", lsf.parse_hosts, ["hostA", "hostC"]),
    ],
)
def test_an_odd_row_hides_no_host(name: str, parse: Callable[[str], list[SeenHost]], up: list[str]) -> None:
    assert [host.name for host in parse((DATA / name).read_text()) if host.is_up] == up
