"""Fake PBS: output by the man pages of OpenPBS, since no real one is available."""

from pathlib import Path

import pytest
from agent.batch.batch_replies import CONFIG, Commands, wanted

from iotide_agent.batch.pbs import Pbs, parse_hosts, parse_jobs
from iotide_agent.batch.system import BatchProblemError
from iotide_wire.batch import JobEnd, JobState

DATA = Path(__file__).parents[2] / "data" / "batch"
JOBS = (DATA / "qstat-xf.json").read_text()
EMPTY = '{\n    "timestamp":1764417600,\n    "pbs_version":"23.06.06",\n    "pbs_server":"pbs1"\n}\n'


def test_jobs_of_the_own_user_are_found_behind_a_job_that_makes_the_json_invalid() -> None:
    found = {job.job_id: (job.run_id, job.fence, job.state, job.end) for job in parse_jobs(JOBS, "bench")}
    assert found == {
        "8": (4, 2, JobState.RUNNING, None),
        "9": (5, 3, JobState.PENDING, None),
        "11": (7, 5, JobState.ENDED, JobEnd.DONE),
        "12": (8, 6, JobState.ENDED, JobEnd.CANCELLED),
        "13": (9, 7, JobState.ENDED, JobEnd.TIME_LIMIT),
        "14": (9, 8, JobState.ENDED, JobEnd.FAILED),
        "15": (9, 9, JobState.RUNNING, None),
    }


def test_the_comment_of_pbs_is_the_reason_of_a_state() -> None:
    words = {job.job_id: job.words for job in parse_jobs(JOBS, "bench")}
    assert words["9"] == "Not Running: Insufficient amount of resource: host"
    assert words["15"] == "state E"


def test_an_own_job_that_cannot_be_read_is_a_problem_since_it_would_seem_to_have_ended() -> None:
    broken = JOBS.replace('"comment":"Job run', '"comment":inf"Job run')
    with pytest.raises(BatchProblemError, match=r"8\.pbs1"):
        parse_jobs(broken, "bench")
    assert parse_jobs(broken, "ann") == []


def test_an_own_job_of_unusual_values_is_still_listed() -> None:
    unusual = JOBS.replace('"job_state":"F",', '"job_state":["F"],').replace('"Exit_status":0', '"Exit_status":[0]')
    assert {job.job_id for job in parse_jobs(unusual, "bench")} == {job.job_id for job in parse_jobs(JOBS, "bench")}


def test_a_job_of_endless_brackets_is_skipped() -> None:
    deep = JOBS.replace('"EXTRA":007', '"EXTRA":' + "[" * 200_000)
    assert len(parse_jobs(deep, "bench")) == 7


def test_no_job_at_all_is_an_answer_and_other_words_are_none() -> None:
    assert parse_jobs(EMPTY, "bench") == []
    with pytest.raises(BatchProblemError, match="cannot connect"):
        parse_jobs("qstat: cannot connect to server pbs1 (errno=15010)\n", "bench")


def test_a_host_is_up_unless_one_of_its_states_keeps_jobs_away() -> None:
    hosts = {host.name: host.is_up for host in parse_hosts((DATA / "pbsnodes-a.json").read_text())}
    assert hosts == {"n1": True, "n2": True, "n3": False, "n4": False, "n5": False, "n6": True}


def test_a_job_is_submitted_alone_on_its_hosts_and_never_again_by_pbs() -> None:
    commands = Commands()
    commands.say("qsub", "8.pbs1\n")
    assert Pbs(CONFIG, commands).submit(wanted("n1", "n2")) == "8"
    [argv] = commands.of("qsub")
    assert argv[:8] == ["-N", "iotide-7-99", "-r", "n", "-j", "oe", "-o", "/dev/null"]
    assert argv[8:14] == [
        *("-l", "select=1:ncpus=1:host=n1+1:ncpus=1:host=n2"),
        *("-l", "place=scatter:exclhost", "-l", "walltime=12:00"),
    ]
    assert argv[14:16] == ["--partition=bench", "--"]
    assert Path(argv[16]).is_file()
    assert argv[17:] == [
        *("2", "/opt/iotide/bin/iotide-agent", "batch-run", "--config", "/etc/iotide/{node}.toml"),
        *("99", "n1=11", "n2=12"),
    ]


def test_jobs_that_ended_are_asked_for_and_a_job_is_deleted_by_its_number() -> None:
    commands = Commands()
    commands.say("qstat", EMPTY)
    commands.say("qdel")
    pbs = Pbs(CONFIG, commands)
    assert pbs.jobs() == []
    assert commands.of("qstat") == [["-x", "-f", "-F", "json"]]
    pbs.cancel("8")
    assert commands.of("qdel") == [["8"]]
