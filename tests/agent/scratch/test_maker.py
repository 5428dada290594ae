"""The workload `scratch` with the real root program: a make, its record, and the cleaning."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from agent.scratch.test_service import answer, connected, served

from iotide_agent.node.scratch_sets import HELPER
from iotide_agent.workloads.base import Before, Counters, OutputRefusedError, Place, Step, StepOutcome
from iotide_agent.workloads.scratch import FENCE, ORDER, ScratchOptions, ScratchWorkload
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


def place(order: int = 7) -> Place:
    facts: Facts = {ORDER: order, FENCE: 11}
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


@pytest.mark.parametrize("options", [{"verb": "make"}, {"verb": "clean", "make": MAKE}])
def test_only_a_make_has_a_file_system(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="only there"):
        ScratchOptions.model_validate({"set": "bays", **options})


def test_the_load_is_a_program_of_the_standard_library() -> None:
    argv = step_of(ScratchOptions(set="bays", make=MAKE)).argv
    done = subprocess.run([*argv[:4]], capture_output=True, text=True, check=False)
    assert (argv[0], done.returncode) == (sys.executable, 2)
    assert done.stderr.startswith("Has the root helper")
