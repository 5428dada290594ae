"""Other jobs on a node, parsed from the output of batch tools."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from iotide_agent.admission.neighbours import COMMAND_SECONDS, look_around, own_ancestors
from iotide_agent.judging.quiet import Neighbours
from iotide_agent.probes.reader import CommandWant, Reader, SystemReader, Unavailable, Want

WHO = """\
ada      pts/0        Nov 22 18:58 00:05        1234 (10.0.0.7)
ada      pts/1        Nov 22 18:59   .          1300 (10.0.0.7)
root     tty1         Nov 20 07:01  old          812
grace    :0           2026-11-22 09:30   ?      2201 (:0)
"""
BJOBS = """\
JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME
1266    user1   RUN   normal     hosta       hostb       sim        Aug  9 16:02
1267    user2   SSUSP normal     hosta       hostb       *pc -a 5   Aug  9 16:03
1268    user2   PEND  normal     hosta                   next       Aug  9 16:04
"""
"""Columns as in IBM's manual of `bjobs`."""


class Tools(Reader):
    """Fake output by tool; other tools are not installed."""

    def __init__(self, printed: Mapping[str, str]) -> None:
        self.printed = printed
        self.asked: list[tuple[str, ...]] = []

    def read(self, want: Want) -> str | Unavailable:
        assert isinstance(want, CommandWant)
        self.asked.append(want.argv)
        return self.printed.get(want.argv[0], Unavailable(f"{want.argv[0]} is not installed"))


def look(
    printed: Mapping[str, str], environment: Mapping[str, str] | None = None, own: frozenset[int] = frozenset()
) -> Neighbours:
    return look_around(Tools(printed), "hostb", environment or {}, own)


def test_a_node_without_any_of_the_tools_says_nothing() -> None:
    assert look({}) == Neighbours(sessions=None, jobs=None)


def test_sessions_of_people_are_counted_without_the_one_that_started_the_agent() -> None:
    assert look({"who": ""}).sessions == 0
    assert look({"who": WHO}).sessions == 4
    assert look({"who": WHO}, own=frozenset({1300, 1, 99})).sessions == 3


def test_jobs_of_slurm_are_those_that_it_has_on_the_host() -> None:
    tools = Tools({"squeue": "4711\n4712\n4711\n"})
    assert look_around(tools, "hostb", {}, ()).jobs == ("4711", "4712")
    assert ("squeue", "-h", "-w", "hostb", "-o", "%A") in tools.asked
    assert look({"squeue": ""}).jobs == ()


def test_jobs_of_lsf_are_those_that_have_processes_on_the_host() -> None:
    tools = Tools({"bjobs": BJOBS})
    assert look_around(tools, "hostb", {}, ()).jobs == ("1266", "1267")
    assert ("bjobs", "-u", "all", "-m", "hostb") in tools.asked


@pytest.mark.parametrize(
    ("said", "jobs"),
    [
        ("No unfinished job found\n", ()),
        ("No unfinished job found on host hostb\n", ()),
        ("LSF is down. Please wait ...\n", None),
        ("hostb: Bad host name, host group name or cluster name\n", None),
    ],
)
def test_an_lsf_that_does_not_answer_is_not_taken_for_an_empty_one(said: str, jobs: tuple[str, ...] | None) -> None:
    assert look({"bjobs": said}).jobs == jobs


@pytest.mark.parametrize(("variable", "tool"), [("SLURM_JOB_ID", "squeue"), ("LSB_JOBID", "bjobs")])
def test_the_job_of_the_agent_is_not_other_load(variable: str, tool: str) -> None:
    printed = {"squeue": "1266\n", "bjobs": BJOBS.replace("1267", "1266")}[tool]
    assert look({tool: printed}, {variable: "1266"}).jobs == ()


def test_this_process_is_its_own_ancestor_and_init_is_nobodys_session() -> None:
    assert {os.getpid(), os.getppid()} - {0, 1} <= own_ancestors()


def test_a_batch_system_that_hangs_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for tool, body in (("squeue", "exec sleep 60"), ("bjobs", "echo No unfinished job found >&2; exit 255")):
        (tmp_path / tool).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / tool).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    found = look_around(SystemReader(command_seconds=COMMAND_SECONDS / 20), "hostb", {}, ())
    assert found.jobs == ()
