"""Fake LSF: output as in IBM's pages on LSF 10.1, since no real LSF is available.

The pages: "bjobs -o" and "Termination reasons displayed by bacct, bhist, and bjobs" (jobs), "Host status" (hosts),
"Example messages" (messages of bsub and the pending reasons), "bkill".
"""

from pathlib import Path

import pytest
from agent.batch.batch_replies import CONFIG, Commands, wanted

from iotide_agent.batch.lsf import Lsf, parse_hosts, parse_jobs
from iotide_agent.batch.system import BatchProblemError
from iotide_wire.batch import JobEnd, JobState

PENDING, RUNNING, ENDED = JobState.PENDING, JobState.RUNNING, JobState.ENDED
NOT_SATISFIED = "Job's resource requirements not satisfied: 2 hosts;"
HOSTS = """\
HOST_NAME          STATUS       JL/U    MAX  NJOBS   RUN  SSUSP  USUSP   RSV
hostA              ok            -      55    2      2    0      0       0
hostB              closed        -      20    16     16   0      0       0
hostC              unavail       -      20    0      0    0      0       0
hostD              closed_Adm    -      20    0      0    0      0       0
hostE              closed_Excl   -      20    20     20   0      0       0
hostF              unreach       -      20    0      0    0      0       0
"""


@pytest.mark.parametrize(
    ("printed", "state", "end", "words"),
    [
        (f"2812^PEND^iotide-7-99^-^{NOT_SATISFIED}", PENDING, None, NOT_SATISFIED.rstrip(";")),
        ("2812^PEND^iotide-7-99^-^-", PENDING, None, "PEND"),
        ("2812^PSUSP^iotide-7-99^-^-", PENDING, None, "PSUSP"),
        ("2812^RUN^iotide-7-99^-^-", RUNNING, None, ""),
        ("2812^SSUSP^iotide-7-99^-^-", RUNNING, None, "SSUSP"),
        ("2812^UNKWN^iotide-7-99^-^-", RUNNING, None, "UNKWN"),
        ("2812^DONE^iotide-7-99^-^-", ENDED, JobEnd.DONE, "DONE"),
        ("2812^EXIT^iotide-7-99^-^-", ENDED, JobEnd.FAILED, "EXIT"),
        ("2812^EXIT^iotide-7-99^TERM_OWNER: job killed by owner^-", ENDED, JobEnd.CANCELLED, ...),
        ("2812^EXIT^iotide-7-99^TERM_ADMIN: job killed by root or LSF administrator^-", ENDED, JobEnd.CANCELLED, ...),
        ("2812^EXIT^iotide-7-99^TERM_RUNLIMIT: job killed after reaching LSF run time limit^-", ENDED, ..., ...),
        (
            "2812^EXIT^iotide-7-99^TERM_MEMLIMIT: job killed after reaching LSF memory limit^-",
            ENDED,
            JobEnd.FAILED,
            ...,
        ),
    ],
)
def test_a_line_of_bjobs_says_where_a_job_is(printed: str, state: JobState, end: object, words: object) -> None:
    [job] = parse_jobs(printed + "\n")
    assert (job.run_id, job.fence, job.job_id, job.state) == (7, 99, "2812", state)
    assert job.end == (JobEnd.TIME_LIMIT if end is ... else end)
    assert job.words == (f"EXIT, {printed.split('^')[3]}" if words is ... else words)


def test_jobs_of_others_are_left_out() -> None:
    assert parse_jobs("1^RUN^verilog^-^-\n605^SSUSP^Test4^-^-\n") == []


def test_a_line_that_is_not_understood_is_shown_and_not_guessed_at() -> None:
    with pytest.raises(BatchProblemError, match="verilog"):
        parse_jobs("3926  user1    RUN   priority   hostF        hostC      verilog    Oct 22 13:51\n")


def test_no_job_at_all_is_an_answer() -> None:
    commands = Commands()
    commands.say("bjobs", status=255, stderr="No job found\n")
    assert Lsf(CONFIG, commands).jobs() == []


def test_an_lsf_that_does_not_answer_is_none() -> None:
    commands = Commands()
    commands.say("bjobs", status=255, stderr="LSF is down. Please wait ...\n")
    with pytest.raises(BatchProblemError, match="LSF is down"):
        Lsf(CONFIG, commands).jobs()


def test_a_host_that_is_only_full_is_up() -> None:
    hosts = {host.name: host.is_up for host in parse_hosts(HOSTS)}
    assert hosts == {"hostA": True, "hostB": True, "hostC": False, "hostD": False, "hostE": True, "hostF": False}


def test_unparseable_host_tables_are_shown() -> None:
    with pytest.raises(BatchProblemError, match="LSF is down"):
        parse_hosts("LSF is down. Please wait ...\n")


def test_a_job_is_submitted_alone_on_its_hosts_and_never_again_by_lsf() -> None:
    commands = Commands()
    commands.say("bsub", "Job <2812> is submitted to default queue <normal>.\n")
    assert Lsf(CONFIG, commands).submit(wanted("hostA", "hostB")) == "2812"
    [argv] = commands.of("bsub")
    assert argv[:6] == ["-x", "-rn", "-n", "2", "-R", "span[ptile=1]"]
    assert argv[6:12] == ["-m", "hostA hostB", "-W", "12", "-J", "iotide-7-99"]
    script = argv.index(next(word for word in argv if word.endswith("lsf-job.sh")))
    assert Path(argv[script]).is_file()
    assert argv[script + 1 :] == [
        *("2", "/opt/iotide/bin/iotide-agent", "batch-run", "--config", "/etc/iotide/{node}.toml"),
        *("99", "hostA=11", "hostB=12"),
    ]


def test_a_rejection_by_lsf_is_reported_with_its_message() -> None:
    commands = Commands()
    commands.say("bsub", status=255, stderr="User cannot use the queue. Job not submitted.\n")
    with pytest.raises(BatchProblemError, match="User cannot use the queue"):
        Lsf(CONFIG, commands).submit(wanted("hostA"))


def test_a_job_is_killed_by_its_number() -> None:
    commands = Commands()
    commands.say("bkill", "Job <2812> is being terminated\n")
    Lsf(CONFIG, commands).cancel("2812")
    assert commands.of("bkill") == [["2812"]]
