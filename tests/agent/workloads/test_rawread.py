import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from factories.outcomes import as_step, captured, make_place, read_all, run_steps, steps_of
from pydantic import ValidationError

from iotide_agent.workloads.base import Before, OutputRefusedError, Parsed, Place, PlanRefusedError, Step, StepOutcome
from iotide_agent.workloads.rawread import RawreadOptions, RawreadWorkload
from iotide_wire.measured import FlagCode, FlagEffect
from iotide_wire.units import MIB

RAWREAD = RawreadWorkload({"readable": ["/dev/iotide-test", "/data/big:1.data"]})


def options(**given: object) -> RawreadOptions:
    return RawreadOptions.model_validate({"runtime_seconds": 1, "path": "big.data"} | given)


def pattern_steps(given: RawreadOptions, place: Place) -> list[Step]:
    """Return the steps without the first one, which looks for unwritten parts."""
    look, *steps = steps_of(RAWREAD, given, place)
    assert look.name == "allocation"
    return steps


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[StepOutcome]:
    """Return both patterns over a file of 4 MiB."""
    place = make_place(tmp_path_factory.mktemp("rawread"))
    (place.directory / "big.data").write_bytes(os.urandom(4 * MIB))
    return run_steps(pattern_steps(options(), place), place)


def test_file_is_read_in_both_patterns_and_left_as_it_was(place: Place) -> None:
    file = place.directory / "big.data"
    file.write_bytes(content := os.urandom(4 * MIB))
    before = file.stat()
    outcomes = run_steps(steps_of(RAWREAD, options(), place), place)

    assert [RAWREAD.failure(outcome) for outcome in outcomes] == [None, None, None]
    parsed = read_all(RAWREAD, options(), place, outcomes)
    rates = {sample.labels["pattern"]: sample.value for sample in parsed.samples if sample.metric == "throughput"}
    iops = {sample.labels["pattern"]: sample.value for sample in parsed.samples if sample.metric == "iops"}
    assert rates["sequential"] == pytest.approx(iops["sequential"] * MIB, rel=0.01)
    assert rates["random"] == pytest.approx(iops["random"] * 4096, rel=0.01)
    assert (file.read_bytes(), file.stat().st_mtime_ns) == (content, before.st_mtime_ns)
    assert os.listdir(place.directory) == ["big.data"]  # noqa: PTH208 - names alone


def test_the_read_file_is_never_opened_for_writing(place: Place) -> None:
    """The kernel refuses to open a running program for writing, even for root."""
    program = place.directory / "sleep"
    program.write_bytes(Path(str(shutil.which("sleep"))).read_bytes())
    program.chmod(0o700)
    with subprocess.Popen([program, "60"]) as running:
        with pytest.raises(OSError, match="Text file busy"):
            program.open("r+b")
        small = options(path="sleep", block_size_bytes=4096)
        outcomes = run_steps(steps_of(RAWREAD, small, place), place)
        running.kill()
    assert [RAWREAD.failure(outcome) for outcome in outcomes] == [None, None, None]


def test_missing_file_is_not_made(place: Place) -> None:
    outcomes = run_steps(steps_of(RAWREAD, options(patterns=["sequential"]), place), place)
    assert None not in map(RAWREAD.failure, outcomes)
    assert list(place.directory.iterdir()) == []


def test_command_cannot_write_whatever_is_read(place: Place) -> None:
    for step in pattern_steps(options(path=""), place):
        assert "--readonly" in step.argv
        assert "--allow_file_create=0" in step.argv
        assert step.declared_files == ()  # they would be removed at the end
        assert "--filename=/dev/iotide-test" in step.argv
    assert not RAWREAD.writes


def test_colon_in_a_name_does_not_make_two_files_of_it(place: Place) -> None:
    [step] = pattern_steps(options(path="/data/big:1.data", patterns=["random"]), place)
    assert r"--filename=/data/big\:1.data" in step.argv


@pytest.mark.parametrize("path", ["/dev/sdz", "/etc/shadow", "/dev/iotide-test2"])
def test_commands_that_the_administrator_did_not_list_are_rejected(path: str, place: Place) -> None:
    with pytest.raises(
        PlanRefusedError,
        match=rf"path: runs may not read {path} on this node \(readable: /dev/iotide-test, .*agent.toml",
    ):
        RAWREAD.groups(options(path=path), place)
    with pytest.raises(PlanRefusedError, match="readable: nothing"):
        RawreadWorkload().groups(options(path=""), place)


def test_target_without_a_device_asks_for_a_name(place: Place) -> None:
    with pytest.raises(PlanRefusedError, match="'server:/export', which is not a block device"):
        RAWREAD.groups(options(path=""), replace(place, source="server:/export"))


@pytest.mark.parametrize("path", ["../other", "a/../../b", "/dev/../etc/passwd", "a//b", "a b", ".hidden", "/"])
def test_path_that_could_lead_out_of_the_target_is_no_option(path: str) -> None:
    with pytest.raises(ValidationError, match="path"):
        options(path=path)


@pytest.mark.parametrize("readable", ["sdb", "/dev/../sdb"])
def test_setting_that_names_no_path_is_refused(readable: str) -> None:
    with pytest.raises(ValidationError, match="absolute path"):
        RawreadWorkload({"readable": [readable]})


def test_cached_reading_is_flagged(place: Place, outcomes: list[StepOutcome]) -> None:
    warm = [replace(outcome, before_done=Before.SYNC) for outcome in outcomes]
    assert {flag.code for flag in read_all(RAWREAD, options(), place, warm).flags} == {FlagCode.DURATION}
    buffered = options(direct=False)
    flags = read_all(RAWREAD, buffered, place, warm).flags
    assert {FlagCode.CACHE_DROP, FlagCode.DURATION} <= {flag.code for flag in flags}
    assert {flag.labels["pattern"] for flag in flags if flag.code is FlagCode.CACHE_DROP} == {"sequential", "random"}


def test_file_that_comes_again_and_again_out_of_memory_is_flagged_by_its_size(place: Place) -> None:
    (place.directory / "big.data").write_bytes(os.urandom(4 * MIB))
    buffered = options(direct=False, patterns=["sequential"])
    # With 4 MiB of memory, far more than twice that is read in a second, but only 4 MiB of it are distinct.
    small = replace(place, facts={"memory.total_bytes": 4 * MIB})
    [outcome] = run_steps(pattern_steps(buffered, small), small)
    assert RAWREAD.failure(outcome) is None
    parsed = RAWREAD.read(buffered, small, outcome)
    [throughput] = [sample.value for sample in parsed.samples if sample.metric == "throughput"]
    assert throughput > 8 * MIB
    [flag] = [flag for flag in parsed.flags if flag.code is FlagCode.CACHE_SIZE]
    assert flag.measured == "4 MiB of data; may be cached"
    smaller = replace(place, facts={"memory.total_bytes": 2 * MIB})
    assert FlagCode.CACHE_SIZE not in {flag.code for flag in RAWREAD.read(buffered, smaller, outcome).flags}
    with pytest.raises(OutputRefusedError, match="does not begin with the line about the file"):
        RAWREAD.read(buffered, small, replace(outcome, stdout=""))


def test_file_that_cannot_be_opened_fails_before_anything_is_read(place: Place) -> None:
    for outcome in run_steps(steps_of(RAWREAD, options(direct=False, patterns=["random"]), place), place):
        assert "raw_file: [Errno 2] No such file or directory" in str(RAWREAD.failure(outcome))


def edited(outcome: StepOutcome, edit: Callable[[dict[str, Any]], object]) -> StepOutcome:
    [(name, text)] = outcome.files.items()
    report = json.loads(text)
    edit(report["jobs"][0])
    return replace(outcome, files={name: json.dumps(report)})


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda job: job["read"].update(runtime=300), "1 s were planned"),
        (lambda job: job["read"].update(total_ios=1), "latency bins"),
        (lambda job: job["write"].update(total_ios=1), "fio wrote"),
        (lambda job: job.update(total_err=2), "2 errors"),
    ],
)
def test_report_that_contradicts_the_plan_is_refused(
    edit: Callable[[dict[str, Any]], object], says: str, place: Place, outcomes: list[StepOutcome]
) -> None:
    with pytest.raises(OutputRefusedError, match=says):
        RAWREAD.read(options(), place, edited(outcomes[0], edit))


def test_device_that_may_not_be_opened_fails_with_its_reason(place: Place) -> None:
    [step] = pattern_steps(options(patterns=["sequential"]), place)
    failed = as_step(captured("fio/rawread_ro"), step)
    assert "Operation not permitted" in str(RAWREAD.failure(failed))
    assert RAWREAD.read_cut(options(), place, failed).samples == ()


def test_interrupted_reading_keeps_what_it_did(place: Place) -> None:
    (place.directory / "big.data").write_bytes(os.urandom(4 * MIB))
    long = options(runtime_seconds=60, patterns=["sequential"])
    [step] = pattern_steps(long, place)
    [outcome] = run_steps([replace(step, argv=("timeout", "--preserve-status", "-s", "INT", "2", *step.argv))], place)
    assert RAWREAD.failure(outcome) == "fio was interrupted before its end (status 128)"
    assert {sample.metric for sample in RAWREAD.read_cut(long, place, outcome).samples} == {
        "throughput",
        "iops",
        "latency",
    }


def looked_at(file: Path, place: Place) -> list[tuple[FlagCode, FlagEffect, str]]:
    """Return the flags of the first step for a file on the target."""
    [outcome] = run_steps(steps_of(RAWREAD, options(path=file.name), place)[:1], place)
    assert RAWREAD.failure(outcome) is None
    return [(flag.code, flag.effect, flag.measured) for flag in RAWREAD.read(options(), place, outcome).flags]


@pytest.mark.parametrize(
    ("written_bytes", "effect", "share"),
    [
        (0, FlagEffect.REJECTED, "100 %"),
        (6 * MIB, FlagEffect.REJECTED, "25 %"),
        (7.5 * MIB, FlagEffect.MARKED, "6.25 %"),
    ],
)
def test_a_file_with_holes_is_flagged_with_the_share_that_was_never_written(
    place: Place, written_bytes: float, effect: FlagEffect, share: str
) -> None:
    file = place.directory / "hole.img"
    with file.open("wb") as sparse:
        sparse.write(os.urandom(int(written_bytes) // 4096 * 4096))
        sparse.truncate(8 * MIB)
    sync(file)
    [(code, found, measured)] = looked_at(file, place)
    assert (code, found) == (FlagCode.ZEROES, effect)
    assert measured == f"{share} of it were never written, so the storage reads nothing there"


def test_allocated_blocks_without_data_count_as_holes(place: Place) -> None:
    file = place.directory / "allocated.img"
    with file.open("wb") as opened:
        os.posix_fallocate(opened.fileno(), 0, 4 * MIB)
    [(_, effect, measured)] = looked_at(file, place)
    assert (effect, measured.partition(" of")[0]) == (FlagEffect.REJECTED, "100 %")


def test_written_zeroes_are_marked_because_storage_may_compress_them(place: Place) -> None:
    file = place.directory / "zeroes.img"
    file.write_bytes(bytes(4 * MIB) + os.urandom(4 * MIB))
    sync(file)
    [(_, effect, measured)] = looked_at(file, place)
    assert effect is FlagEffect.MARKED
    assert "of 512 sampled blocks hold only zeroes; they compress or were never written" in measured


def test_a_file_full_of_data_has_no_flag(place: Place) -> None:
    file = place.directory / "full.img"
    file.write_bytes(os.urandom(4 * MIB))
    sync(file)
    assert looked_at(file, place) == []


@pytest.mark.parametrize(("discards", "effect"), [(True, FlagEffect.REJECTED), (False, FlagEffect.MARKED)])
def test_zeroes_of_a_device_that_discards_count_as_unwritten(
    place: Place, effect: FlagEffect, *, discards: bool
) -> None:
    [outcome] = run_steps(steps_of(RAWREAD, options(path="gone"), place)[:1], place)
    line = {"size_bytes": 2**40, "sampled": 512, "zeroes": 256, "discards": discards, "hole_bytes": 0}
    [flag] = RAWREAD.read(options(), place, replace(outcome, stdout=json.dumps(line) + "\n")).flags
    assert (flag.code, flag.effect) == (FlagCode.ZEROES, effect)
    assert flag.measured.startswith("50 % of 512 sampled blocks hold only zeroes; ")


def test_a_file_whose_direct_reads_fail_is_read_through_the_cache_and_labelled_so(
    place: Place, outcomes: list[StepOutcome]
) -> None:
    header = {"size_bytes": 4 * MIB, "direct_problem": "Invalid argument"}
    refused = [replace(outcome, stdout=json.dumps(header) + "\n") for outcome in outcomes]
    parsed = Parsed.of_all(RAWREAD.read(options(), place, outcome) for outcome in refused)
    assert {sample.labels["direct"] for sample in parsed.samples} == {False}
    assert {flag.measured for flag in parsed.flags if flag.code is FlagCode.NO_DIRECT} == {
        f"{pattern}: O_DIRECT failed (Invalid argument); buffered instead" for pattern in ("sequential", "random")
    }
    assert {FlagCode.CACHE_SIZE, FlagCode.CACHE_DROP} <= {flag.code for flag in parsed.flags}


def test_output_of_earlier_revisions_can_be_read_again(place: Place, outcomes: list[StepOutcome]) -> None:
    direct = outcomes[0]
    before = replace(direct, stdout="", step=replace(direct.step, argv=direct.step.argv[6:]))
    assert RAWREAD.read(options(), place, before).samples == RAWREAD.read(options(), place, direct).samples
    sized = replace(direct, stdout=f"{4 * MIB}\n")
    assert RAWREAD.read(options(direct=False), place, sized).samples


def sync(file: Path) -> None:
    """Allocate what was written: before that, the kernel may count it as a hole."""
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
