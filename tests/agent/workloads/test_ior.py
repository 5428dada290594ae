import json
from dataclasses import replace
from typing import Any

import pytest
from factories.mpi import mpi_settings
from factories.outcomes import DATA, as_step, captured, read_all, run_steps, steps_of
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from iotide_agent.probes.reader import CommandWant, Reader, Unavailable, Want
from iotide_agent.workloads.base import (
    Before,
    Counters,
    OutputRefusedError,
    Parsed,
    Place,
    PlanRefusedError,
    StepOutcome,
)
from iotide_agent.workloads.ior import IorOptions, IorWorkload
from iotide_agent.workloads.registry import announcement
from iotide_wire.measured import FlagCode, FlagEffect
from iotide_wire.units import MIB

IOR = IorWorkload()
TWO_FILES: dict[str, object] = {"tasks": 2, "transfers_per_block": 16}

# capture: options that would have run the same; MiB and seconds of each access, as printed
GOOD: dict[str, tuple[dict[str, object], dict[str, tuple[int, float]]]] = {
    "json_file": (TWO_FILES, {"write": (32, 0.0194)}),
    "odirect": (TWO_FILES | {"direct": True}, {"write": (32, 0.0192), "read": (32, 0.0136)}),
    "random_z": (
        TWO_FILES | {"transfer_size_bytes": 4096, "transfers_per_block": 4096, "random": True},
        {"write": (32, 0.0477), "read": (32, 0.0077)},
    ),
    "ior_e": (
        {"tasks": 1, "transfer_size_bytes": 16 * MIB, "transfers_per_block": 4, "file_per_process": False},
        {"write": (64, 3.2543)},
    ),
    "ior_plain": (
        {
            "tasks": 1,
            "transfer_size_bytes": 16 * MIB,
            "transfers_per_block": 4,
            "file_per_process": False,
            "fsync": False,
        },
        {"write": (64, 1.1499)},
    ),
    "stonewall_file": ({"tasks": 1, "transfers_per_block": 2048, "stonewall_seconds": 1}, {"write": (350, 1.1672)}),
}
FAILED = {
    "e_enoent": 'ior: open64("/mnt/t/mnt/ext4/nodir/f.00000000", 66, 0664) failed. Error: No such file or directory',
    "e_enospc": "1048576) failed No space left on device",
    "e_enospc_json": "1048576) failed No space left on device",
    "k_int": "ior: Interrupt (signal 2)",
    "k_term": "ior ended with status 0, but its output is incomplete",
    "k_single_term": "was ended by signal 15",
}
REFUSED = {
    "fpp_csv": "not a summary of ior: the JSON",
    "fpp_json": "not a summary of ior: tests.0.Parameters.repetitions",
    "shared_file": "not a summary of ior: tests.0.Parameters.repetitions",
    "stonewall_D3": "not a summary of ior: the JSON",
}


class Installed(Reader):
    """Reader that finds the installed programs."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def read(self, want: Want) -> str | Unavailable:
        assert isinstance(want, CommandWant)
        name = want.argv[0]
        return "IOR-4.0.0" if name in self.names else Unavailable(f"{name} is not installed; install {want.package}")


def outcome_of(name: str, options: IorOptions, place: Place, operation: str = "write") -> StepOutcome:
    """Return a capture as a step, with its JSON on stdout or in a file."""
    summary = DATA / f"ior/{name}.json"
    if name == "stonewall_file":
        # Recorded without its process times, so another run's are used.
        outcome = replace(captured("ior/json_file"), stdout=summary.read_text())
    else:
        outcome = captured(f"ior/{name}")
        if summary.exists():
            outcome = replace(outcome, stdout=summary.read_text())
    [step] = [step for step in steps_of(IOR, options, place) if step.name == operation]
    return as_step(outcome, step)


def flags_of(parsed: Parsed) -> dict[FlagCode, FlagEffect]:
    return {flag.code: flag.effect for flag in parsed.flags}


def test_every_capture_is_accounted_for() -> None:
    names = {path.name.partition(".")[0] for path in (DATA / "ior").iterdir()}
    assert names == GOOD.keys() | FAILED.keys() | REFUSED.keys()


@pytest.mark.parametrize("name", GOOD)
def test_rates_are_bytes_by_seconds(name: str, place: Place) -> None:
    given, accesses = GOOD[name]
    options = IorOptions.model_validate(given)
    for operation, (mebibytes, seconds) in accesses.items():
        outcome = outcome_of(name, options, place, operation)
        assert IOR.failure(outcome) is None
        values = {
            (sample.metric, sample.labels.get("part")): sample.value
            for sample in IOR.read(options, place, outcome).samples
        }
        assert values["throughput", None] == pytest.approx(mebibytes * MIB / seconds)
        assert values["duration", "total"] == seconds
        report = json.loads(next(iter(outcome.files.values())))
        [printed] = [result for result in report["tests"][0]["Results"] if result["access"] == operation]
        assert values["throughput", None] == pytest.approx(printed["bwMiB"] * MIB, rel=5e-3)
        assert values["iops", None] == pytest.approx(printed["iops"], rel=0.1)


@pytest.mark.parametrize("name", FAILED)
def test_failure_names_the_error_whatever_the_launcher_ended_with(name: str, place: Place) -> None:
    reason = IOR.failure(outcome_of(name, IorOptions(), place))
    assert reason is not None
    assert FAILED[name] in reason


@pytest.mark.parametrize("name", REFUSED)
def test_output_that_is_no_summary_of_one_repetition_is_refused(name: str, place: Place) -> None:
    options = IorOptions.model_validate(TWO_FILES)
    with pytest.raises(OutputRefusedError, match=REFUSED[name]):
        IOR.read(options, place, outcome_of(name, options, place))


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"tasks": 3}, "tasks 3 was planned, ior reports 2"),
        ({"transfers_per_block": 8}, "block size 8388608 was planned, ior reports 16777216"),
        ({"segments": 2}, "segments 2 was planned, ior reports 1"),
        ({"fsync": False}, "fsync False was planned, ior reports True"),
        ({"api": "MPIIO"}, "api MPIIO was planned, ior reports POSIX"),
        ({"random": True}, "random True was planned, ior reports False"),
        ({"file_per_process": False}, "file per task False was planned"),
    ],
)
def test_report_of_something_else_than_planned_is_refused(
    changed: dict[str, object], problem: str, place: Place
) -> None:
    options = IorOptions.model_validate(TWO_FILES | changed)
    with pytest.raises(OutputRefusedError, match=problem):
        IOR.read(options, place, outcome_of("json_file", options, place))


def test_report_that_contradicts_itself_or_lacks_bytes_is_refused(place: Place) -> None:
    options = IorOptions.model_validate(TWO_FILES)
    outcome = outcome_of("json_file", options, place)
    [(file, text)] = outcome.files.items()
    report: dict[str, Any] = json.loads(text)
    report["summary"][0]["xsizeMiB"] = 16.0
    report["tests"][0]["Results"][0]["bwMiB"] = 16 / 0.0194
    with pytest.raises(OutputRefusedError, match="33554432 bytes were planned, it moved about 16777216"):
        IOR.read(options, place, replace(outcome, files={file: json.dumps(report)}))
    report["tests"][0]["Results"][0]["bwMiB"] = 1600.0
    with pytest.raises(OutputRefusedError, match=r"its rate implies 10 ms, but it prints 19.4 ms"):
        IOR.read(options, place, replace(outcome, files={file: json.dumps(report)}))


def test_short_or_cached_or_warm_figures_are_flagged(place: Place) -> None:
    options = IorOptions.model_validate(GOOD["random_z"][0] | {"direct": False})
    written = IOR.read(options, place, outcome_of("random_z", options, place))
    assert flags_of(written)[FlagCode.DURATION] is FlagEffect.REJECTED
    assert FlagCode.CACHE_SIZE in flags_of(written)
    warm = replace(outcome_of("random_z", options, place, "read"), before_done=Before.SYNC)
    assert FlagCode.CACHE_DROP in flags_of(IOR.read(options, place, warm))


def test_buffered_write_without_flush_is_rejected(place: Place) -> None:
    options = IorOptions.model_validate(GOOD["ior_plain"][0])
    parsed = IOR.read(options, place, outcome_of("ior_plain", options, place))
    assert flags_of(parsed)[FlagCode.FSYNC] is FlagEffect.REJECTED


def test_files_are_read_by_a_second_start_after_the_caches_were_dropped(place: Place) -> None:
    options = IorOptions.model_validate(TWO_FILES | {"reorder": True, "stonewall_seconds": 5})
    write, read = steps_of(IOR, options, place)
    assert (write.before, read.before) == (Before.SYNC, Before.DROP)
    assert write.argv[:4] == ("mpirun", "-n", "2", "ior")
    assert "-k" in write.argv
    assert write.declared_files == tuple(place.directory / f"ior.0000000{task}" for task in range(2))
    status = f"stoneWallingStatusFile={place.scratch / 'ior-stonewall'}"
    assert status in write.argv
    assert status in read.argv
    assert "-D" not in read.argv


def test_files_are_made_read_and_measured_by_what_is_installed(place: Place) -> None:
    ior = IorWorkload(mpi_settings("ior"))
    options = IorOptions(tasks=2, transfers_per_block=4, file_per_process=False)
    outcomes = run_steps(steps_of(ior, options, place), place)
    parsed = read_all(ior, options, place, outcomes)
    assert [ior.failure(outcome) for outcome in outcomes] == [None, None]
    assert {sample.labels["operation"] for sample in parsed.samples} == {"write", "read"}
    assert (place.directory / "ior").stat().st_size == 8 * MIB


def test_launcher_and_program_are_those_of_the_node(place: Place) -> None:
    ior = IorWorkload({"launcher": ["srun", "--ntasks={tasks}"], "program": "/opt/ior/bin/ior"})
    argv = steps_of(ior, IorOptions(tasks=8), place)[0].argv
    assert argv[:3] == ("srun", "--ntasks=8", "/opt/ior/bin/ior")


def test_node_without_a_launcher_starts_one_task_and_refuses_more(place: Place) -> None:
    ior = IorWorkload({"launcher": []})
    assert steps_of(ior, IorOptions(tasks=1), place)[0].argv[0] == "ior"
    with pytest.raises(PlanRefusedError, match=r"tasks = 4: .* set launcher in \[workloads.ior\]"):
        steps_of(ior, IorOptions(), place)


def test_directory_that_ior_would_split_is_refused(place: Place) -> None:
    with pytest.raises(PlanRefusedError, match="as a list because of its @"):
        steps_of(IOR, IorOptions(), replace(place, directory=place.directory / "a@b"))


@pytest.mark.parametrize("launcher", [["mpirun"], ["mpirun", "{tasks}", "{tasks}"]])
def test_launcher_must_contain_the_number_of_tasks(launcher: list[str]) -> None:
    with pytest.raises(ValidationError, match="once, where the launcher takes the number of tasks"):
        IorWorkload({"launcher": launcher})


def test_without_program_or_launcher_it_is_unavailable_with_the_remedy() -> None:
    found = announcement(IOR, Installed("mpirun", "ior"))
    assert (found.available, found.tool_version) == (True, "4.0.0")
    for there in (["ior"], ["mpirun"], []):
        found = announcement(IOR, Installed(*there))
        assert not found.available
        assert "[workloads.ior] of agent.toml" in str(found.unavailable_because)
    assert announcement(IorWorkload({"launcher": []}), Installed("ior")).available


def test_progress_is_bytes_or_the_time_that_stops_it(place: Place) -> None:
    sized = steps_of(IOR, IorOptions.model_validate(TWO_FILES), place)[0]
    timed = steps_of(IOR, IorOptions(stonewall_seconds=10), place)[0]
    assert IOR.progress(sized, Counters(8 * MIB, 0, 1.0), "") == 0.25
    assert IOR.progress(timed, Counters(0, 0, 5.0), "") == 0.5


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"direct": True, "transfer_size_bytes": 47_008}, "with direct use a multiple of 512"),
        ({"random": True, "reorder": True, "file_per_process": False}, "does not work with reorder in a shared file"),
        ({"operations": ["read"]}, "include write"),
        ({"api": "HDF5"}, "api"),
        ({"api": "MPIIO", "direct": True}, "MPIIO has no O_DIRECT"),
        ({"api": "MPIIO-collective", "direct": True}, "MPIIO has no O_DIRECT"),
        ({"api": "MPIIO-collective", "random": True}, "tasks may make different numbers of calls"),
    ],
)
def test_impossible_patterns_are_refused_by_model_and_form(changed: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        IorOptions.model_validate(changed)
    defaults = IorOptions().model_dump(mode="json")
    assert not Draft202012Validator(IOR.options_schema()).is_valid(defaults | changed)
