"""Tests that every workload of iotide must pass, with the real tools."""

import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from iotide_agent.workloads.base import OutputRefusedError, Parsed, Place, Step, StepOutcome
from iotide_sha256.workload import Sha256Options, Sha256Workload
from iotide_wire.expressions import evaluate
from iotide_wire.measured import FlagCode

MIB = 1024**2
SHA256 = Sha256Workload()
OPTIONS = Sha256Options(file_size_bytes=4 * MIB)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a run's own directory, as the agent makes it on a target."""
    directory, scratch = tmp_path / "run", tmp_path / "scratch"
    directory.mkdir()
    scratch.mkdir()
    return Place(
        target_id=1,
        directory=directory,
        scratch=scratch,
        fstype="ext4",
        direct_works=True,
        total_bytes=2**40,
        free_bytes=2**39,
        facts={"memory.total_bytes": 2**33},
    )


def outcome_of(step: Step, place: Place) -> StepOutcome:
    """Run the step. The agent's runner also records more and drops the caches before."""
    started_at, started = datetime.now(UTC), time.monotonic()
    done = subprocess.run(step.argv, cwd=place.scratch, capture_output=True, text=True, check=False)
    return StepOutcome(
        step=step,
        stdout=done.stdout,
        stderr=done.stderr,
        truncated=False,
        files={},
        exit_status=done.returncode,
        signal=None,
        started_at=started_at,
        wall_seconds=time.monotonic() - started,
        user_seconds=0,
        system_seconds=0,
        max_rss_bytes=0,
        before_done=step.before,
    )


@pytest.fixture
def outcomes(place: Place) -> list[StepOutcome]:
    """Return the results of all steps of a small run."""
    return [outcome_of(step, place) for group in SHA256.groups(OPTIONS, place) for step in group]


def read(place: Place, outcomes: list[StepOutcome]) -> Parsed:
    return Parsed.of_all(SHA256.read(OPTIONS, place, outcome) for outcome in outcomes)


def test_options_are_a_form_with_titles_units_limits_and_defaults() -> None:
    properties = SHA256.options_schema()["properties"]
    assert properties
    for option, field in properties.items():
        assert field.keys() >= {"title", "description", "default", "minimum", "maximum"}, option
        assert field["x-unit"] == "bytes", option


def test_space_is_foreseen_and_time_from_what_is_moved() -> None:
    values = OPTIONS.model_dump(mode="json")
    assert evaluate(SHA256.bytes_needed, values) == 4 * MIB
    assert evaluate(SHA256.bytes_moved, values) == 8 * MIB


def test_commands_stay_in_the_runs_own_directory(place: Place) -> None:
    steps = [step for group in SHA256.groups(OPTIONS, place) for step in group]
    paths = [Path(argument.rpartition("=")[2]) for step in steps for argument in step.argv if "/" in argument]
    assert {path.parent for path in paths} == {Path("/dev"), place.directory}


def test_the_real_tool_yields_the_declared_metric(place: Place, outcomes: list[StepOutcome]) -> None:
    assert [SHA256.failure(outcome) for outcome in outcomes] == [None, None]
    [sample] = read(place, outcomes).samples
    assert [metric.name for metric in SHA256.metrics] == [sample.metric]
    assert sample.value == pytest.approx(4 * MIB / outcomes[1].wall_seconds)


def test_what_keeps_the_number_from_being_believed_is_flagged(place: Place, outcomes: list[StepOutcome]) -> None:
    codes = {flag.code for flag in read(place, outcomes).flags}
    assert codes == {FlagCode.ZEROES, FlagCode.DURATION, FlagCode.CACHE_SIZE}


def test_output_cut_at_any_byte_is_refused(place: Place, outcomes: list[StepOutcome]) -> None:
    hashed = outcomes[1]
    for end in range(len(hashed.stdout)):
        with pytest.raises(OutputRefusedError):
            SHA256.read(OPTIONS, place, replace(hashed, stdout=hashed.stdout[:end]))


def test_failure_is_named_by_the_tools_own_words(place: Place) -> None:
    [[_], [hashing]] = SHA256.groups(OPTIONS, place)
    assert "No such file or directory" in str(SHA256.failure(outcome_of(hashing, place)))
