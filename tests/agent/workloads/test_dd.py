from dataclasses import replace

import pytest
from factories.outcomes import DATA, as_step, captured, read_all, run_steps, steps_of
from pydantic import ValidationError

from iotide_agent.workloads.base import Before, Counters, OutputRefusedError, Parsed, Place, StepOutcome
from iotide_agent.workloads.dd import DdOptions, DdWorkload
from iotide_wire.measured import FlagCode, FlagEffect
from iotide_wire.units import MIB

DD = DdWorkload()

# capture: block size and file size in bytes, seconds as dd printed them
GOOD = {
    "c_1000bytes": (1000, 1000, 0.000122613),
    "c_1024bytes": (1024, 1024, 0.000130575),
    "c_1byte": (1, 1, 0.000165808),
    "c_999bytes": (999, 999, 0.000148953),
    "c_GBps_devnull": (MIB, 10_737_418_240, 0.200656),
    "c_MBps_dsync4k": (4096, 4_194_304, 3.40517),
    "c_bs16MB_decimal": (16_000_000, 1_024_000_000, 0.803186),
    "c_bs16MB_decimal_fsync": (16_000_000, 1_024_000_000, 5.14713),
    "c_direct_1gib": (16 * MIB, 1024 * MIB, 1.47996),
    "c_direct_fsync_1gib": (16 * MIB, 1024 * MIB, 4.10736),
    "c_dsync_64x1m": (MIB, 64 * MIB, 0.5354),
    "c_fsync_1gib": (16 * MIB, 1024 * MIB, 11.7039),
    "c_nofsync_1gib": (16 * MIB, 1024 * MIB, 7.15852),
    "c_partial_record": (1_000_000, 1_500_000, 0.00221264),
    "c_read_cached": (16 * MIB, 64 * MIB, 0.51395),
    "c_read_cold_direct": (16 * MIB, 64 * MIB, 0.0656611),
    "c_slow_kBps": (512, 16_384, 0.132897),
    "c_status_progress": (MIB, 1536 * MIB, 20.4406),
    "c_usr1": (MIB, 1500 * MIB, 5.93028),
    "e_einval_direct_tmpfs": (MIB, 4 * MIB, 0.00205495),
    "e_eio_on_fsync_nofsync": (MIB, 64 * MIB, 0.0433196),
    "ja_JP_1gib": (16 * MIB, 256 * MIB, 1.33965),
}
REFUSED = {
    "c_short_reads_pipe": (MIB, 2 * MIB),
    "c_status_none": (MIB, MIB),
    "c_status_noxfer": (MIB, MIB),
    "c_zero_count0": (MIB, MIB),
    "de_DE_1gib": (16 * MIB, 256 * MIB),
    "de_DE_numeric_only": (16 * MIB, 256 * MIB),
    "de_DE_subsecond_kB": (512, 16_384),
    "fi_FI_1gib": (16 * MIB, 256 * MIB),
    "fr_FR_1gib": (16 * MIB, 256 * MIB),
}
FAILED = {
    "c_TBps_seek": "File too large",
    "e_de_enospc": "verfügbar",
    "e_edquot_btrfs": "dd: error writing '/mnt/t/mnt/btrfs/q/f': Disk quota exceeded",
    "e_edquot_write": "Disk quota exceeded",
    "e_einval_direct_unaligned": "Invalid argument",
    "e_einval_open_direct": "dd: failed to open '/mnt/t/mnt/fuse/f': Invalid argument",
    "e_eio_on_fsync": "dd: fsync failed for '/mnt/t/mnt/fuse/f': Input/output error",
    "e_eio_read": "Input/output error",
    "e_eio_write": "Input/output error",
    "e_enoent": "No such file or directory",
    "e_enospc": "dd: error writing '/mnt/t/mnt/small/f': No space left on device",
    "e_enospc_direct": "No space left on device",
    "e_erofs": "Input/output error",
    "e_estale_write": "Stale file handle",
    "vda_read_direct": "Operation not permitted",
    "c_sigint": "signal 2",
    "c_sigkill": "signal 9",
    "c_sigterm": "signal 15",
    "c_sigterm_during_fsync": "signal 15",
    "c_usr1_then_term": "signal 15",
    "e_efbig_ulimit": "signal 25",
    "e_eio_read_noerror": "signal 9",
}


def options_for(block_size_bytes: int, file_size_bytes: int) -> DdOptions:
    """Return the options of a capture; unchecked, since some captures use sizes that iotide rejects."""
    return DdOptions.model_construct(
        block_size_bytes=block_size_bytes, file_size_bytes=file_size_bytes, operations=("write",)
    )


def parse(outcome: StepOutcome, options: DdOptions, place: Place) -> Parsed:
    return read_all(DD, options, place, [as_step(outcome, steps_of(DD, options, place)[0])])


@pytest.mark.parametrize("name", GOOD)
def test_throughput_is_bytes_by_dds_own_seconds(name: str, place: Place) -> None:
    block, size, seconds = GOOD[name]
    outcome = captured(f"dd/{name}")

    throughput, real, user, system, wait = parse(outcome, options_for(block, size), place).samples

    assert throughput.value == pytest.approx(size / seconds)
    assert (real.labels["part"], real.value) == ("real", outcome.wall_seconds)
    assert (user.labels["part"], user.value) == ("user", outcome.user_seconds)
    assert (system.labels["part"], system.value) == ("sys", outcome.system_seconds)
    assert wait.value == pytest.approx(outcome.wall_seconds - outcome.user_seconds - outcome.system_seconds)


@pytest.mark.parametrize("name", REFUSED)
def test_output_that_promises_less_is_refused_and_shown(name: str, place: Place) -> None:
    outcome = captured(f"dd/{name}")
    with pytest.raises(OutputRefusedError, match="step write") as refused:
        parse(outcome, options_for(*REFUSED[name]), place)
    assert repr(outcome.stderr)[1:40] in str(refused.value)


@pytest.mark.parametrize("name", FAILED)
def test_failure_is_named_as_dd_names_it(name: str) -> None:
    reason = DD.failure(captured(f"dd/{name}"))
    assert reason is not None
    assert FAILED[name] in reason


def test_every_capture_is_accounted_for() -> None:
    names = {path.name.removesuffix(".meta.json") for path in (DATA / "dd").glob("*.meta.json")}
    assert names == GOOD.keys() | REFUSED.keys() | FAILED.keys()


@pytest.mark.parametrize("name", GOOD)
def test_cut_output_is_right_or_refused_at_every_byte(name: str, place: Place) -> None:
    block, size, _ = GOOD[name]
    outcome, options = captured(f"dd/{name}"), options_for(block, size)
    whole = parse(outcome, options, place)
    for end in range(len(outcome.stderr)):
        cut = replace(outcome, stderr=outcome.stderr[:end])
        try:
            assert parse(cut, options, place) == whole
        except OutputRefusedError:
            continue


def test_byte_count_must_be_the_planned_one(place: Place) -> None:
    with pytest.raises(OutputRefusedError, match=r"the plan was 65\+0 records"):
        parse(captured("dd/c_fsync_1gib"), options_for(16 * MIB, 1040 * MIB), place)


def test_write_and_read_back_for_real(place: Place) -> None:
    options = DdOptions(file_size_bytes=3 * MIB + 5 * 512, block_size_bytes=MIB)

    parsed = read_all(DD, options, place, run_steps(steps_of(DD, options, place), place))

    rates = {sample.labels["operation"]: sample.value for sample in parsed.samples if sample.metric == "throughput"}
    assert rates.keys() == {"write", "read"}
    assert min(rates.values()) > 1e5
    assert (place.directory / "dd.data").stat().st_size == 3 * MIB + 5 * 512


@pytest.mark.parametrize(
    ("flush", "arguments"),
    [
        ("fsync", ("conv=fsync",)),
        ("direct", ("oflag=direct", "conv=fsync")),
        ("dsync", ("oflag=dsync",)),
        ("none", ()),
    ],
)
def test_flush_becomes_dds_own_flags(flush: str, arguments: tuple[str, ...], place: Place) -> None:
    options = DdOptions.model_validate({"flush": flush})
    write, _ = steps_of(DD, options, replace(place, direct_works=True))
    assert write.argv[6:] == arguments


def test_direct_writes_a_size_that_no_block_divides(place: Place) -> None:
    assert place.direct_works
    options = DdOptions(file_size_bytes=2 * MIB + 700, block_size_bytes=MIB, flush="direct")

    parsed = read_all(DD, options, place, run_steps(steps_of(DD, options, place), place))

    assert all(sample.labels["direct"] is True for sample in parsed.samples)
    assert (place.directory / "dd.data").stat().st_size == 2 * MIB + 700


def test_rejected_direct_falls_back_and_is_flagged(place: Place) -> None:
    refusing = replace(place, direct_works=False, fstype="tmpfs")
    options = DdOptions(file_size_bytes=MIB, block_size_bytes=MIB, flush="direct")
    steps = steps_of(DD, options, refusing)

    parsed = read_all(DD, options, refusing, run_steps(steps, refusing))

    assert not any(argument.endswith("flag=direct") for step in steps for argument in step.argv)
    assert "conv=fsync" in steps[0].argv
    assert all(sample.labels["direct"] is False for sample in parsed.samples)
    refusals = [flag for flag in parsed.flags if flag.code is FlagCode.NO_DIRECT]
    assert [flag.labels for flag in refusals] == [{"operation": "write"}, {"operation": "read"}]
    assert refusals[0].measured.startswith("tmpfs refuses O_DIRECT")


def flags_of(parsed: Parsed) -> dict[FlagCode, FlagEffect]:
    return {flag.code: flag.effect for flag in parsed.flags}


def test_write_without_flush_is_rejected(place: Place) -> None:
    options = options_for(16 * MIB, 1024 * MIB).model_copy(update={"flush": "none"})
    flags = flags_of(parse(captured("dd/c_nofsync_1gib"), options, place))
    assert flags[FlagCode.FSYNC] is FlagEffect.REJECTED
    assert FlagCode.FSYNC not in flags_of(parse(captured("dd/c_fsync_1gib"), options_for(16 * MIB, 1024 * MIB), place))


def test_file_that_memory_can_hold_is_flagged_unless_direct(place: Place) -> None:
    outcome, options = captured("dd/c_fsync_1gib"), options_for(16 * MIB, 1024 * MIB)
    direct = options.model_copy(update={"flush": "direct"})
    small_memory = replace(place, facts={"memory.total_bytes": 256 * MIB})
    assert FlagCode.CACHE_SIZE in flags_of(parse(outcome, options, place))
    assert FlagCode.CACHE_SIZE not in flags_of(parse(outcome, options, small_memory))
    assert FlagCode.CACHE_SIZE not in flags_of(parse(outcome, direct, replace(place, direct_works=True)))


@pytest.mark.parametrize(("done", "warm"), [(Before.SYNC, True), (Before.DROP, False), (Before.REMOUNT, False)])
def test_read_is_warm_where_no_cache_was_dropped(done: Before, place: Place, *, warm: bool) -> None:
    options = options_for(16 * MIB, 64 * MIB).model_copy(update={"operations": ("write", "read")})
    _, read = steps_of(DD, options, place)
    outcome = replace(as_step(captured("dd/c_read_cached"), read), before_done=done)
    assert (FlagCode.CACHE_DROP in flags_of(read_all(DD, options, place, [outcome]))) is warm


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"file_size_bytes": 0}, "file_size_bytes"),
        ({"file_size_bytes": -1}, "file_size_bytes"),
        ({"block_size_bytes": 1000}, "block_size_bytes"),
        ({"flush": "maybe"}, "flush"),
        ({"operations": ["read"]}, "include write, which creates the file"),
        ({"operations": ["write", "write"]}, "only once"),
        ({"operations": []}, "operations"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_options_are_named(changed: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        DdOptions.model_validate(changed)


def test_progress_counts_the_file_once_though_dd_reads_what_it_writes(place: Place) -> None:
    [write, _] = steps_of(DD, DdOptions(file_size_bytes=100 * MIB), place)
    assert DD.progress(write, Counters(25 * MIB, 25 * MIB, 1.0), "") == 0.25
    assert DD.progress(write, Counters(101 * MIB, 101 * MIB, 1.0), "") == 1.0
