import subprocess
import sys
from dataclasses import replace

import pytest
from factories.outcomes import read_all, run_steps, steps_of
from pydantic import ValidationError

from iotide_agent.workloads.base import Before, Counters, OutputRefusedError, Place
from iotide_agent.workloads.create import CreateOptions, CreateWorkload
from iotide_wire.messages import FlagCode, FlagEffect

CREATE = CreateWorkload()
COUNTERS = Counters(0, 0, 1.0)


@pytest.mark.parametrize("mode", ["native", "fork-touch"])
def test_files_are_really_made_looked_up_and_removed(mode: str, place: Place) -> None:
    options = CreateOptions.model_validate({"file_count": 300, "mode": mode})
    create, stat, delete = steps_of(CREATE, options, place)

    made = run_steps([create], place)
    files = place.directory / "files-1/d0"
    assert max(path.name for path in files.iterdir()) == "p1-00000299"
    parsed = read_all(CREATE, options, place, [*made, *run_steps([stat, delete], place)])

    assert list(files.iterdir()) == []
    rates = {sample.labels["operation"]: sample.value for sample in parsed.samples if sample.metric == "operation_rate"}
    seconds = {sample.labels["operation"]: sample.value for sample in parsed.samples if sample.metric == "duration"}
    assert rates == {part: pytest.approx(300 / seconds[part]) for part in ("create", "stat", "delete")}
    assert seconds.keys() == {"create", "directory_fsync", "stat", "delete"}


def test_fork_touch_starts_the_real_touch_and_is_marked_for_it(place: Place) -> None:
    options = CreateOptions(file_count=20, mode="fork-touch")
    outcomes = run_steps(steps_of(CREATE, options, place)[:1], place)
    [flag] = [flag for flag in read_all(CREATE, options, place, outcomes).flags if flag.code is FlagCode.FORK_BOUND]
    assert flag.effect is FlagEffect.MARKED
    assert "ms a file" in flag.measured


def test_native_mode_is_not_fork_bound(place: Place) -> None:
    options = CreateOptions(file_count=20)
    flags = read_all(CREATE, options, place, run_steps(steps_of(CREATE, options, place), place)).flags
    assert FlagCode.FORK_BOUND not in {flag.code for flag in flags}
    assert FlagCode.DURATION in {flag.code for flag in flags}


def test_looking_up_is_warm_where_no_cache_was_dropped(place: Place) -> None:
    options = CreateOptions(file_count=20)
    create, stat, _ = run_steps(steps_of(CREATE, options, place), place)
    warm = read_all(CREATE, options, place, [create, replace(stat, before_done=Before.SYNC)])
    cold = read_all(CREATE, options, place, [create, replace(stat, before_done=Before.DROP)])
    assert FlagCode.CACHE_DROP in {flag.code for flag in warm.flags}
    assert FlagCode.CACHE_DROP not in {flag.code for flag in cold.flags}


def test_file_that_exists_ends_the_run_with_its_name(place: Place) -> None:
    options = CreateOptions(file_count=20)
    create, _, delete = steps_of(CREATE, options, place)
    run_steps([create], place)
    [again] = run_steps([create], place)
    reason = CREATE.failure(again)
    assert reason is not None
    assert "File exists" in reason
    _, gone = run_steps([delete, delete], place)
    assert "No such file or directory (p1-00000000)" in (CREATE.failure(gone) or "")


def test_cut_output_is_right_or_refused_at_every_byte(place: Place) -> None:
    options = CreateOptions(file_count=20)
    outcomes = run_steps(steps_of(CREATE, options, place), place)
    for outcome in outcomes:
        whole = read_all(CREATE, options, place, [outcome])
        for end in range(len(outcome.stdout)):
            cut = replace(outcome, stdout=outcome.stdout[:end])
            try:
                assert read_all(CREATE, options, place, [cut]) == whole
            except OutputRefusedError:
                continue


@pytest.mark.parametrize(
    "printed",
    [
        "",
        "{}",
        '{"operation": "create", "file_count": 19, "seconds": 1.0, "directory_fsync_seconds": 0.1}',
        '{"operation": "create", "file_count": 20, "seconds": 1.0}',
        '{"operation": "touch", "file_count": 20, "seconds": 1.0, "directory_fsync_seconds": 0.1}',
        '{"operation": "create", "file_count": 20, "seconds": 0, "directory_fsync_seconds": 0.1}',
        '{"operation": "create", "file_count": 20, "seconds": NaN, "directory_fsync_seconds": 0.1}',
    ],
)
def test_output_that_contradicts_the_plan_is_refused(printed: str, place: Place) -> None:
    options = CreateOptions(file_count=20)
    [create] = run_steps(steps_of(CREATE, options, place)[:1], place)
    with pytest.raises(OutputRefusedError, match="step create"):
        read_all(CREATE, options, place, [replace(create, stdout=printed)])


def test_progress_is_the_last_count_that_was_printed(place: Place) -> None:
    create, *_ = steps_of(CREATE, CreateOptions(file_count=1000), place)
    assert CREATE.progress(create, COUNTERS, "") is None
    assert CREATE.progress(create, COUNTERS, "done 100\ndone 250\ndon") == 0.25


def test_load_refuses_a_call_it_does_not_know() -> None:
    load = CREATE.groups.__globals__["_LOAD"]
    called = subprocess.run([sys.executable, load, "shred", "/", "1"], capture_output=True, text=True, check=False)
    assert called.returncode == 2
    assert "Usage: create_files.py" in called.stderr


@pytest.mark.parametrize("changed", [{"file_count": 0}, {"file_count": 10_000_001}, {"mode": "fast"}, {"files": 3}])
def test_bad_options_are_named(changed: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(changed))):
        CreateOptions.model_validate(changed)
