from dataclasses import replace
from itertools import pairwise

import pytest
from agent.judging.rows import flags_of
from factories.outcomes import DATA, MEMORY_BYTES, as_step, captured, read_all, run_steps, steps_of

from iotide_agent.workloads.base import Before, Counters, OutputRefusedError, Parsed, Place, StepOutcome
from iotide_agent.workloads.iozone import IozoneWorkload
from iotide_agent.workloads.iozone_options import IozoneOptions
from iotide_agent.workloads.iozone_quality import MAX_REJECTIONS, judge_cells
from iotide_agent.workloads.iozone_report import Row
from iotide_wire.measured import FlagCode, FlagEffect
from iotide_wire.units import KIB, MIB

IOZONE = IozoneWorkload()
WRITE, READ = ("write", "rewrite"), ("read", "reread")


def sweep(file_mib: int, record_kib: int, *tests: str, **others: object) -> dict[str, object]:
    """Options of a capture at one file size and one record size."""
    sizes = {"min_record_size_bytes": record_kib * KIB, "max_record_size_bytes": record_kib * KIB}
    return {"file_size_bytes": file_mib * MIB, "tests": ["write", *tests], **sizes, **others}


# capture: options that would have run the same; first and last value of the table, KiB/s
GOOD: dict[str, tuple[dict[str, object], int, int]] = {
    "a_g16m": ({"mode": "auto", "file_size_bytes": 16 * MIB}, 1_648_808, 5_131_457),
    "a_z_g64m_i0_z": ({"mode": "auto", "file_size_bytes": 64 * MIB, "tests": ["write"]}, 1_780_008, 4_327_504),
    "a_fixed_s16m_rec_sweep": (
        {"file_size_bytes": 16 * MIB, "tests": ["write", "read", "random"]},
        399_523,
        1_246_028,
    ),
    "a_12tests_ext": (sweep(16, 1024, *IozoneOptions().tests[1:], "pwrite", "pread"), 4_734_113, 27_678_153),
    "a_s16m_flag": ({"file_size_bytes": 16 * MIB, "tests": ["write", "read"]}, 511_025, 9_421_621),
    "I_direct_ext4": (sweep(64, 1024, "read", "random", flush="direct"), 2_158_278, 2_144_571),
    "I_direct_tmpfs": (sweep(16, 1024, "read", flush="direct"), 1_567_084, 7_201_936),
    "Q_latency": (sweep(4, 256, "read"), 385_615, 7_061_751),
    "i0_i1": (sweep(16, 256, "read"), 112_259, 23_706_134),
    "i0_i2": (sweep(16, 256, "random"), 1_085_241, 1_803_812),
    "i0_i3": (sweep(16, 256, "backward-read"), 1_103_363, 3_754_176),
    "i0_i4": (sweep(16, 256, "record-rewrite"), 1_176_425, 17_826_962),
    "i0_i5": (sweep(16, 256, "stride-read"), 1_163_458, 10_089_772),
    "i0_i6": (sweep(16, 256, "fwrite"), 1_196_352, 1_521_998),
    "i0_i7": (sweep(16, 256, "fread"), 222_672, 26_730_715),
    "i0_i8": (sweep(16, 256), 833_571, 1_005_217),
    "i0_i9": (sweep(16, 256), 993_575, 1_381_107),
    "i0_i10": (sweep(16, 256), 1_100_853, 1_611_778),
    "i0_only": (sweep(64, 1024), 522_765, 1_667_828),
    "o_sync": (sweep(8, 1024), 681_418, 1_052_146),
    "t2_X_hist": (sweep(8, 256, "read"), 255_402, 21_971_871),
    "w_keep": (sweep(8, 1024), 4_850_463, 16_927_599),
}
GOOD_THROUGHPUT = {"t3_x_C_all"}
REFUSED = {
    "A_auto2": ({"mode": "auto", "file_size_bytes": MIB, "tests": ["write", "read"]}, "no table that ends"),
    "N_usec": (sweep(16, 256, "read", "random"), "does not print kBytes/sec as its unit"),
    "O_ops": (sweep(16, 4, "read", "random"), "does not print kBytes/sec as its unit"),
    "a_g8m_ec_Rb": ({"mode": "auto", "file_size_bytes": 8 * MIB}, "no table that ends"),
    "a_z_g64m_i0": (
        {"mode": "auto", "file_size_bytes": 64 * MIB, "tests": ["write"]},
        "other sizes than the 107 planned",
    ),
    "e_rec_gt_file": (sweep(4, 4096), "other sizes than the 1 planned"),
    "i0_n_retests": (sweep(64, 1024), "a row does not have exactly write, rewrite"),
    "r_list_fixed": ({"file_size_bytes": 64 * MIB, "tests": ["write", "read"]}, "other sizes than the 13 planned"),
    "u_cpu": (sweep(16, 256, "read"), "no table that ends"),
    "cluster_m": (sweep(16, 256, "read", mode="throughput", processes=2), "no blocks that end"),
    "l1_u4_R": (sweep(8, 256, "read", mode="throughput"), "no blocks that end"),
    "t4_T_pthreads": (sweep(8, 256, "read", mode="throughput"), "print what each process"),
    "t4_e": (sweep(16, 256, "read", "random", mode="throughput"), "no blocks that end"),
    "t4_full": (sweep(8, 256, "read", mode="throughput"), "no blocks that end"),
    "t4_multi_target": (sweep(32, 1024, "read", mode="throughput"), "no blocks that end"),
    "t4_x_nostonewall": (sweep(16, 256, "read", mode="throughput"), "no blocks that end"),
    "t4_C_perchild": (sweep(16, 256, "read", mode="throughput"), "write: not every process moved its whole file"),
}
FAILED = {
    "U_nofstab": "mount: /mnt/t/mnt/ext4: can't find in /etc/fstab.; /usr/bin/iozone was ended by signal 9",
    "e_I_einval": "iozone: open: Invalid argument; Can not open temp file: /mnt/t/mnt/fuse/iz.tmp",
    "e_edquot": "iozone: Error writing block 31, fd= 3",
    "e_eio_fsync": "iozone: fsync: Input/output error; interrupted",
    "e_eio_write": "iozone: write: Input/output error; Error writing block 32, fd= 3",
    "e_enoent": "iozone: open: No such file or directory; Can not open temp file",
    "e_enospc": "iozone: write: No space left on device; Error writing block 53, fd= 3",
    "e_enospc_auto": "iozone: write: No space left on device; Error writing block 53, fd= 3",
    "e_enospc_t4": "iozone: write: No space left on device; Error writing block 8, fd= 3; /usr/bin/iozone was ended by",
    "e_estale_read": "iozone: read: Stale file handle; Error reading block 0",
    "i0_i11": "this build of iozone lacks pwritev and preadv",
    "i0_i12": "this build of iozone lacks pwritev and preadv",
    "i1_without_file": "iozone: open: No such file or directory",
    "k_int_R": "iozone: interrupted",
    "k_int_auto": "iozone: interrupted",
    "k_kill_auto": "/usr/bin/iozone was ended by signal 9",
    "k_term_auto": "iozone: interrupted",
    "k_term_t4": "iozone: interrupted",
}
STONE_WALLED = sweep(16, 256, "read", mode="throughput", stone_walling=True)


def outcome_of(name: str, options: IozoneOptions, place: Place) -> StepOutcome:
    return as_step(captured(f"iozone/{name}"), steps_of(IOZONE, options, place)[0])


def parse(name: str, given: dict[str, object], place: Place) -> Parsed:
    options = IozoneOptions.model_validate(given)
    return read_all(IOZONE, options, place, [outcome_of(name, options, place)])


def run(given: dict[str, object], place: Place) -> tuple[StepOutcome, Parsed]:
    options = IozoneOptions.model_validate(given)
    [outcome] = run_steps(steps_of(IOZONE, options, place), place)
    assert IOZONE.failure(outcome) is None
    return outcome, read_all(IOZONE, options, place, [outcome])


def rates(parsed: Parsed) -> list[float]:
    return [sample.value for sample in parsed.samples if sample.metric == "throughput"]


def test_every_capture_is_accounted_for() -> None:
    names = {path.name.removesuffix(".meta.json") for path in (DATA / "iozone").glob("*.meta.json")}
    assert names == GOOD.keys() | GOOD_THROUGHPUT | REFUSED.keys() | FAILED.keys()


@pytest.mark.parametrize("name", GOOD)
def test_cells_are_kibibytes_a_second(name: str, place: Place) -> None:
    given, first, last = GOOD[name]
    assert IOZONE.failure(captured(f"iozone/{name}")) is None
    values = rates(parse(name, given, place))
    assert (values[0], values[-1]) == (first * KIB, last * KIB)


def test_every_cell_of_a_surface_is_a_sample_with_its_sizes(place: Place) -> None:
    parsed = parse("a_g16m", GOOD["a_g16m"][0], place)
    cells = {
        (sample.labels["file_size_bytes"], sample.labels["record_size_bytes"], sample.labels["operation"]): sample.value
        for sample in parsed.samples
        if sample.metric == "throughput"
    }
    assert len(cells) == 81 * 13
    assert cells[64 * KIB, 4 * KIB, "record_rewrite"] == 6_271_021 * KIB
    assert cells[16 * MIB, 16 * MIB, "write"] == 2_107_002 * KIB


@pytest.mark.parametrize("name", REFUSED)
def test_output_that_contradicts_the_plan_is_rejected(name: str, place: Place) -> None:
    given, problem = REFUSED[name]
    with pytest.raises(OutputRefusedError, match=problem):
        parse(name, given, place)


@pytest.mark.parametrize("name", FAILED)
def test_failure_is_what_iozone_prints_whatever_its_exit_status(name: str) -> None:
    reason = IOZONE.failure(captured(f"iozone/{name}"))
    assert reason is not None
    assert FAILED[name] in reason


def test_status_0_without_the_last_line_is_a_failure() -> None:
    outcome = captured("iozone/i0_i1")
    cut = replace(outcome, stdout=outcome.stdout.partition("\niozone test")[0])
    assert "without its last line" in str(IOZONE.failure(cut))


def test_cut_table_keeps_its_whole_cells_at_every_byte(place: Place) -> None:
    options = IozoneOptions.model_validate({"mode": "auto", "file_size_bytes": 64 * MIB})
    outcome = outcome_of("k_kill_auto", options, place)
    assert len(rates(IOZONE.read_cut(options, place, outcome))) == 13 * 56 + 6
    text = outcome.stdout
    heading = text.index("freread\n") + len("freread\n")
    kept = [
        rates(IOZONE.read_cut(options, place, replace(outcome, stdout=text[:end])))
        for end in range(heading, heading + 1000)
    ]
    for shorter, longer in pairwise(kept):
        assert longer[: len(shorter)] == shorter


def test_interrupted_table_keeps_the_cells_before(place: Place) -> None:
    options = IozoneOptions.model_validate({"mode": "auto", "file_size_bytes": 64 * MIB})
    cells = list(IOZONE.read_cut(options, place, outcome_of("k_term_auto", options, place)).samples)
    assert (cells[-1].labels["operation"], cells[-1].value) == ("reread", 56288 * KIB)


def test_survivors_of_a_full_file_system_are_no_result(place: Place) -> None:
    options = IozoneOptions.model_validate(sweep(32, 1024, "read", mode="throughput"))
    assert not IOZONE.read_cut(options, place, outcome_of("e_enospc_t4", options, place)).samples


def test_cut_throughput_mode_keeps_the_operations_that_all_had_done(place: Place) -> None:
    options = IozoneOptions.model_validate(STONE_WALLED)
    outcome = outcome_of("t4_C_perchild", options, place)
    begun = outcome.stdout.index("Child[2]", outcome.stdout.index("re-readers"))
    kept = IOZONE.read_cut(options, place, replace(outcome, stdout=outcome.stdout[:begun])).samples
    assert {sample.labels["operation"] for sample in kept} == {"write", "rewrite", "read"}


def test_throughput_mode_has_each_process_and_what_all_reached_together(place: Place) -> None:
    parsed = parse("t4_C_perchild", STONE_WALLED, place)
    write = [sample for sample in parsed.samples if sample.labels.get("operation") == "write"]
    own = {sample.labels["writer"]: sample.value for sample in write if sample.metric == "throughput"}
    together = {sample.metric: sample.value for sample in write if sample.metric != "throughput"}
    assert own == {number: pytest.approx(rate * KIB) for number, rate in enumerate(CHILDREN, start=1)}
    assert together["total_throughput"] == pytest.approx(59725.13 * KIB)
    assert together["first_done"] == pytest.approx(16384 / 283784.41)
    assert together["last_done"] == pytest.approx(7168 / 29989.23)
    assert together["fairness"] == pytest.approx(sum(CHILDREN) ** 2 / 4 / sum(rate**2 for rate in CHILDREN))


CHILDREN = [11693.65, 24507.67, 283784.41, 29989.23]


def test_process_that_never_began_is_no_sample(place: Place) -> None:
    parsed = parse("t4_C_perchild", STONE_WALLED, place)
    read = [sample.labels.get("writer") for sample in parsed.samples if sample.labels.get("operation") == "read"]
    assert [number for number in read if number] == [2, 3]


def test_slowest_process_is_compared_with_the_median_of_the_others(place: Place) -> None:
    flags = [flag for flag in parse("t4_C_perchild", STONE_WALLED, place).flags if flag.code is FlagCode.STRAGGLER]
    # The reread took 1253 / 875 = 1.43 times as long as the median of the others.
    assert [flag.labels["operation"] for flag in flags] == ["write", "rewrite", "read"]
    assert flags[0].measured == "write: the slowest process takes 1.4 s for its file, the median of the others 546 ms"
    assert flags[0].limit == "1.5 x the median of the others"


def test_only_files_that_memory_can_hold_are_warm_where_the_data_is_larger_than_it(place: Place) -> None:
    rows = [Row(kib, 64, {"write": 10**6, "read": 10**6}) for kib in (1024, 2 * MEMORY_BYTES // KIB)]
    by_policy = {
        policy: [
            flag.labels
            for flag in flags_of(judge_cells(place, rows, 1e-6, "fsync", policy))
            if flag.code == "CACHE_DROP"
        ]
        for policy in (Before.DROP, Before.LARGER_THAN_MEMORY)
    }
    assert by_policy == {
        Before.DROP: [{"operation": "read"}],
        Before.LARGER_THAN_MEMORY: [{"operation": "read", "file_size_bytes": MIB}],
    }


def test_sum_that_is_not_that_of_its_processes_is_refused(place: Place) -> None:
    options = IozoneOptions.model_validate(STONE_WALLED)
    outcome = outcome_of("t4_C_perchild", options, place)
    forged = replace(
        outcome, stdout=outcome.stdout.replace("11693.65 kB/sec\n\tChild[1]", "21693.65 kB/sec\n\tChild[1]")
    )
    with pytest.raises(OutputRefusedError, match="do not add up to the printed sum"):
        read_all(IOZONE, options, place, [forged])


def test_cells_shorter_than_the_clock_allows_are_rejected_and_no_others(place: Place) -> None:
    given = GOOD["a_fixed_s16m_rec_sweep"][0]
    parsed = parse("a_fixed_s16m_rec_sweep", given, place)
    rejections = [flag for flag in parsed.flags if flag.effect is FlagEffect.REJECTED]
    assert {flag.code for flag in rejections} == {FlagCode.DURATION}
    assert all(flag.labels for flag in rejections)
    for sample in parsed.samples:
        if sample.metric == "throughput":
            too_short = 16 * MIB / sample.value < 1e-3
            assert any(flag.labels.items() <= sample.labels.items() for flag in rejections) is too_short


def test_no_result_has_more_flags_of_short_cells_than_it_can_hold(place: Place) -> None:
    rows = [
        Row(64 << power, 4 << record, dict.fromkeys(("write", "read"), 10**6 if (power + record) % 2 else 10**12))
        for power in range(20)
        for record in range(13)
    ]
    flags = flags_of(judge_cells(place, rows, 1e-6, "fsync", Before.SYNC))
    rejected = [flag.labels for flag in flags if flag.effect is FlagEffect.REJECTED]
    assert 0 < len(rejected) <= MAX_REJECTIONS
    for row in rows:
        if row.file_kib / row.rates["write"] < 1e-3:
            assert any(labels["file_size_bytes"] == row.file_kib * KIB for labels in rejected)


def test_zero_is_not_measured(place: Place) -> None:
    parsed = parse("i0_n_retests", sweep(64, 1024, "read"), place)
    operations = [sample.labels["operation"] for sample in parsed.samples if sample.metric == "throughput"]
    assert operations == ["write", "read"]
    too_fast = [flag for flag in parsed.flags if flag.code is FlagCode.TOO_FAST]
    assert ["0 for 1 cells" in flag.measured for flag in too_fast] == [True, True]
    # Each message says which value is missing, and none concerns a value that is present.
    assert {flag.labels["operation"] for flag in too_fast} == {"rewrite", "reread"}
    assert not any(flag.labels.items() <= sample.labels.items() for flag in too_fast for sample in parsed.samples)


def test_buffered_write_without_flush_is_rejected(place: Place) -> None:
    given = sweep(8, 1024)
    flags = parse("w_keep", given | {"flush": "none"}, place).flags
    unflushed = [flag.labels for flag in flags if flag.code is FlagCode.FSYNC and flag.effect is FlagEffect.REJECTED]
    assert unflushed == [{"operation": "write"}, {"operation": "rewrite"}]
    assert FlagCode.FSYNC not in {flag.code for flag in parse("w_keep", given, place).flags}


def test_real_surface_has_the_planned_rows_and_leaves_no_file(place: Place) -> None:
    given: dict[str, object] = {
        "mode": "auto",
        "min_file_size_bytes": 64 * KIB,
        "file_size_bytes": 3 * MIB,
        "min_record_size_bytes": 256 * KIB,
        "max_record_size_bytes": MIB,
        "tests": ["write", "read"],
    }
    _, parsed = run(given, place)
    sizes = [(sample.labels["file_size_bytes"], sample.labels["record_size_bytes"]) for sample in parsed.samples[:-1]]
    planned = [(256, 256), (512, 256), (512, 512), (1024, 256), (1024, 512), (1024, 1024)]
    planned += [(2048, 256), (2048, 512), (2048, 1024)]
    assert list(dict.fromkeys(sizes)) == [(file * KIB, record * KIB) for file, record in planned]
    assert list(place.directory.iterdir()) == []


def test_touching_figures_of_extension_tests_are_separated(place: Place) -> None:
    parsed = parse("a_12tests_ext", GOOD["a_12tests_ext"][0], place)
    values = {sample.labels.get("operation"): sample.value / KIB for sample in parsed.samples}
    assert (values["repwrite"], values["pread"]) == (11_586_870, 30_680_999)


def test_extension_tests_and_mixed_are_measured_by_what_is_installed(place: Place) -> None:
    _, parsed = run(sweep(1, 64, "pwrite", "pread"), place)
    operations = {sample.labels.get("operation") for sample in parsed.samples}
    assert operations >= {"pwrite", "repwrite", "pread", "repread"}
    given = sweep(1, 64, "pwrite", "pread", "mixed", mode="throughput", processes=4, mixed_sequential=True)
    outcome, parsed = run(given | {"mixed_readers_percent": 75}, place)
    totals = [sample.labels["operation"] for sample in parsed.samples if sample.metric == "total_throughput"]
    assert totals == ["write", "rewrite", "mixed", "pwrite", "pread"]
    assert "Percent read in mix test is 75" in outcome.stdout
    assert ">>> Sequential Mixed workload. <<<" in outcome.stdout


def test_mixed_is_a_write_to_be_flushed_and_a_read_of_warm_data(place: Place) -> None:
    rows = [Row(1024, 64, {"mixed": 10**6})]
    flags = flags_of(judge_cells(place, rows, 1e-6, "none", Before.DROP))
    codes = {flag.code for flag in flags if flag.labels == {"operation": "mixed"}}
    assert codes == {FlagCode.FSYNC, FlagCode.CACHE_DROP}


@pytest.mark.parametrize("test", ["pwritev", "preadv"])
def test_build_that_lacks_a_test_says_so_and_keeps_the_others(test: str, place: Place) -> None:
    options = IozoneOptions.model_validate(sweep(1, 64, test))
    [outcome] = run_steps(steps_of(IOZONE, options, place), place)
    assert IOZONE.failure(outcome) == "this build of iozone lacks pwritev and preadv; leave out these tests"
    kept = IOZONE.read_cut(options, place, outcome).samples
    assert [sample.labels["operation"] for sample in kept] == ["write", "rewrite"]


def test_throughput_mode_has_its_own_operations_in_its_own_order(place: Place) -> None:
    given = {**sweep(2, 64), "tests": IozoneOptions().tests, "mode": "throughput", "processes": 3}
    parsed = parse("t3_x_C_all", given, place)
    operations = list(dict.fromkeys(sample.labels.get("operation") for sample in parsed.samples[:-1]))
    assert operations[:6] == [*WRITE, *READ, "backward_read", "stride_read"]
    assert operations[6:] == ["random_read", "random_write", "fwrite", "fread"]
    assert len(rates(parsed)) == 3 * len(operations)


def test_real_processes_each_move_their_whole_file(place: Place) -> None:
    outcome, parsed = run(sweep(1, 64, "record-rewrite", mode="throughput", processes=2), place)
    assert [sample.labels["writer"] for sample in parsed.samples if sample.metric == "throughput"] == [1, 2, 1, 2]
    assert "-x" in outcome.step.argv


def test_direct_bypasses_the_cache_except_for_streams(place: Place) -> None:
    assert place.direct_works
    _, parsed = run(sweep(1, 64, "read", "fread", flush="direct"), place)
    direct = {sample.labels["operation"]: sample.labels["direct"] for sample in parsed.samples[:-1]}
    assert direct == dict.fromkeys((*WRITE, *READ), True) | dict.fromkeys(("fread", "freread"), False)
    warm = {flag.labels["operation"] for flag in parsed.flags if flag.code is FlagCode.CACHE_DROP}
    assert warm == {"fread", "freread"}


def test_rejected_direct_falls_back_and_is_flagged(place: Place) -> None:
    refusing = replace(place, direct_works=False)
    options = IozoneOptions.model_validate(sweep(1, 64, flush="direct"))
    [step] = steps_of(IOZONE, options, refusing)
    assert "-I" not in step.argv
    assert "-e" in step.argv
    parsed = read_all(IOZONE, options, refusing, run_steps([step], refusing))
    assert FlagCode.NO_DIRECT in {flag.code for flag in parsed.flags}
    assert {sample.labels["direct"] for sample in parsed.samples[:-1]} == {False}


def test_progress_is_the_share_of_the_bytes_of_all_cells(place: Place) -> None:
    [step] = steps_of(IOZONE, IozoneOptions.model_validate(sweep(64, 1024, "read")), place)
    assert IOZONE.progress(step, Counters(64 * MIB, 0, 1.0), "") == 0.25
