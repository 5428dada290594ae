"""MPI program by two real runners with a shared directory: from the endpoint to the removal of the files."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent.mpi.gang_run import FENCE, GangRun
from agent.mpi.test_real_mpich import BLOCK_BYTES, RANKS, expected
from agent.order_rig import Rig, eventually, step, target_card
from made_mounts import as_root

from iotide_agent.mpi.groups import LINGER_SECONDS
from iotide_agent.mpi.part import HeadPart
from iotide_agent.runner import GANG
from iotide_agent.runner.card import StepCard
from iotide_agent.runner.endings import RunEndedError
from iotide_agent.runner.hand import HandLimits, Hands, go_on
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.workspace import mark

MakeRun = Callable[..., GangRun]
LIMIT_SECONDS = 5.0
OTHER_USER = "12001"


def writing(program: str, run: GangRun, *, name: str = "write", blocks: int = 16) -> StepCard:
    return step(program, str(run.place / "file"), str(blocks), name=name, before="drop")


def test_two_steps_on_two_nodes_run_and_leave_nothing(make_gang_run: MakeRun, writes_by_rank: str) -> None:
    run = make_gang_run()
    head, member = run.run(
        [writing(writes_by_rank, run)],
        [step("sh", "-c", f"cp {run.place}/file {run.base}/copy.$PMI_RANK", name="copy")],
        [writing(writes_by_rank, run, name="again")],
    )
    assert (head["code"], member["code"]) == (None, None)
    assert [one["exit_status"] for one in head["steps"]] == [0, 0, 0]
    assert [(one["name"], one["exit_status"]) for one in member["steps"]] == [("write", 0), ("copy", 0), ("again", 0)]
    assert head["steps"][0]["argv"][0].endswith("mpiexec.hydra")
    assert head["steps"][0]["argv"][-3:] == [writes_by_rank, str(run.place / "file"), "16"]
    assert member["steps"][0]["argv"][0].endswith("hydra_pmi_proxy")
    assert run.head.output("000-write.stdout") == f"ranks=4 bytes={16 * RANKS * BLOCK_BYTES}\n"
    assert [(run.base / f"copy.{rank}").read_bytes() == expected(16) for rank in range(RANKS)] == [True] * RANKS
    assert list(run.shared.iterdir()) == []
    assert run.alive() == []
    assert head["gang"]["left_over"] == {"n2": 0}
    assert (member["gang"]["refused"], member["gang"]["strangers"]) == ({}, {})
    assert head["removed"] == [str(run.place)]
    assert member["removed"] == member["leftovers"] == []


def test_a_member_listens_before_the_start_signal_and_only_its_own_user_reads_its_token(
    make_gang_run: MakeRun,
) -> None:
    run = make_gang_run()
    run.prepare()
    phase = run.member.phase()
    token = phase["token"]
    assert (len(token), phase["address"], len(phase["ports"])) == (32, "127.0.0.2", 1)
    holding = [file for rig in run.rigs for file in rig.directory.iterdir() if file.is_file() and token in text(file)]
    assert {(file.parents[2].name, file.name) for file in holding} == {
        ("head", "members.json"),
        ("member", "phase.json"),
    }
    assert {stat.S_IMODE(file.stat().st_mode) for file in holding} == {0o600}
    said = [Path(f"/proc/{rig.process.pid}/cmdline").read_text() for rig in run.rigs if rig.process]
    assert not any(token in words for words in said)


def text(file: Path) -> str:
    return file.read_text(errors="replace")


def refused(run: GangRun) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return both ends of a run that starts nothing."""
    head, member = run.run([step("true", name="write")])
    assert (head["outcome"], head["steps"], member["steps"]) == ("declined", [], [])
    assert list(run.shared.iterdir()) == []
    return head, member


def test_another_file_system_at_the_same_path_is_refused(make_gang_run: MakeRun, tmp_path: Path) -> None:
    """The member sees a directory of that name in another parent, as if the file system were not mounted there."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    run = make_gang_run(
        member={"targets": (target_card(elsewhere, writes=False, shared=True),), "approved": [str(elsewhere)]}
    )
    head, member = refused(run)
    assert head["code"] == member["code"] == "other_path"
    assert f"node n2: the head works in {run.place}, which is {elsewhere}/" in head["reason"]


def test_a_member_that_does_not_see_the_heads_directory_is_refused(make_gang_run: MakeRun) -> None:
    run = make_gang_run()
    run.prepare()
    run.place.rename(run.shared / "away")
    run.go([step("true", name="write")])
    head, member = run.head.until_ended(), run.member.until_ended()
    assert (head["code"], member["code"]) == ("other_file_system", "other_file_system")
    assert "node n2: " in head["reason"]
    assert "mount the same one on all nodes of the run" in head["reason"]


@pytest.mark.parametrize("left", [mark(7, FENCE - 1, "", "/"), mark(9, FENCE, "", "/"), b"", None])
def test_a_stale_or_missing_mark_is_refused(make_gang_run: MakeRun, left: bytes | None) -> None:
    run = make_gang_run()
    run.prepare()
    marker = run.place / ".iotide-marker"
    marker.unlink()
    if left is not None:
        marker.write_bytes(left)
    run.go([step("true", name="write")])
    head, member = run.head.until_ended(), run.member.until_ended()
    assert (head["code"], member["code"]) == ("stale_mark", "stale_mark")
    assert "has the mark of another attempt, or none" in head["reason"]
    assert run.place.exists() is bool(left), "a directory with a mark of another order is not the head's"


def test_a_link_in_the_place_of_the_directory_is_refused(make_gang_run: MakeRun, tmp_path: Path) -> None:
    run = make_gang_run()
    run.prepare()
    run.place.rename(tmp_path / "real")
    run.place.symlink_to(tmp_path / "real")
    run.go([step("true", name="write")])
    assert run.head.until_ended()["outcome"] == "declined"
    assert not (tmp_path / "real" / ".iotide-proof-1").exists()


def test_a_member_that_is_another_user_on_the_target_is_refused(make_gang_run: MakeRun) -> None:
    """As with different numeric users on two nodes: the directory of the one belongs to a stranger for the other."""
    run = make_gang_run()
    run.prepare()
    subprocess.run(as_root("chown", OTHER_USER, str(run.place)), check=True)
    run.go([step("true", name="write")])
    head, member = run.head.until_ended(), run.member.until_ended()
    subprocess.run(as_root("chown", str(os.getuid()), str(run.shared)), check=True)
    assert (head["code"], member["code"], head["outcome"]) == ("other_user", "other_user", "declined")
    assert "node n2: " in head["reason"]
    assert "run the loads as the same numeric user on all nodes" in head["reason"]


def test_a_wrong_token_starts_nothing(make_gang_run: MakeRun) -> None:
    run = make_gang_run()
    run.prepare()
    run.pass_endpoint("0" * 32)
    run.head.go([step("true", name="write")])
    head = run.head.until_ended()
    assert (head["code"], head["steps"]) == ("member_unreachable", [])
    run.member.cancel()
    member = run.member.until_ended()
    assert set(member["gang"]["strangers"]) == {"junk"}
    assert member["steps"] == []


def waiting(run: GangRun, program: str) -> None:
    """Bring a run to the point at which its four ranks wait for a signal."""
    run.prepare()
    run.go([step(program, str(run.place / "file"), "2", "wait", name="write")])
    eventually(lambda: (run.head.directory / "out").exists() and "all ranks wait" in text_of_errors(run))
    assert len([one for one in run.alive() if one.name == "writes_by_rank"]) == RANKS


def text_of_errors(run: GangRun) -> str:
    file = run.head.directory / "out" / "000-write.stderr"
    return file.read_text() if file.exists() else ""


def kill_runner(rig: Rig) -> None:
    assert rig.process is not None
    rig.process.kill()
    rig.process.wait()


def test_a_killed_runner_of_the_head_leaves_nothing(make_gang_run: MakeRun, writes_by_rank: str) -> None:
    run = make_gang_run()
    waiting(run, writes_by_rank)
    kill_runner(run.head)
    member = run.member.until_ended()
    assert member["code"] == "head_lost"
    run.head.start("--aftermath")
    head = run.head.until_ended()
    assert (head["code"], head["leftovers"]) == ("runner_died", [])
    assert run.alive() == []
    assert list(run.shared.iterdir()) == []


def test_the_aftermath_of_a_killed_runner_of_a_member_ends_its_ranks_and_removes_nothing(
    make_gang_run: MakeRun, writes_by_rank: str
) -> None:
    run = make_gang_run()
    waiting(run, writes_by_rank)
    kill_runner(run.member)
    run.member.start("--aftermath")
    member = run.member.until_ended()
    assert (member["code"], member["leftovers"], member["removed"]) == ("runner_died", [], [])
    head = run.head.until_ended()
    assert head["code"] in {"member_lost", "step_failed"}
    assert head["removed"] == [str(run.place)]
    assert run.alive() == []
    assert list(run.shared.iterdir()) == []


@pytest.mark.parametrize("victim", ["writes_by_rank", "hydra_pmi_proxy", "mpiexec.hydra"])
def test_a_killed_process_of_the_run_leaves_nothing(make_gang_run: MakeRun, writes_by_rank: str, victim: str) -> None:
    run = make_gang_run()
    waiting(run, writes_by_rank)
    found = [one.pid for one in run.alive() if one.name == victim]
    os.kill(found[-1], signal.SIGKILL)
    head, member = run.head.until_ended(), run.member.until_ended()
    assert head["outcome"] == "failed"
    assert run.alive() == []
    assert (head["leftovers"], member["leftovers"]) == ([], [])
    assert list(run.shared.iterdir()) == []


def test_a_cancelled_head_has_the_members_end_before_it_removes_the_files(
    make_gang_run: MakeRun, writes_by_rank: str
) -> None:
    run = make_gang_run()
    waiting(run, writes_by_rank)
    run.head.cancel()
    head = run.head.until_ended()
    assert (head["outcome"], head["leftovers"]) == ("cancelled", [])
    assert "n2" in head["gang"]["left_over"], "the member said that nothing of it lives"
    run.member.until_ended()
    assert run.alive() == []
    assert list(run.shared.iterdir()) == []


def test_a_launcher_of_another_user_is_not_started(make_gang_run: MakeRun, tmp_path: Path) -> None:
    launcher = tmp_path / "mpiexec"
    launcher.write_text("#!/bin/sh\n")
    run = make_gang_run(head={"gang": {"launcher": (str(launcher),)}})
    run.head.start(GANG)
    head = run.head.until_ended()
    assert (head["outcome"], head["code"]) == ("declined", "mpi_program_missing")
    assert "cannot be started by user" in head["reason"]
    assert list(run.shared.iterdir()) == []


def test_a_head_whose_loads_cannot_start_its_python_is_refused(
    make_gang_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with an agent in a home directory that only its own user may enter."""
    run = make_gang_run()
    gang = run.head.card.gang
    assert gang is not None
    part = HeadPart(run.head.card, gang, run.head.directory, Loop())
    monkeypatch.setattr(sys, "executable", str(run.base / "no-python"))
    with pytest.raises(RunEndedError, match="cannot start the agent's Python") as ended:
        part.check_programs(Hands(Loop()), HandLimits(10.0, 10.0), go_on)
    assert (ended.value.outcome, ended.value.code) == ("declined", "no_remote_start")


def test_a_launcher_that_lingers_after_the_whole_output_is_killed_and_the_run_is_finished(
    make_gang_run: MakeRun,
) -> None:
    run = make_gang_run()
    hanging = step("sh", "-c", "echo finished; exec sleep 100", name="write")._replace(end_mark="finished")
    head, member = run.run([hanging])
    assert (head["outcome"], head["code"]) == ("finished", None)
    assert head["steps"][0]["launcher_hung"] is True
    assert LINGER_SECONDS <= head["steps"][0]["wall_seconds"] < 2 * LINGER_SECONDS
    assert head["gang"]["hung_steps"] == ["write"]
    assert member["outcome"] == "finished"
    assert run.alive() == []


def test_cpu_time_of_a_process_that_its_parent_left_is_that_of_the_run(make_gang_run: MakeRun) -> None:
    """IOzone's parts fork and end at once; what their processes use would look like the load of others."""
    program = """
import os, time
read, write = os.pipe()
if os.fork() == 0:
    while time.thread_time() < 0.5:
        pass
else:
    os.close(write)
    os.read(read, 1)
"""
    run = make_gang_run()
    head, member = run.run([step(sys.executable, "-ISc", program, name="write")])
    assert (head["code"], member["code"]) == (None, None)
    used = [ended["steps"][0]["user_seconds"] + ended["steps"][0]["system_seconds"] for ended in (head, member)]
    assert min(used) >= 2 * 0.5, "each node has two tasks"


def stalling(run: GangRun, rank: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a step in which one rank writes each second, and all others sleep for longer than the limit."""
    busy = f"for second in 1 2 3 4 5 6; do echo $second >>{run.place}/file; sleep 1; done"
    words = f"if [ $PMI_RANK = {rank} ]; then {busy}; else exec sleep 6; fi"
    return run.run([step("sh", "-c", words, name="write")._replace(stall_seconds=3.0)])


def test_a_step_does_not_stall_while_another_node_moves_bytes(make_gang_run: MakeRun) -> None:
    head, _ = stalling(make_gang_run(), rank=2)
    assert (head["code"], head["steps"][0]["exit_status"]) == (None, 0)


def test_a_step_stalls_if_no_node_moves_a_byte(make_gang_run: MakeRun) -> None:
    run = make_gang_run()
    head, _ = stalling(run, rank=9)
    assert head["code"] == "stalled"
    assert run.alive() == []
