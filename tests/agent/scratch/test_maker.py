"""The workload `scratch` with the real root program: a make, its record, and the cleaning."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from agent.scratch.test_service import answer, connected, served

from iotide_agent.loads import scratch_set
from iotide_agent.node.scratch_sets import HELPER
from iotide_agent.scratch.stack import exports_of
from iotide_agent.workloads.base import (
    Before,
    Counters,
    OutputRefusedError,
    Place,
    PlanRefusedError,
    Step,
    StepOutcome,
)
from iotide_agent.workloads.scratch import FENCE, ORDER, REMOUNTS, ScratchOptions, ScratchWorkload
from iotide_wire.facts import Facts
from iotide_wire.measured import StepRole

MAKE: dict[str, Any] = {"layout": {"kind": "single"}, "fs": {"type": "ext4"}, "mount": {"noatime": True}}
WORKLOAD = ScratchWorkload()


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """Yield the directory of a served program. A failed test must not leave a mount there."""
    yield tmp_path
    if mounted(tmp_path):
        subprocess.run(("umount", tmp_path / "mounts/bays"), check=True)


def place(order: int = 7, remounts: str = "[]") -> Place:
    facts: Facts = {ORDER: order, FENCE: 11, REMOUNTS: remounts}
    return Place(None, Path("/run"), Path("/run"), "", False, 0, 0, facts, step_role=StepRole.MAKER)


def step_of(options: ScratchOptions, order: int = 7) -> Step:
    ((step,),) = WORKLOAD.groups(options, place(order))
    return step


def outcome_of(step: Step, stdout: str, stderr: str = "", status: int = 0) -> StepOutcome:
    return StepOutcome(
        step=step,
        stdout=stdout,
        stderr=stderr,
        truncated=False,
        files={},
        exit_status=status,
        signal=None,
        started_at=datetime(2026, 11, 30, tzinfo=UTC),
        wall_seconds=1.0,
        user_seconds=0.0,
        system_seconds=0.0,
        max_rss_bytes=0,
        before_done=Before.NONE,
    )


def perform(socket: Path, options: ScratchOptions, order: int = 7) -> StepOutcome:
    """Run the workload's command with this socket instead of the node's."""
    step = step_of(options, order)
    argv = [str(socket) if part == str(HELPER) else part for part in step.argv]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return outcome_of(step, done.stdout, done.stderr, done.returncode)


def state(socket: Path) -> str:
    with connected(socket) as asking:
        (listed,) = answer(asking, {"verb": "list"})["sets"]
    return str(listed["disks"][0]["state"])


def mounted(directory: Path) -> Sequence[str]:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [line for line in lines if line.split()[4] == str(directory / "mounts/bays")]


def test_a_make_mounts_what_was_asked_for_and_a_cleaning_leaves_nothing(directory: Path) -> None:
    makes, cleans = ScratchOptions(set="bays", make=MAKE), ScratchOptions(set="bays", verb="clean")
    with served(directory, 2.0) as (socket, _):
        made = perform(socket, makes)
        assert WORKLOAD.failure(made) is None, made.stderr
        assert not WORKLOAD.read(makes, place(), made).samples
        (line,) = mounted(directory)
        assert " - ext4 " in line
        assert "noatime" in line
        assert state(socket) == "made"
        again = perform(socket, makes, order=8)
        assert WORKLOAD.failure(again) is None, "a make removes what the previous order left"
        cleaned = perform(socket, cleans)
        assert not WORKLOAD.read(cleans, place(), cleaned).flags
        assert not mounted(directory)
        assert state(socket) == "clean"


def test_a_make_for_clients_exports_its_mount_and_records_how(directory: Path) -> None:
    makes = ScratchOptions(set="bays", make=MAKE, clients=("node02",))
    with served(directory, 2.0) as (socket, _):
        made = perform(socket, makes)
        assert WORKLOAD.failure(made) is None, made.stderr
        assert not WORKLOAD.read(makes, place(), made).samples
        exported = json.loads(made.stdout.splitlines()[-1])
        assert exported["verb"] == "export"
        assert "all_squash" in exported["answer"]["options"]
        assert exports_of(str(directory / "mounts/bays")) == ["10.0.0.2"]
        unknown = perform(socket, ScratchOptions(set="bays", make=MAKE, clients=("node09",)), order=8)
        assert "export: refused: scratch.toml has no address of node09" in str(WORKLOAD.failure(unknown))
        assert not exports_of(str(directory / "mounts/bays"))
        perform(socket, ScratchOptions(set="bays", verb="clean"))


def test_a_client_mounts_by_the_commands_of_its_own_node() -> None:
    options = ScratchOptions(set="bays", verb="mount", paths=("/mnt/bays", "/mnt/more"))
    commands = [["sudo", "-n", "/usr/local/sbin/remount"], ["/usr/local/sbin/remount-more"]]
    groups = WORKLOAD.groups(options, place(remounts=json.dumps(commands)))
    assert [(step.name, list(step.argv)) for (step,) in groups] == [("mount-1", commands[0]), ("mount-2", commands[1])]
    ((step,), _) = groups
    assert WORKLOAD.read(options, place(), outcome_of(step, "mounted\n")).samples == ()
    assert "ended with status 32: mount.nfs: access denied" in str(
        WORKLOAD.failure(outcome_of(step, "", "mount.nfs: access denied\n", 32))
    )
    with pytest.raises(PlanRefusedError, match=r"no command that mounts /mnt/more; add one to \[remount_command\]"):
        WORKLOAD.groups(options, place(remounts=json.dumps([commands[0], []])))


def test_a_refused_make_fails_with_the_root_programs_reason(directory: Path) -> None:
    too_many = MAKE | {"layout": {"kind": "btrfs", "profile": "raid1", "disks": 2}, "fs": {"type": "btrfs"}}
    with served(directory, 2.0) as (socket, _):
        failed = perform(socket, ScratchOptions(set="bays", make=too_many))
    reason = WORKLOAD.failure(failed)
    assert reason is not None
    assert "make: refused: " in reason


def test_records_of_other_operations_are_refused() -> None:
    options = ScratchOptions(set="bays", make=MAKE)
    with pytest.raises(OutputRefusedError, match="the plan was recover, make, mount"):
        WORKLOAD.read(
            options, place(), outcome_of(step_of(options), '{"verb": "recover", "outcome": "done", "commands": []}\n')
        )
    with pytest.raises(OutputRefusedError, match="is invalid"):
        WORKLOAD.read(options, place(), outcome_of(step_of(options), "Segmentation fault\n"))


@pytest.mark.parametrize(
    ("tail", "ratio"),
    [('{"progress": "1200 / 4800"}\n', 0.25), ('{"progress": null}\n', None), ("", None), ("{", None)],
)
def test_progress_is_that_of_an_arrays_synchronisation(tail: str, ratio: float | None) -> None:
    step = step_of(ScratchOptions(set="bays", make=MAKE))
    assert WORKLOAD.progress(step, Counters(0, 0, 1.0), tail) == ratio


@pytest.mark.parametrize(
    "options",
    [
        {"verb": "make"},
        {"verb": "clean", "make": MAKE},
        {"verb": "clean", "clients": ["node02"]},
        {"verb": "mount"},
        {"make": MAKE, "paths": ["/mnt/bays"]},
    ],
)
def test_each_operation_has_its_own_options(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="only"):
        ScratchOptions.model_validate({"set": "bays", **options})


def test_the_load_is_a_program_of_the_standard_library() -> None:
    argv = step_of(ScratchOptions(set="bays", make=MAKE)).argv
    done = subprocess.run([*argv[:4]], capture_output=True, text=True, check=False)
    assert (argv[0], done.returncode) == (sys.executable, 2)
    assert done.stderr.startswith("Has the root helper")


@pytest.mark.parametrize(
    ("began_s", "is_same", "is_accepted"),
    [(100, False, True), (10**10, True, True), (100, True, False)],
    ids=["the clock was set back", "the same within a second", "the helper was ended"],
)
def test_a_record_is_of_this_operation_unless_it_was_there_before(
    tmp_path: Path, began_s: int, *, is_same: bool, is_accepted: bool
) -> None:
    record = {"verb": "recover", "order": 0, "fence": 0, "outcome": "done", "commands": [], "began_s": began_s}
    before = record if is_same else record | {"began_s": 99}
    answers = [
        {"running": None, "last": {"bays": before}},
        {"accepted": True},
        {"running": None, "last": {"bays": record}},
    ]
    path = tmp_path / "scratch.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(path))
        listening.listen()
        command = (sys.executable, scratch_set.__file__, str(path), '[{"verb": "recover", "set": "bays"}]')
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as load:
            for found in answers:
                connection, _ = listening.accept()
                with connection:
                    connection.recv(1000)
                    connection.send(json.dumps(found).encode())
            _, said = load.communicate(timeout=30)
    assert load.returncode == (0 if is_accepted else 1)
    assert ("the helper has no record of it" in said) is not is_accepted
