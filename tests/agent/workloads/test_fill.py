import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from factories.outcomes import captured, read_all, run_steps, steps_of
from made_mounts import as_root
from pydantic import ValidationError

from iotide_agent.workloads import fill
from iotide_agent.workloads.base import Counters, OutputRefusedError, Parsed, Place, PlanRefusedError, StepOutcome
from iotide_agent.workloads.fill import KEPT, FillOptions, FillWorkload
from iotide_wire.expressions import evaluate
from iotide_wire.measured import FlagCode, FlagEffect
from iotide_wire.units import GIB, MIB

FILL = FillWorkload()
REPORT = "64+0 records in\n64+0 records out\n1073741824 bytes (1.1 GB, 1.0 GiB) copied, {seconds} s, 1.0 GB/s\n"


@pytest.fixture
def small_target(tmp_path: Path) -> Iterator[Path]:
    """Return a file system of 32 MiB."""
    directory = tmp_path / "small"
    directory.mkdir()
    subprocess.run(as_root("mount", "-t", "tmpfs", "-o", "size=32m,mode=0777", "none", str(directory)), check=True)
    yield directory
    subprocess.run(as_root("umount", str(directory)), check=True)


def outcome_of(
    place: Place, seconds: list[float], *, total_bytes: int = 100 * GIB, before_bytes: int = 0
) -> StepOutcome:
    """Return a run that wrote one 1 GiB file in each of these numbers of seconds."""
    lines: list[dict[str, object]] = [
        {
            "file": number,
            "used_bytes": before_bytes + (number - 1) * GIB,
            "total_bytes": total_bytes,
            "wall_seconds": took,
            "stdout": "",
            "stderr": REPORT.format(seconds=took),
        }
        for number, took in enumerate(seconds, start=1)
    ]
    used_bytes = before_bytes + len(seconds) * GIB
    lines.append({"ended_by": "share", "files": len(seconds), "used_bytes": used_bytes, "total_bytes": total_bytes})
    [step] = steps_of(FILL, FillOptions(), place)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    return replace(captured("dd/c_fsync_1gib"), step=step, stdout=text, stderr="")


def parse(outcome: StepOutcome, place: Place) -> Parsed:
    return read_all(FILL, FillOptions(), place, [outcome])


def by_label(parsed: Parsed, metric: str, label: str) -> dict[object, float]:
    return {sample.labels[label]: sample.value for sample in parsed.samples if sample.metric == metric}


def single(parsed: Parsed, metric: str) -> float:
    [value] = [sample.value for sample in parsed.samples if sample.metric == metric]
    return value


def test_rate_falls_from_band_to_band_as_the_target_fills(place: Place) -> None:
    parsed = parse(outcome_of(place, [1.0] * 10 + [2.0] * 10, before_bytes=20 * GIB), place)
    bands = by_label(parsed, "throughput", "fill_percent")
    assert list(bands) == [20, 25, 30, 35, 40]
    assert bands[20] == bands[25] == GIB
    assert bands[30] == pytest.approx(GIB * 5 / 7)
    assert bands[40] == pytest.approx(GIB / 2)
    assert single(parsed, "used_ratio") == pytest.approx(0.4)


def test_band_is_that_of_the_level_when_half_the_file_was_written(place: Place) -> None:
    parsed = parse(outcome_of(place, [1.0], total_bytes=10 * GIB, before_bytes=0), place)
    assert list(by_label(parsed, "throughput", "fill_percent")) == [5]


def test_first_and_last_tenth_and_their_ratio(place: Place) -> None:
    parsed = parse(outcome_of(place, [1.0, 3.0, *[5.0] * 16, 4.0, 4.0]), place)
    parts = by_label(parsed, "part_throughput", "part")
    assert parts["first_tenth"] == pytest.approx(2 * GIB / 4)
    assert parts["last_tenth"] == pytest.approx(2 * GIB / 8)
    assert single(parsed, "end_ratio") == pytest.approx(0.5)
    assert (parts["fastest_file"], parts["median_file"], parts["slowest_file"]) == (GIB, GIB / 5, GIB / 5)
    assert single(parsed, "total_throughput") == pytest.approx(20 * GIB / 92)


def test_each_file_has_its_rate_by_its_number(place: Place) -> None:
    rates = by_label(parse(outcome_of(place, [1.0, 1.0, 2.5, 1.0]), place), "file_throughput", "file")
    assert rates == {1: GIB, 2: GIB, 3: pytest.approx(GIB / 2.5), 4: GIB}


def test_many_files_have_one_number_for_ten_neighbours(place: Place) -> None:
    options = FillOptions(file_count=2000, fill_percent=95, reserve_bytes=0)
    roomy = replace(place, total_bytes=10**15, free_bytes=10**15)
    outcome = outcome_of(roomy, [1.0] * 5 + [3.0] * 5 + [1.0] * 13)
    parsed = read_all(FILL, options, roomy, [outcome])
    assert by_label(parsed, "file_throughput", "file") == {10: pytest.approx(GIB / 2), 20: GIB, 30: GIB}
    most = FillOptions(file_count=100_000, fill_percent=95, reserve_bytes=0)
    files = by_label(read_all(FILL, most, roomy, [outcome]), "file_throughput", "file")
    assert list(files) == [1000]


def test_numbers_of_files_stay_the_same_whatever_room_there_is(place: Place) -> None:
    options = FillOptions(file_count=1000, fill_percent=95, reserve_bytes=0)
    for planned, last in ((18, 18), (500, 20)):
        space = replace(place, total_bytes=1000 * GIB, free_bytes=(51 + planned) * GIB)
        parsed = read_all(FILL, options, space, [outcome_of(space, [1.0] * 13)])
        assert list(by_label(parsed, "file_throughput", "file")) == [10, last]


def test_files_on_a_slower_part_are_named(place: Place) -> None:
    parsed = parse(outcome_of(place, [1.0, 1.0, 2.5, 1.0, 1.0, 2.6, 1.0]), place)
    [flag] = [flag for flag in parsed.flags if flag.code is FlagCode.STRAGGLER]
    assert "2 of 7 files" in flag.measured
    assert "3 (2.5 s), 6 (2.6 s)" in flag.measured
    assert single(parsed, "slowest_ratio") == pytest.approx(1 / 2.6)


def test_equal_files_name_none(place: Place) -> None:
    assert FlagCode.STRAGGLER not in {flag.code for flag in parse(outcome_of(place, [1.0, 1.2, 0.9]), place).flags}


def test_real_files_are_written_until_the_count_is_reached(place: Place) -> None:
    options = FillOptions(file_size_bytes=MIB, block_size_bytes=65536, file_count=12, fill_percent=95)
    [outcome] = run_steps(steps_of(FILL, options, place), place)
    assert FILL.failure(outcome) is None
    assert sorted(path.stat().st_size for path in place.directory.iterdir()) == [MIB] * 12
    parsed = read_all(FILL, options, place, [outcome])
    assert list(by_label(parsed, "file_throughput", "file")) == list(range(1, 13))
    assert FILL.progress(outcome.step, Counters(6 * MIB, 6 * MIB, 1.0), "") == 0.5


@pytest.mark.parametrize(("used_percent", "free_bytes", "ended_by"), [(95.0, 0, "share"), (100.0, 8 * MIB, "reserve")])
def test_real_target_ends_at_the_share_or_at_the_reserve(
    used_percent: float, free_bytes: int, ended_by: str, small_target: Path
) -> None:
    load = Path(__file__).parents[3] / "agent/node/src/iotide_agent/loads/fill_files.py"
    limits = ["1000", str(MIB), str(used_percent), str(free_bytes)]
    command = ["dd", "if=/dev/zero", "bs=1M", f"count={MIB}", "iflag=count_bytes", "conv=fsync"]
    argv = [sys.executable, "-I", "-S", str(load), str(small_target), *limits, *command]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["ended_by"] == ended_by
    assert last["files"] == len(list(small_target.iterdir()))
    free = last["total_bytes"] - last["used_bytes"]
    assert free >= free_bytes
    assert last["used_bytes"] <= last["total_bytes"] * used_percent / 100


def test_target_that_is_full_already_is_a_failure_with_its_level(small_target: Path, place: Place) -> None:
    options = FillOptions(file_size_bytes=MIB, file_count=1, fill_percent=0.001)
    full = replace(place, directory=small_target)
    [outcome] = run_steps(steps_of(FILL, options, full), full)
    assert "no file fits" in str(FILL.failure(outcome))


def test_failure_is_the_message_of_the_dd_that_failed(small_target: Path, place: Place) -> None:
    options = FillOptions(file_size_bytes=GIB, file_count=1, fill_percent=95, reserve_bytes=0)
    full = replace(place, directory=small_target)
    [step] = steps_of(FILL, options, full)
    # The load is given a smaller file size than dd writes, so it starts a dd that does not fit.
    argv = tuple(str(MIB) if argument == str(GIB) else argument for argument in step.argv)
    [outcome] = run_steps([replace(step, argv=argv)], full)
    assert "No space left on device" in str(FILL.failure(outcome))


def test_cut_run_keeps_the_levels_of_its_whole_files(place: Place) -> None:
    outcome = outcome_of(place, [1.0, 2.0, 4.0])
    text = outcome.stdout
    cut = replace(outcome, stdout=text[: text.index('"file": 3') + 20])
    kept = FILL.read_cut(FillOptions(), place, cut)
    assert by_label(kept, "throughput", "fill_percent") == {0: pytest.approx(2 * GIB / 3)}
    assert by_label(kept, "file_throughput", "file") == {1: GIB, 2: GIB / 2}
    assert not FILL.read_cut(FillOptions(), place, replace(outcome, stdout="")).samples


def test_line_or_file_that_is_missing_is_refused(place: Place) -> None:
    outcome = outcome_of(place, [1.0, 2.0, 4.0])
    lines = outcome.stdout.splitlines(keepends=True)
    for kept, problem in (
        (lines[:-1], "last line is missing"),
        (lines[1:], "not numbered consecutively from 1"),
        ([*lines[:2], lines[3]], "last line is missing"),
        (["oops\n", *lines], "not JSON of the load"),
        ([lines[0].replace("1073741824", "1073741823"), *lines[1:]], "file 1: the plan was 64"),
    ):
        with pytest.raises(OutputRefusedError, match=problem):
            parse(replace(outcome, stdout="".join(kept)), place)


def test_room_is_the_least_of_count_share_and_reserve(place: Place) -> None:
    space = {"target.total_bytes": 100 * GIB, "target.free_bytes": 60 * GIB}
    for given, kept_free, gibibytes in (
        ({"file_count": 3}, 0, 3),
        ({"fill_percent": 50}, 0, 10),
        ({"fill_percent": 95, "reserve_bytes": 40 * GIB}, 0, 20),
        ({"fill_percent": 95, "reserve_bytes": 0}, 0, 60 / 1.12),
        ({"fill_percent": 95}, 40 * GIB, 20 / 1.02),
        ({"fill_percent": 10}, 0, 1),
    ):
        own = replace(place, total_bytes=100 * GIB, free_bytes=60 * GIB, reserve_bytes=kept_free)
        options = FillOptions.model_validate(given)
        needed_bytes = evaluate(FILL.bytes_needed, {**space, "target.reserve_bytes": kept_free, **options.model_dump()})
        assert needed_bytes == pytest.approx(gibibytes * GIB)
        [step] = steps_of(FILL, options, own)
        assert step.bytes_moved == int(needed_bytes) // GIB * GIB


def test_load_leaves_free_what_the_target_keeps_where_that_is_more(place: Place) -> None:
    options = FillOptions(reserve_bytes=GIB)
    for kept_free, limit in ((0, GIB), (3 * GIB, 3 * GIB)):
        [step] = steps_of(FILL, options, replace(place, reserve_bytes=kept_free))
        assert step.argv[step.argv.index("dd") - 1] == str(limit)


def test_kept_files_are_next_to_the_directory_of_the_run_and_replaced_by_the_next_attempt(
    small_target: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fill, "MOUNT_ROOT", str(small_target))
    options = FillOptions(file_size_bytes=MIB, fill_percent=50, file_count=100_000, reserve_bytes=0, keep=True)
    for attempt in ("iotide-run-1-1-1", "iotide-run-1-2-2"):
        directory = small_target / attempt
        directory.mkdir()
        free_bytes = shutil.disk_usage(small_target).free
        own = replace(place, directory=directory, total_bytes=32 * MIB, free_bytes=free_bytes)
        [outcome] = run_steps(steps_of(FILL, options, own), own)
        assert FILL.failure(outcome) is None
        assert single(read_all(FILL, options, own, [outcome]), "used_ratio") == 0.5
        assert list(directory.iterdir()) == []
    kept = small_target / KEPT
    assert sum(file.stat().st_size for file in kept.iterdir()) == 16 * MIB


def test_files_are_kept_on_scratch_disks_only_and_reach_their_level(place: Place) -> None:
    options = FillOptions(file_size_bytes=MIB, fill_percent=80, file_count=100_000, reserve_bytes=0, keep=True)
    with pytest.raises(PlanRefusedError, match="keep: files stay only on scratch disks"):
        steps_of(FILL, options, place)
    scratch = replace(place, directory=Path("/srv/iotide-scratch/bays/iotide-run-1-1-1"), total_bytes=GIB)
    for free_bytes, reserve_bytes in ((GIB, 0), (GIB // 2, 0), (GIB, GIB // 8)):
        assert steps_of(FILL, options, replace(scratch, free_bytes=free_bytes, reserve_bytes=reserve_bytes))
    with pytest.raises(PlanRefusedError, match=r"only 73\.4 % of the file system can be filled instead of 80 %"):
        steps_of(FILL, options, replace(scratch, free_bytes=GIB, reserve_bytes=GIB // 4))


def test_write_without_flush_is_rejected(place: Place) -> None:
    options = FillOptions(flush="none")
    flags = read_all(FILL, options, place, [outcome_of(place, [1.0])]).flags
    assert FlagEffect.REJECTED in {flag.effect for flag in flags if flag.code is FlagCode.FSYNC}


def test_rejected_direct_falls_back_and_is_flagged(place: Place) -> None:
    refusing = replace(place, direct_works=False)
    options = FillOptions(flush="direct")
    [step] = steps_of(FILL, options, refusing)
    assert "oflag=direct" not in step.argv
    assert "conv=fsync" in step.argv
    parsed = read_all(FILL, options, refusing, [outcome_of(refusing, [1.0])])
    assert FlagCode.NO_DIRECT in {flag.code for flag in parsed.flags}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [({"fill_percent": 96}, "fill_percent"), ({"fill_percent": 0}, "fill_percent"), ({"file_count": 0}, "file_count")],
)
def test_bad_options_are_named(changed: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        FillOptions.model_validate(changed)
