from dataclasses import replace
from itertools import chain

import pytest
from factories.outcomes import DATA, as_step, captured, read_all, run_steps, steps_of, two_places
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from iotide_agent.workloads.base import Before, Counters, OutputRefusedError, Parsed, Place, StepOutcome
from iotide_agent.workloads.bonnie import BonnieOptions, BonnieWorkload
from iotide_agent.workloads.bonnie_report import FIELDS
from iotide_wire.measured import FlagCode
from iotide_wire.units import KIB, MIB

BONNIE = BonnieWorkload()


def large(mib: int, *, char: bool = False, **others: object) -> dict[str, object]:
    """Options of a capture with a large file only."""
    return {"tests": ["char"] if char else ["block"], "file_size_bytes": mib * MIB, **others}


def both(mib: int, thousands: int, *, char: bool = False) -> dict[str, object]:
    return {
        "tests": ["char" if char else "block", "files"],
        "file_size_bytes": mib * MIB,
        "file_count": thousands * 1024,
    }


NOQ = {"char_write": 709, "write": 208_239, "rewrite": 756_898, "char_read": 807}

# capture: options that would have run the same; values of some phases, as printed
GOOD: dict[str, tuple[dict[str, object], dict[str, float]]] = {
    "r_quick_q": (
        both(512, 16, char=True),
        {"char_write": 690, "write": 117_781, "char_read": 917, "create": 950, "delete": 22_172},
    ),
    "r_quick_noq": (both(512, 4, char=True), {**NOQ, "create": 3848, "delete": 6999}),
    "r_D_direct": (large(512, direct=True), {"write": 77_018, "rewrite": 510_509}),
    "r_b_sync": (both(256, 1), {"create": 224, "delete": 1420}),
    "r_fast_f": (large(512), {"write": 479_892, "rewrite": 800_108}),
    "r_n_only": ({"tests": ["files"], "file_count": 16 * 1024}, {}),
    "r_n_sizes": ({"tests": ["files"], "file_count": 2048}, {"create": 1676, "delete": 465}),
    "r_s_chunk": (large(256), {"write": 215_135, "seek": 14_710}),
    "r_seeds_c4": (large(512), {"write": 192_140, "rewrite": 752_772, "seek": 16_147}),
    "r_tmpfs_toofast": (both(8, 1, char=True), {"char_write": 1604, "char_read": 1889}),
    "r_z_seed": (both(64, 1, char=True), {"char_write": 610, "char_read": 1365, "create": 666}),
    "e_eio_fsync": (large(64), {"write": 61_467, "rewrite": 20_359}),
}
GOOD_AS_IOTIDE_RUNS_IT: dict[str, dict[str, object]] = {
    "x_block_files": both(256, 1),
    "x_direct_big": large(1024, direct=True),
}
REFUSED = {
    "r_x3": (both(256, 4), "printed 3, the last with 50"),
    "r_name_comma": (large(8), "printed 1, the last with 51"),
}
FAILED = {
    "e_direct_char": "bonnie++: Can't write() - disk full?",
    "e_edquot": "bonnie++: Can't write block.: Disk quota exceeded",
    "e_eio_fsync": "bonnie++: Can't sync file.",
    "e_eio_write": "bonnie++: Can't write block.: Input/output error",
    "e_enoent": "bonnie++: Can't change to directory",
    "e_enospc": "bonnie++: Can't write block.: No space left on device",
    "e_estale_read": "drastic I/O error (re-write read): Stale file handle; /usr/sbin/bonnie++ was ended by signal 9",
    "e_ram_check": "bonnie++: File size should be double RAM",
    "e_root_no_u": 'bonnie++: You must use the "-u" switch',
    "k_int": "/usr/sbin/bonnie++ ended with status 5",
    "k_kill": "signal 9",
    "k_term": "signal 15",
    "k_term_files": "signal 15",
    "r_s_chunk_suffix": "/usr/sbin/bonnie++ ended with status 1: Version: 2.00a",
}


def outcome_of(name: str, options: BonnieOptions, place: Place) -> StepOutcome:
    """Return the capture as a single start for all tests, as runs of revision 1 are."""
    return as_step(captured(f"bonnie/{name}"), replace(steps_of(BONNIE, options, place)[0], name="bonnie"))


def parse(name: str, given: dict[str, object], place: Place) -> Parsed:
    options = BonnieOptions.model_validate(given)
    return read_all(BONNIE, options, place, [outcome_of(name, options, place)])


def rates(parsed: Parsed) -> dict[object, float]:
    """Return the rates by operation in bonnie++'s own units; for files, the random order if present."""
    return {
        sample.labels["operation"]: round(sample.value / (KIB if sample.metric == "throughput" else 1))
        for sample in parsed.samples
        if sample.metric in {"throughput", "iops", "operation_rate"}
    }


def test_every_capture_is_accounted_for() -> None:
    names = {path.name.removesuffix(".meta.json") for path in (DATA / "bonnie").glob("*.meta.json")}
    assert names == GOOD.keys() | GOOD_AS_IOTIDE_RUNS_IT.keys() | REFUSED.keys() | FAILED.keys()


@pytest.mark.parametrize("name", GOOD)
def test_figures_are_those_of_the_fifty_fields(name: str, place: Place) -> None:
    given, expected = GOOD[name]
    assert rates(parse(name, given, place)) == expected


@pytest.mark.parametrize("name", GOOD_AS_IOTIDE_RUNS_IT)
def test_good_run_is_no_failure_and_parses(name: str, place: Place) -> None:
    assert BONNIE.failure(captured(f"bonnie/{name}")) is None
    assert parse(name, GOOD_AS_IOTIDE_RUNS_IT[name], place).samples


def test_rates_are_kibibytes_latencies_seconds_and_processor_time_a_ratio(place: Place) -> None:
    samples = parse("r_quick_q", GOOD["r_quick_q"][0], place).samples
    write = {sample.metric: sample for sample in samples if sample.labels["operation"] == "write"}
    assert write["throughput"].value == 117_781 * KIB
    assert write["throughput"].labels == {"operation": "write", "file_size_bytes": 512 * MIB, "direct": False}
    assert write["cpu_ratio"].value == pytest.approx(0.36)
    assert write["latency"].value == pytest.approx(28_108e-6)
    assert write["latency"].labels["percentile"] == "max"
    slow = [sample.value for sample in samples if sample.labels.get("order") == "random" and sample.metric == "latency"]
    assert slow == pytest.approx([0.230, 0.025661, 0.028840])


def test_too_fast_is_not_measurable_rather_than_zero(place: Place) -> None:
    parsed = parse("r_tmpfs_toofast", GOOD["r_tmpfs_toofast"][0], place)
    flags = [flag for flag in parsed.flags if flag.code is FlagCode.TOO_FAST]
    assert [(flag.labels["operation"], flag.labels.get("order")) for flag in flags] == [
        *((operation, None) for operation in ("write", "rewrite", "read", "seek")),
        *((operation, order) for order in ("sequential", "random") for operation in ("create", "stat", "delete")),
    ]
    assert all(sample.value > 0 for sample in parsed.samples)
    assert {sample.metric for sample in parsed.samples if sample.labels["operation"] == "write"} == {"latency"}


@pytest.mark.parametrize("name", REFUSED)
def test_output_that_contradicts_the_promise_is_rejected(name: str, place: Place) -> None:
    given, problem = REFUSED[name]
    with pytest.raises(OutputRefusedError, match=problem):
        parse(name, given, place)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (large(256), "256 MiB and 0 x 1024 files were planned"),
        (both(512, 1), "512 MiB and 1 x 1024 files were planned"),
        (large(512, char=True), "'Writing a byte at a time' has no figure"),
    ],
)
def test_figures_of_another_plan_are_refused(given: dict[str, object], problem: str, place: Place) -> None:
    with pytest.raises(OutputRefusedError, match=problem):
        parse("r_fast_f", given, place)


def test_figure_that_was_not_asked_for_is_refused(place: Place) -> None:
    with pytest.raises(OutputRefusedError, match="'Writing a byte at a time' has a figure but was not requested"):
        parse("r_quick_q", both(512, 16), place)


def test_field_that_is_no_figure_is_refused_and_shown(place: Place) -> None:
    options = BonnieOptions.model_validate(large(512))
    outcome = outcome_of("r_fast_f", options, place)
    with pytest.raises(OutputRefusedError, match="not a figure; the output reads: '480k'"):
        read_all(BONNIE, options, place, [replace(outcome, stdout=outcome.stdout.replace("479892", "480k"))])


@pytest.mark.parametrize("name", FAILED)
def test_failure_is_what_bonnie_complains_of_whatever_its_exit_status(name: str) -> None:
    reason = BONNIE.failure(captured(f"bonnie/{name}"))
    assert reason is not None
    assert FAILED[name] in reason


def test_formats_have_48_and_50_fields() -> None:
    assert [len(set(names)) for names in FIELDS.values()] == list(FIELDS) == [48, 50]


def test_real_run_goes_through_every_phase_and_leaves_no_file(place: Place) -> None:
    given = both(2, 1, char=True) | {"small_file_size_bytes": 100, "directories": 3, "sync_files": True}
    options = BonnieOptions.model_validate(given)
    outcomes = run_steps(steps_of(BONNIE, options, place), place)
    assert [BONNIE.failure(outcome) for outcome in outcomes] == [None, None]
    parsed = read_all(BONNIE, options, place, outcomes)
    assert len({(sample.labels["operation"], sample.labels.get("order")) for sample in parsed.samples}) == 12
    assert list(place.directory.iterdir()) == []
    for outcome in outcomes:
        assert BONNIE.progress(outcome.step, Counters(0, 0, 1.0), outcome.stderr[-400:]) == 5 / 6


def test_as_many_files_as_the_form_offers_are_not_too_many_for_memory(place: Place) -> None:
    options = BonnieOptions.model_validate({"tests": ["files"]})
    [outcome] = run_steps(steps_of(BONNIE, options, place), place)
    assert BONNIE.failure(outcome) is None


def test_files_that_fail_cost_the_figures_of_the_large_file_nothing(place: Place) -> None:
    options = BonnieOptions.model_validate(both(512, 1))
    streams, files = steps_of(BONNIE, options, place)
    place.directory.rmdir()
    [failed] = run_steps([files], place)
    assert "Can't change to directory" in str(BONNIE.failure(failed))
    kept = read_all(BONNIE, options, place, [as_step(captured("bonnie/r_fast_f"), streams)])
    assert rates(kept) == GOOD["r_fast_f"][1]


def test_each_start_is_the_plain_call_but_for_what_the_other_does(place: Place) -> None:
    options = BonnieOptions.model_validate(both(256, 1) | {"sync_files": True})
    commands = [step.argv for step in steps_of(BONNIE, options, place)]
    sizes = [{switch: argv[argv.index(switch) + 1] for switch in ("-s", "-n")} for argv in commands]
    assert sizes == [{"-s": "256:8192", "-n": "0"}, {"-s": "0:8192", "-n": "1:0:0:1"}]
    assert ["-r" in argv for argv in commands] == [True, False]
    assert [argv[-2:] for argv in commands] == [("-f", "-b")] * 2


def test_progress_is_by_phases_and_by_bytes_within_them(place: Place) -> None:
    [step] = steps_of(BONNIE, BonnieOptions.model_validate(large(64)), place)
    assert BONNIE.progress(step, Counters(0, 0, 1.0), "Writing intelligently...done\nRewriting...") == 2 / 6
    assert BONNIE.progress(step, Counters(128 * MIB, 0, 1.0), "") == pytest.approx(0.5 * 5 / 6)


def test_targets_at_once_have_first_and_last_finish_for_each_start(place: Place) -> None:
    options = BonnieOptions.model_validate(both(2, 1))
    places = two_places(place)
    outcomes = [as_step(captured("bonnie/x_block_files"), step) for step in chain(*BONNIE.plan(options, places))]
    raced = [done for done in BONNIE.conclude(options, places, outcomes).samples if done.metric == "last_done"]
    assert [(sample.labels, sample.target_id) for sample in raced] == [
        ({"operation": "streams"}, None),
        ({"operation": "files"}, None),
    ]


def test_direct_falls_back_if_rejected_and_is_flagged(place: Place) -> None:
    refusing = replace(place, direct_works=False)
    options = BonnieOptions.model_validate(large(1024, direct=True))
    [step] = steps_of(BONNIE, options, refusing)
    assert "-D" not in step.argv
    parsed = read_all(BONNIE, options, refusing, [as_step(captured("bonnie/x_direct_big"), step)])
    assert FlagCode.NO_DIRECT in {flag.code for flag in parsed.flags}
    assert {sample.labels["direct"] for sample in parsed.samples} == {False}


def test_large_file_that_memory_can_hold_is_flagged_unless_direct(place: Place) -> None:
    cached = {flag.code for flag in parse("r_fast_f", large(512), place).flags}
    direct = {flag.code for flag in parse("r_D_direct", large(512, direct=True), place).flags}
    assert {FlagCode.CACHE_SIZE, FlagCode.CACHE_DROP} <= cached
    assert not {FlagCode.CACHE_SIZE, FlagCode.CACHE_DROP} & direct


def test_a_file_twice_the_memory_is_read_cold_where_the_campaign_relies_on_it(place: Place) -> None:
    small = replace(place, facts={"memory.total_bytes": 256 * MIB})
    options = BonnieOptions.model_validate(large(512))
    [step] = steps_of(BONNIE, options, small)
    outcome = as_step(captured("bonnie/r_fast_f"), step)
    for before, is_warm in ((Before.LARGER_THAN_MEMORY, False), (Before.DROP, True), (Before.SYNC, True)):
        parsed = read_all(BONNIE, options, small, [replace(outcome, before_done=before)])
        assert (FlagCode.CACHE_DROP in {flag.code for flag in parsed.flags}) is is_warm


def test_many_files_get_more_patience(place: Place) -> None:
    *_, few = steps_of(BONNIE, BonnieOptions.model_validate(both(8, 1)), place)
    *_, many = steps_of(BONNIE, BonnieOptions.model_validate(both(8, 1000)), place)
    assert few.stall_seconds is not None
    assert many.stall_seconds is not None
    assert many.stall_seconds > few.stall_seconds + 100_000


def test_bytes_one_by_one_cannot_be_direct() -> None:
    given = {**BonnieOptions().model_dump(mode="json"), "direct": True, "tests": ["char"]}
    with pytest.raises(ValidationError, match="O_DIRECT moves no single bytes"):
        BonnieOptions.model_validate(given)
    assert not Draft202012Validator(BONNIE.options_schema()).is_valid(given)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"tests": ["block", "block"]}, "each test only once"),
        ({"file_size_bytes": MIB + 512}, "file_size_bytes"),
        ({"file_count": 1000}, "file_count"),
        ({"directories": 0}, "directories"),
    ],
)
def test_bad_options_are_named(changed: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        BonnieOptions.model_validate(changed)
