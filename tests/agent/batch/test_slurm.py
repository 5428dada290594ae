"""Fake Slurm; `tests/slurm` uses a real one."""

from pathlib import Path

import pytest
from agent.batch.batch_replies import CONFIG, Commands, wanted

from iotide_agent.batch.slurm import Slurm, parse_hosts, parse_jobs
from iotide_agent.batch.system import BatchProblemError
from iotide_wire.batch import JobEnd, JobState

PENDING, RUNNING, ENDED = JobState.PENDING, JobState.RUNNING, JobState.ENDED


@pytest.mark.parametrize(
    ("printed", "state", "end", "words"),
    [
        ("12|iotide-7-99|PENDING|Resources", PENDING, None, "Resources"),
        ("12|iotide-7-99|PENDING|None", PENDING, None, ""),
        ("12|iotide-7-99|PENDING|ReqNodeNotAvail, UnavailableNodes:n1", PENDING, None, ...),
        ("12|iotide-7-99|CONFIGURING|None", PENDING, None, "CONFIGURING"),
        ("12|iotide-7-99|RUNNING|None", RUNNING, None, ""),
        ("12|iotide-7-99|COMPLETING|None", RUNNING, None, "COMPLETING"),
        ("12|iotide-7-99|A_WORD_OF_TOMORROW|None", RUNNING, None, "A_WORD_OF_TOMORROW"),
        ("12|iotide-7-99|COMPLETED|None", ENDED, JobEnd.DONE, "COMPLETED"),
        ("12|iotide-7-99|CANCELLED|None", ENDED, JobEnd.CANCELLED, "CANCELLED"),
        ("12|iotide-7-99|TIMEOUT|TimeLimit", ENDED, JobEnd.TIME_LIMIT, "TIMEOUT, TimeLimit"),
        ("12|iotide-7-99|NODE_FAIL|NodeDown", ENDED, JobEnd.NODE_FAILED, "NODE_FAIL, NodeDown"),
        ("12|iotide-7-99|FAILED|NonZeroExitCode", ENDED, JobEnd.FAILED, "FAILED, NonZeroExitCode"),
        ("12|iotide-7-99|PREEMPTED|None", ENDED, JobEnd.FAILED, "PREEMPTED"),
    ],
)
def test_a_line_of_squeue_says_where_a_job_is(printed: str, state: JobState, end: object, words: object) -> None:
    [job] = parse_jobs(printed + "\n")
    assert (job.run_id, job.fence, job.job_id) == (7, 99, "12")
    assert (job.state, job.end) == (state, end)
    assert job.words == (printed.split("|", 3)[3] if words is ... else words)


def test_jobs_of_others_are_left_out() -> None:
    assert parse_jobs("1|wrap|RUNNING|None\n2|iotide-x-1|RUNNING|None\n3_1|array|PENDING|Priority\n\n") == []


@pytest.mark.parametrize(
    "printed", ["slurm_load_jobs error", "12|iotide-7-99|RUNNING", "12_3|iotide-7-99|RUNNING|None"]
)
def test_unknown_squeue_output_is_shown_and_not_guessed(printed: str) -> None:
    with pytest.raises(BatchProblemError, match=r"squeue"):
        parse_jobs(printed)


def test_a_node_of_several_partitions_is_one_host_and_up_where_slurm_starts_jobs() -> None:
    printed = "n1|idle\nn2|allocated\nn2|allocated\nn3|down*\nn4|draining\nn5|idle*\nn6|mixed\nn7|idle~\nn8|maint\n"
    hosts = {host.name: (host.is_up, host.words) for host in parse_hosts(printed)}
    assert {name for name, (is_up, _) in hosts.items() if is_up} == {"n1", "n2", "n6", "n7"}
    assert hosts["n3"] == (False, "down*")
    assert len(hosts) == 8


def test_a_table_of_sinfo_that_is_not_understood_is_shown() -> None:
    with pytest.raises(BatchProblemError, match="Unable to contact"):
        parse_hosts("sinfo: error: Unable to contact slurm controller\n")


def test_a_job_is_submitted_alone_on_its_nodes_and_never_again_by_slurm() -> None:
    commands = Commands()
    commands.say("sbatch", "4711\n")
    assert Slurm(CONFIG, commands).submit(wanted("n1", "n2")) == "4711"
    [argv] = commands.of("sbatch")
    assert argv[:5] == ["--parsable", "--exclusive", "--mem=0", "--no-requeue", "--nodes=2"]
    assert {"--nodelist=n1,n2", "--job-name=iotide-7-99", "--time=12", "--output=/dev/null"} <= set(argv)
    script = argv.index(next(word for word in argv if word.endswith("slurm-job.sh")))
    assert argv[script - 1] == "--partition=bench"
    assert Path(argv[script]).is_file()
    assert argv[script + 1 :] == [
        *("2", "/opt/iotide/bin/iotide-agent", "batch-run", "--config", "/etc/iotide/{node}.toml"),
        *("99", "n1=11", "n2=12"),
    ]


def test_the_number_of_a_job_in_a_federation_is_found() -> None:
    commands = Commands()
    commands.say("sbatch", "4711;alps\n")
    assert Slurm(CONFIG, commands).submit(wanted("n1")) == "4711"


def test_a_rejection_by_slurm_is_reported_with_its_message() -> None:
    commands = Commands()
    refusal = "sbatch: error: invalid partition specified: bench\nsbatch: error: Batch job submission failed\n"
    commands.say("sbatch", status=1, stderr=refusal)
    with pytest.raises(BatchProblemError, match="invalid partition specified: bench"):
        Slurm(CONFIG, commands).submit(wanted("n1"))


def test_only_jobs_of_the_own_user_are_asked_for_and_a_job_is_cancelled_by_its_number() -> None:
    commands = Commands()
    commands.say("squeue", "12|iotide-7-99|RUNNING|None\n")
    commands.say("scancel")
    slurm = Slurm(CONFIG, commands)
    assert [job.job_id for job in slurm.jobs()] == ["12"]
    assert any(word.startswith("--user=") for word in commands.of("squeue")[0])
    slurm.cancel("12")
    assert commands.of("scancel") == [["12"]]


def test_a_batch_system_that_is_not_installed_is_a_problem_and_no_fault() -> None:
    config = CONFIG.model_copy()
    with pytest.raises(BatchProblemError):
        Slurm(config).said("iotide-no-such-program")
