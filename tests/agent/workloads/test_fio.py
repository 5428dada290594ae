import json
import re
from dataclasses import replace

import pytest
from agent.workloads.test_fio_releases import WITHOUT_BINS
from factories.outcomes import DATA, as_step, captured, read_all, run_steps, steps_of
from pydantic import ValidationError

from iotide_agent.workloads.base import Before, Counters, OutputRefusedError, Parsed, Place, StepOutcome
from iotide_agent.workloads.fio import FioWorkload
from iotide_agent.workloads.fio_options import FioOptions
from iotide_agent.workloads.fio_report import PERCENTILES, merged_bins, percentile_seconds, read_report
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.units import MIB

FIO = FioWorkload()
COUNTERS = Counters(0, 0, 1.5)

# capture: the options it was made with, and per direction: bytes, operations, milliseconds
GOOD: dict[str, tuple[dict[str, object], dict[str, tuple[int, int, int]]]] = {
    "seq_write_json": (
        {"rw": "write", "file_size_bytes": 512 * MIB, "direct": False},
        {"write": (536_870_912, 512, 2778)},
    ),
    "seq_write_16m": (
        {"rw": "write", "file_size_bytes": 512 * MIB, "block_size_bytes": 16 * MIB, "direct": False},
        {"write": (536_870_912, 32, 2228)},
    ),
    "seq_write_direct": (
        {"rw": "write", "file_size_bytes": 512 * MIB},
        {"write": (536_870_912, 512, 436)},
    ),
    "rand_read_percentiles": (
        {"rw": "randread", "block_size_bytes": 4096, "runtime_seconds": 5, "io_engine": "libaio", "io_depth": 16},
        {"read": (541_368_320, 132_170, 5002)},
    ),
    "rand_read_lat_psync": (
        {"rw": "randread", "block_size_bytes": 4096, "runtime_seconds": 3},
        {"read": (151_052_288, 36_878, 3001)},
    ),
    "mixed_rw": (
        {"rw": "randrw", "block_size_bytes": 8192, "runtime_seconds": 3, "read_percent": 70},
        {"read": (548_708_352, 66_981, 3001), "write": (233_340_928, 28_484, 3001)},
    ),
}
FAILED = {
    "e_bad_option": "fio: failed parsing rw=wrong",
    "e_direct_einval_open": "EINVAL, Invalid argument: fio: looks like your file system does not support direct=1",
    "e_direct_unaligned": "EINVAL, Invalid argument: fio: io_u error on file /mnt/t/mnt/ext4/f",
    "e_edquot": "EDQUOT, Disk quota exceeded",
    "e_eio_continue": "EIO, Input/output error",
    "e_eio_fsync": "EIO, Input/output error",
    "e_eio_write": "EIO, Input/output error",
    "e_enospc": "ENOSPC, No space left on device: fio: io_u error on file /mnt/t/mnt/small/f",
    "e_enospc_fallocate": "ENOSPC, No space left on device: fio: io_u error on file /mnt/t/mnt/small/f",
    "e_enospc_multi": "ENOSPC, No space left on device",
    "e_estale_write": "ESTALE, Stale file handle",
    "e_no_engine": "fio: engine nosuch not loadable",
    "k_int": "interrupted",
    "k_int_twice": "interrupted",
    "k_kill": "signal 9",
    "k_term": "interrupted",
    "k_usr1": "interrupted",
    "rawread_ro": "EPERM, Operation not permitted",
}
# capture of an interrupted run: bytes, successful operations, and milliseconds until the interruption
CUT = {
    "e_edquot": (32_505_856, 31, 404),
    "e_eio_continue": (33_554_432, 32, 375),
    "e_eio_fsync": (16_777_216, 16, 74),
    "e_eio_write": (33_554_432, 32, 1262),
    "e_enospc": (55_574_528, 53, 736),
    "e_enospc_fallocate": (55_574_528, 53, 356),
    "e_estale_write": (16_777_216, 16, 188),
    "k_int": (121_634_816, 116, 1153),
    "k_int_twice": (152_043_520, 145, 1451),
    "k_term": (134_217_728, 128, 1280),
    "k_usr1": (156_237_824, 149, 1489),
}
NOTHING_DONE = ["e_direct_einval_open", "e_direct_unaligned", "rawread_ro"]
SAID_NOTHING = ["e_bad_option", "e_no_engine", "k_kill"]
TWO_WRITERS = "e_enospc_multi"

NO_JSON = "no JSON"
# capture: options that fit it, and the reason for its rejection
REFUSED: dict[str, tuple[dict[str, object], str]] = {
    "e_enospc_fill_fs": ({"file_size_bytes": 128 * MIB}, "134217728 bytes were planned, it moved 55574528"),
    "eta_always": ({"runtime_seconds": 4}, NO_JSON),
    "eta_always_json": ({"runtime_seconds": 4}, NO_JSON),
    "filecreate_10k": ({}, "no operation, or a run time below 1 ms"),
    "multi_jobs_4targets": ({"num_jobs": 2}, "2 jobs were planned, fio reports 4"),
    "normal_text": ({}, NO_JSON),
    "numjobs4_group": ({"num_jobs": 4, "file_size_bytes": 64 * MIB}, "4 jobs were planned, fio reports 1"),
    "terse_v3": ({}, NO_JSON),
}


def outcome_of(name: str, options: FioOptions, place: Place) -> StepOutcome:
    """Return a capture as the measured step, with its JSON on stdout or in a file."""
    outcome = captured(f"fio/{name}")
    if not outcome.stdout and name == "seq_write_json":
        outcome = replace(outcome, stdout=(DATA / "fio/seq_write.json").read_text())
    return as_step(outcome, steps_of(FIO, options, place)[-1])


def parse(name: str, options: FioOptions, place: Place) -> Parsed:
    return read_all(FIO, options, place, [outcome_of(name, options, place)])


def cut(name: str, options: FioOptions, place: Place) -> Parsed:
    return FIO.read_cut(options, place, outcome_of(name, options, place))


def flags_of(parsed: Parsed) -> dict[FlagCode, FlagEffect]:
    return {flag.code: flag.effect for flag in parsed.flags}


@pytest.mark.parametrize("name", GOOD)
def test_rates_are_bytes_and_operations_by_milliseconds(name: str, place: Place) -> None:
    given, directions = GOOD[name]
    parsed = parse(name, FioOptions.model_validate(given), place)
    values = {(sample.metric, sample.labels["operation"]): sample.value for sample in parsed.samples}
    for operation, (moved, operations, milliseconds) in directions.items():
        assert values["throughput", operation] == pytest.approx(moved / milliseconds * 1000)
        assert values["iops", operation] == pytest.approx(operations / milliseconds * 1000)
    assert {operation for _, operation in values} == directions.keys()


@pytest.mark.parametrize("name", GOOD)
def test_percentiles_from_the_bins_are_those_that_fio_prints(name: str, place: Place) -> None:
    options = FioOptions.model_validate(GOOD[name][0])
    text = next(iter(outcome_of(name, options, place).files.values()))
    for operation in GOOD[name][1]:
        printed = json.loads(text)["jobs"][0][operation]["clat_ns"]["percentile"]
        job = read_report("measure", text).jobs[0]
        bins = merged_bins([job.read if operation == "read" else job.write])
        for percent in PERCENTILES.values():
            key = f"{percent:.6f}"
            if key in printed:
                assert percentile_seconds(bins, percent) == pytest.approx(printed[key] * 1e-9)


def test_recorded_median_and_tail(place: Place) -> None:
    parsed = parse("rand_read_percentiles", FioOptions.model_validate(GOOD["rand_read_percentiles"][0]), place)
    latency = {sample.labels["percentile"]: sample.value for sample in parsed.samples if sample.metric == "latency"}
    assert latency["p50"] == pytest.approx(248_832e-9)
    assert latency["p99"] == pytest.approx(5_210_112e-9)


def made_slow(counts: dict[int, int], slowest_ns: int | None) -> dict[str, object]:
    """Return latencies as fio prints them for these bins; the last bin is named by its middle, 17,112,760,320 ns."""
    slowest = {} if slowest_ns is None else {"max": slowest_ns}
    return {"N": sum(counts.values()), "bins": {str(bin_ns): count for bin_ns, count in counts.items()}, **slowest}


def of_made_latencies(clat_ns: dict[str, object], place: Place) -> tuple[dict[str, float], list[Flag]]:
    """Return the latency samples and the bound flags of the captured run, with its latencies replaced by these."""
    options = FioOptions.model_validate(GOOD["rand_read_percentiles"][0])
    outcome = outcome_of("rand_read_percentiles", options, place)
    [(name, text)] = outcome.files.items()
    report = json.loads(text[text.index("{") :])
    done = report["jobs"][0]["read"]
    done["clat_ns"] = clat_ns
    done["total_ios"] = clat_ns["N"]
    parsed = read_all(FIO, options, place, [replace(outcome, files={name: json.dumps(report)})])
    samples = {str(one.labels["percentile"]): one.value for one in parsed.samples if one.metric == "latency"}
    return samples, [flag for flag in parsed.flags if flag.code is FlagCode.BOUND]


def test_a_latency_in_the_last_bin_is_the_slowest_operation_and_flagged_as_a_bound(place: Place) -> None:
    values, flags = of_made_latencies(made_slow({1_000_000: 900, 17_112_760_320: 100}, 23_400_000_000), place)
    assert (values["p50"], values["p95"], values["p99"]) == pytest.approx((0.001, 23.4, 23.4))
    assert [flag.labels["percentile"] for flag in flags] == ["p95", "p99", "p99_9"]
    assert flags[0].measured == "p95 is over 17 s; at most 23.4 s, the slowest operation"


def test_the_only_operation_in_the_last_bin_is_the_slowest_and_no_bound(place: Place) -> None:
    values, flags = of_made_latencies(made_slow({1_000_000: 999, 17_112_760_320: 1}, 23_400_000_000), place)
    assert values["p99"] == pytest.approx(0.001)
    assert flags == []
    values, flags = of_made_latencies(made_slow({17_112_760_320: 1}, 23_400_000_000), place)
    assert values["p50"] == pytest.approx(23.4)
    assert flags == []


def test_without_the_slowest_operation_the_begin_of_the_last_bin_is_the_bound(place: Place) -> None:
    values, flags = of_made_latencies(made_slow({17_112_760_320: 100}, None), place)
    assert values["p50"] == pytest.approx(17.045651456)
    assert "a lower bound" in flags[0].measured


@pytest.mark.parametrize("name", FAILED)
def test_failure_names_the_error_whatever_the_exit_status(name: str, place: Place) -> None:
    reason = FIO.failure(outcome_of(name, FioOptions(), place))
    assert reason is not None
    assert FAILED[name] in reason


def test_as_many_failed_jobs_as_the_status_of_an_interruption_are_no_interruption(place: Place) -> None:
    outcome = replace(outcome_of("e_enospc", FioOptions(), place), exit_status=128)
    assert FAILED["e_enospc"] in str(FIO.failure(outcome))


@pytest.mark.parametrize("name", CUT)
def test_bytes_before_an_error_or_a_signal_are_kept(name: str, place: Place) -> None:
    moved, operations, milliseconds = CUT[name]
    samples = cut(name, FioOptions(), place).samples
    assert {sample.metric: sample.value for sample in samples if sample.metric != "latency"} == {
        "throughput": pytest.approx(moved / milliseconds * 1000),
        "iops": pytest.approx(operations / milliseconds * 1000),
    }


def test_latencies_before_an_error_are_kept(place: Place) -> None:
    kept = [sample for sample in cut("e_enospc", FioOptions(), place).samples if sample.metric == "latency"]
    assert {sample.labels["percentile"] for sample in kept} == PERCENTILES.keys()


def test_nothing_is_kept_where_nothing_was_done(place: Place) -> None:
    for name in NOTHING_DONE:
        assert cut(name, FioOptions(), place) == Parsed([], (), [])
    for name in SAID_NOTHING:
        with pytest.raises(OutputRefusedError, match=NO_JSON):
            cut(name, FioOptions(), place)


def test_interrupted_layout_is_no_measurement(place: Place) -> None:
    options = FioOptions(rw="read")
    assert FIO.read_cut(options, place, as_step(captured("fio/k_int"), steps_of(FIO, options, place)[0])) == Parsed()


def test_every_capture_is_accounted_for() -> None:
    names = {path.name.removesuffix(".meta.json") for path in (DATA / "fio").glob("*.meta.json")}
    assert names == GOOD.keys() | WITHOUT_BINS.keys() | REFUSED.keys() | FAILED.keys()
    assert FAILED.keys() == {*CUT, *NOTHING_DONE, *SAID_NOTHING, TWO_WRITERS}


def test_good_captures_are_no_failures(place: Place) -> None:
    for name, (given, _) in GOOD.items():
        assert FIO.failure(outcome_of(name, FioOptions.model_validate(given), place)) is None


@pytest.mark.parametrize(
    ("name", "given", "problem"),
    [
        *((name, given, problem) for name, (given, problem) in REFUSED.items()),
        ("e_eio_continue", {"file_size_bytes": 64 * MIB}, "error 5, 32 errors ignored"),
        ("k_term", {"file_size_bytes": 3072 * MIB}, "3221225472 bytes were planned, it moved 134217728"),
        ("mixed_rw", {"rw": "randrw", "runtime_seconds": 60}, "60 s were planned, it ran 3 s"),
        ("rand_read_percentiles", {"rw": "write"}, "no operation, or a run time below 1 ms"),
        ("k_kill", {}, "no JSON"),
    ],
)
def test_report_that_contradicts_the_plan_is_refused(
    name: str, given: dict[str, object], problem: str, place: Place
) -> None:
    with pytest.raises(OutputRefusedError, match=problem):
        parse(name, FioOptions.model_validate(given), place)


@pytest.mark.parametrize("name", ["seq_write_json", "rand_read_percentiles", "mixed_rw"])
def test_cut_report_is_right_or_refused(name: str, place: Place) -> None:
    options = FioOptions.model_validate(GOOD[name][0])
    outcome = outcome_of(name, options, place)
    [(file, text)] = outcome.files.items()
    whole = read_all(FIO, options, place, [outcome])
    for end in (*range(0, len(text), 11), *range(len(text) - 300, len(text))):
        try:
            assert read_all(FIO, options, place, [replace(outcome, files={file: text[:end]})]) == whole
        except OutputRefusedError:
            continue


def test_status_documents_before_the_end_do_not_count(place: Place) -> None:
    options = FioOptions(runtime_seconds=4)
    outcome = outcome_of("status_interval", options, place)
    [(file, text)] = outcome.files.items()
    *begins, last = (found.start() for found in re.finditer(r"^\{", text, re.MULTILINE))
    assert len(begins) == 4
    [job] = read_report("measure", text).jobs
    assert (job.write.io_bytes, job.write.runtime) == (419_430_400, 4001)
    with pytest.raises(OutputRefusedError, match=r"4 s were planned, it ran 3\.89 s"):
        FIO.read(options, place, replace(outcome, files={file: text[:last]}))


@pytest.mark.parametrize("rw", ["write", "read", "randwrite", "randread", "rw", "randrw"])
def test_every_pattern_runs_for_real(rw: str, place: Place) -> None:
    options = FioOptions.model_validate({"rw": rw, "file_size_bytes": 2 * MIB, "block_size_bytes": 64 * 1024})
    steps = steps_of(FIO, options, place)

    outcomes = run_steps(steps, place)
    parsed = read_all(FIO, options, place, outcomes)

    assert [FIO.failure(outcome) for outcome in outcomes] == [None] * len(steps)
    assert [step.name for step in steps] == (["measure"] if rw == "write" else ["layout", "measure"])
    assert all(sample.value > 0 for sample in parsed.samples)
    assert {path.name for path in place.directory.iterdir()} == {"iotide.0.0"}
    assert flags_of(parsed)[FlagCode.DURATION] is FlagEffect.REJECTED


def test_size_that_no_block_divides_is_accepted(place: Place) -> None:
    options = FioOptions(rw="randwrite", file_size_bytes=MIB + 4096, block_size_bytes=64 * 1024)
    assert read_all(FIO, options, place, run_steps(steps_of(FIO, options, place), place)).samples


def test_missing_directory_is_an_error_and_not_made(place: Place) -> None:
    lost = replace(place, directory=place.directory / "unmounted")
    [outcome] = run_steps(steps_of(FIO, FioOptions(file_size_bytes=MIB), lost), lost)
    assert FIO.failure(outcome) is not None
    assert not lost.directory.exists()


def test_colon_in_the_path_is_no_list_of_directories(place: Place) -> None:
    odd = replace(place, directory=place.directory / "nfs:export")
    odd.directory.mkdir()
    run_steps(steps_of(FIO, FioOptions(file_size_bytes=MIB), odd), odd)
    assert (odd.directory / "iotide.0.0").stat().st_size == MIB


@pytest.mark.parametrize(
    ("rw", "block_size_bytes", "refills"),
    [("write", 4096, True), ("randrw", MIB - 512, True), ("write", MIB, False), ("randread", 4096, False)],
)
def test_blocks_that_would_repeat_within_a_record_get_new_data(
    place: Place, rw: str, block_size_bytes: int, *, refills: bool
) -> None:
    options = FioOptions.model_validate({"rw": rw, "block_size_bytes": block_size_bytes})
    [*_, measured] = steps_of(FIO, options, place)
    assert ("--refill_buffers=1" in measured.argv) is refills


def test_nothing_is_preallocated(place: Place) -> None:
    for step in steps_of(FIO, FioOptions(rw="randread"), place):
        assert "--fallocate=none" in step.argv


def test_rejected_direct_falls_back_and_is_flagged(place: Place) -> None:
    refusing = replace(place, direct_works=False)
    options = FioOptions(file_size_bytes=MIB)
    parsed = read_all(FIO, options, refusing, run_steps(steps_of(FIO, options, refusing), refusing))
    assert FlagCode.NO_DIRECT in flags_of(parsed)
    assert FlagCode.CACHE_SIZE in flags_of(parsed)
    assert {sample.labels["direct"] for sample in parsed.samples} == {False}


def test_buffered_write_without_flush_is_rejected(place: Place) -> None:
    given = GOOD["seq_write_json"][0] | {"end_fsync": False}
    parsed = parse("seq_write_json", FioOptions.model_validate(given), place)
    assert flags_of(parsed)[FlagCode.FSYNC] is FlagEffect.REJECTED


def test_buffered_read_is_warm_where_no_cache_was_dropped(place: Place) -> None:
    options = FioOptions.model_validate(GOOD["rand_read_lat_psync"][0] | {"direct": False})
    warm = replace(outcome_of("rand_read_lat_psync", options, place), before_done=Before.SYNC)
    assert FlagCode.CACHE_DROP in flags_of(read_all(FIO, options, place, [warm]))


def test_progress_is_time_where_there_is_a_run_time(place: Place) -> None:
    [timed] = steps_of(FIO, FioOptions(runtime_seconds=3), place)
    [sized] = steps_of(FIO, FioOptions(file_size_bytes=4 * MIB), place)
    assert FIO.progress(timed, COUNTERS, "") == 0.5
    assert FIO.progress(sized, Counters(MIB, 0, 1.0), "") == 0.25


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"io_depth": 8}, "needs io_engine libaio or io_uring"),
        ({"rw": "trim"}, "rw"),
        ({"block_size_bytes": 1000}, "block_size_bytes"),
        ({"file_size_bytes": 0}, "file_size_bytes"),
        ({"runtime_seconds": -1}, "runtime_seconds"),
        ({"exec_prerun": "rm"}, "exec_prerun"),
    ],
)
def test_bad_options_are_named(changed: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        FioOptions.model_validate(changed)


@pytest.mark.parametrize(
    ("engine", "direct", "threads"),
    [("libaio", False, 3), ("io_uring", True, 3), ("io_uring", False, None)],
)
def test_threads_are_unknown_where_the_engine_may_start_more(
    engine: str, threads: int | None, place: Place, *, direct: bool
) -> None:
    options = FioOptions.model_validate({"rw": "write", "io_engine": engine, "direct": direct, "num_jobs": 3})
    [step] = steps_of(FIO, options, replace(place, direct_works=True))
    assert step.threads == threads
    text = f"[a]\nsize=1m\nnumjobs=3\nioengine={engine}\ndirect={int(direct)}"
    *_, step = steps_of(FIO, FioOptions(job_file=text), replace(place, direct_works=True))
    assert step.threads == threads
