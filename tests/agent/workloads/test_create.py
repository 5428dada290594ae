import json
import subprocess
import sys
import time
from dataclasses import replace
from math import nan

import pytest
from factories.outcomes import as_step, captured, read_all, run_groups, run_steps, steps_of
from pydantic import ValidationError

from iotide_agent.workloads.base import Before, Counters, OutputRefusedError, Parsed, Place, StepOutcome
from iotide_agent.workloads.create import CreateOptions, CreateWorkload
from iotide_wire.expressions import evaluate
from iotide_wire.measured import FlagCode, FlagEffect

CREATE = CreateWorkload()
COUNTERS = Counters(0, 0, 1.0)
OPERATIONS = ("create", "stat", "delete")
REPORT = {
    "operation": "create",
    "file_count": 20,
    "started_seconds": 5.0,
    "seconds": 1.0,
    "directory_fsync_seconds": 0.1,
}


def values(parsed: Parsed, metric: str) -> dict[str, float]:
    """Return one metric by operation."""
    return {str(sample.labels["operation"]): sample.value for sample in parsed.samples if sample.metric == metric}


def outcomes_of(options: CreateOptions, place: Place, *times: tuple[float, float]) -> list[StepOutcome]:
    """Return a run in which each process reports this start and these seconds, the same in each phase."""
    outcomes = []
    for step in steps_of(CREATE, options, place):
        operation = step.name.partition("-")[0]
        started, seconds = times[(step.writer or 1) - 1]
        report = {"operation": operation, "started_seconds": started, "seconds": seconds}
        flush = {"directory_fsync_seconds": 0.1} if operation == "create" else {}
        printed = json.dumps(report | {"file_count": options.file_count} | flush)
        outcomes.append(replace(as_step(captured("dd/c_fsync_1gib"), step), stdout=printed))
    return outcomes


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
    assert "s per file" in flag.measured


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
    assert "No such file or directory (d0/p1-00000000)" in (CREATE.failure(gone) or "")


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
        json.dumps(REPORT | {"file_count": 19}),
        json.dumps(REPORT | {"directory_fsync_seconds": None}),
        json.dumps(REPORT | {"operation": "touch"}),
        json.dumps(REPORT | {"seconds": 0}),
        json.dumps(REPORT | {"seconds": nan}),
        json.dumps(REPORT | {"started_seconds": 1e300}),
    ],
)
def test_output_that_contradicts_the_plan_is_refused(printed: str, place: Place) -> None:
    options = CreateOptions(file_count=20)
    create = as_step(captured("dd/c_fsync_1gib"), steps_of(CREATE, options, place)[0])
    assert read_all(CREATE, options, place, [replace(create, stdout=json.dumps(REPORT))]).samples
    with pytest.raises(OutputRefusedError, match="step create"):
        read_all(CREATE, options, place, [replace(create, stdout=printed)])


def test_total_is_the_files_of_all_processes_from_the_first_start_to_the_last_end(place: Place) -> None:
    options = CreateOptions(file_count=1000, processes=3)
    outcomes = run_groups(CREATE.plan(options, [place]), place)
    totals = values(read_all(CREATE, options, place, outcomes), "total_operation_rate")
    assert totals.keys() == set(OPERATIONS)
    for operation, total in totals.items():
        reports = [json.loads(done.stdout) for done in outcomes if done.step.name.startswith(operation)]
        began = min(process["started_seconds"] for process in reports)
        ended = max(process["started_seconds"] + process["seconds"] for process in reports)
        assert total == pytest.approx(3000 / (ended - began), rel=1e-3)
        assert total <= 1.001 * sum(1000 / process["seconds"] for process in reports)


def test_processes_of_which_one_began_when_another_was_done_add_up_to_no_more(place: Place) -> None:
    options = CreateOptions(file_count=1000, processes=2)
    parsed = read_all(CREATE, options, place, outcomes_of(options, place, (5.0, 0.05), (6.0, 0.05)))
    for metric, expected in {
        "total_operation_rate": 2000 / 1.05,
        "first_done": 0.05,
        "last_done": 1.05,
        "fairness": 1.0,
    }.items():
        assert values(parsed, metric) == dict.fromkeys(OPERATIONS, pytest.approx(expected, rel=1e-4))


def test_one_process_has_neither_a_total_nor_a_race(place: Place) -> None:
    options = CreateOptions(file_count=20)
    parsed = read_all(CREATE, options, place, run_steps(steps_of(CREATE, options, place), place))
    assert values(parsed, "operation_rate").keys() == set(OPERATIONS)
    assert values(parsed, "total_operation_rate") == values(parsed, "first_done") == {}


def test_process_that_holds_the_others_up_is_flagged(place: Place) -> None:
    options = CreateOptions(file_count=100, processes=3)
    parsed = read_all(CREATE, options, place, outcomes_of(options, place, (5.0, 1.0), (5.0, 4.0), (5.0, 1.0)))
    found = [flag for flag in parsed.flags if flag.code is FlagCode.STRAGGLER]
    assert [flag.labels["operation"] for flag in found] == list(OPERATIONS)
    assert "finished after 4 s, the median of the others 1 s" in found[0].measured


def test_no_process_begins_its_files_before_the_last_has_come(place: Place) -> None:
    early, late = CREATE.groups(CreateOptions(file_count=1, processes=2), place)[0]
    with subprocess.Popen(early.argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as first:
        while not (place.scratch / "create.meeting").exists():
            assert first.poll() is None
        not_before = time.monotonic()
        run_steps([late], place)
        printed, _ = first.communicate(timeout=60)
    assert json.loads(printed)["started_seconds"] >= not_before


def test_there_may_be_more_directories_than_descriptors(place: Place) -> None:
    options = CreateOptions(file_count=100, directories=100)
    for step in steps_of(CREATE, options, place):
        subprocess.run(["prlimit", "--nofile=20", *step.argv], check=True, capture_output=True)
        files = list(place.directory.rglob("p1-*"))
        assert len({file.parent for file in files}) == len(files) == (0 if step.name == "delete" else 100)


def test_room_is_asked_for_each_directory() -> None:
    def room(**given: object) -> float:
        return evaluate(CREATE.bytes_needed, CreateOptions.model_validate(given).model_dump())

    assert room(file_count=1, directories=10_000) > 10_000 * 4096
    assert room(file_count=1, directories=100, processes=8) > 8 * room(file_count=1, directories=99)
    assert room(file_count=1, directories=100, processes=8, shared=True) < 2 * room(file_count=1, directories=100)


def test_rate_until_an_error_is_kept(place: Place) -> None:
    options = CreateOptions(file_count=20)
    create, *_ = steps_of(CREATE, options, place)
    in_the_way = place.directory / "files-1/d0/p1-00000012"
    in_the_way.parent.mkdir(parents=True)
    in_the_way.touch()
    [failed] = run_steps([create], place)
    assert "File exists (d0/p1-00000012)" in str(CREATE.failure(failed))
    [sample] = CREATE.read_cut(options, place, failed).samples
    seconds = float(failed.stderr.split()[2])
    assert (sample.metric, sample.labels) == ("operation_rate", {"operation": "create"})
    assert sample.value == pytest.approx(12 / seconds)


def test_interrupted_process_reports_its_progress(place: Place) -> None:
    create, *_ = steps_of(CREATE, CreateOptions(file_count=10_000_000), place)
    with subprocess.Popen(create.argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as load:
        while not list(place.directory.rglob("p1-*")):
            assert load.poll() is None
        load.send_signal(create.stop_signal)
        printed, complaints = load.communicate(timeout=60)
    assert (load.returncode, printed) == (130, "")
    made = len(list(place.directory.rglob("p1-*")))
    # It may be interrupted after a file is made and before it is counted.
    assert int(complaints.split()[-2]) in {made, made - 1}


@pytest.mark.parametrize(
    ("printed", "rate"),
    [
        ("", None),
        ("done 0 0.000012\n", None),
        ("done 256 1.02400", None),
        ("done 256 1.024000\ndone 512 2.0", 250.0),
        ("done 256 1.024000\ndone 512 2.560000\n", 200.0),
    ],
)
def test_rate_of_a_process_that_was_cut_is_by_its_last_whole_word(
    printed: str, rate: float | None, place: Place
) -> None:
    options = CreateOptions(file_count=1000, processes=2)
    killed = as_step(captured("dd/c_fsync_1gib"), steps_of(CREATE, options, place)[1])
    samples = CREATE.read_cut(options, place, replace(killed, stdout="", stderr=printed, signal=9)).samples
    expected = {"operation": "create", "writer": 2}
    assert [(sample.value, sample.labels) for sample in samples] == ([(rate, expected)] if rate else [])


def test_progress_is_the_last_count_that_was_printed(place: Place) -> None:
    create, *_ = steps_of(CREATE, CreateOptions(file_count=1000), place)
    assert CREATE.progress(create, COUNTERS, "") is None
    assert CREATE.progress(create, COUNTERS, "done 100 1.000250\ndone 250 2.000125\ndone 30") == 0.25


def test_load_refuses_a_call_it_does_not_know() -> None:
    load = CREATE.groups.__globals__["_LOAD"]
    called = subprocess.run([sys.executable, load, "shred", "/", "1"], capture_output=True, text=True, check=False)
    assert called.returncode == 2
    assert "Usage: create_files.py" in called.stderr


@pytest.mark.parametrize("changed", [{"file_count": 0}, {"file_count": 10_000_001}, {"mode": "fast"}, {"files": 3}])
def test_bad_options_are_named(changed: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(changed))):
        CreateOptions.model_validate(changed)
