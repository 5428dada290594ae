from dataclasses import replace

import pytest
from factories.mpi import mpi_settings
from factories.outcomes import DATA, as_step, captured, read_all, run_steps, steps_of
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from iotide_agent.workloads.base import Before, OutputRefusedError, Parsed, Place, StepOutcome
from iotide_agent.workloads.mdtest import MdtestOptions, MdtestWorkload
from iotide_wire.expressions import evaluate
from iotide_wire.measured import FlagCode, FlagEffect

MDTEST = MdtestWorkload()


def single(item_count: int, **others: object) -> dict[str, object]:
    return {"tasks": 1, "item_count": item_count, **others}


# capture: options that would have run the same; the rates of create, stat, read and delete, as printed
GOOD: dict[str, tuple[dict[str, object], dict[str, float]]] = {
    "plain_10000": (
        single(10_000),
        {"create": 7070.567, "stat": 444684.005, "read": 298748.112, "delete": 106336.744},
    ),
    "Y_syncfs": (
        single(2000, sync_phases=True),
        {"create": 1206.169, "stat": 165413.365, "read": 136313.687, "delete": 73746.004},
    ),
    "json": (single(500), {"create": 1176.648, "stat": 507662.067, "read": 198181.062, "delete": 121715.148}),
    "tmpfs": (single(10_000), {"create": 140138.525, "stat": 466941.720, "read": 270380.465, "delete": 123951.014}),
    "w3901": (
        {"tasks": 2, "item_count": 500, "file_size_bytes": 3901},
        {"create": 1133.966, "stat": 976555.064, "read": 111013.287, "delete": 82480.610},
    ),
    "y_sync": (
        single(500, file_size_bytes=4096, sync_files=True),
        {"create": 803.162, "stat": 503034.781, "read": 296207.910, "delete": 13910.164},
    ),
    "W_stonewall": (single(1_000_000, operations=["create"], stonewall_seconds=2), {"create": 1328.350}),
}
REFUSED = {"mpi2_i3": "1 iteration were planned, mdtest ran 2 and 3"}
FAILED = {
    "e_enospc": "mdtest: write(18, 0x7efdac445000, 1048576) failed No space left on device",
    "e_inodes": 'mdtest.0.16370", 66, 0664) failed. Error: No space left on device',
    "k_term": "was ended by signal 15",
}


def outcome_of(name: str, options: MdtestOptions, place: Place, operation: str = "create") -> StepOutcome:
    [step] = [step for step in steps_of(MDTEST, options, place) if step.name == operation]
    return as_step(captured(f"mdtest/{name}"), step)


def flags_of(parsed: Parsed) -> dict[FlagCode, FlagEffect]:
    return {flag.code: flag.effect for flag in parsed.flags}


def test_every_capture_is_accounted_for() -> None:
    names = {path.name.partition(".")[0] for path in (DATA / "mdtest").iterdir()}
    assert names == GOOD.keys() | REFUSED.keys() | FAILED.keys()


@pytest.mark.parametrize("name", GOOD)
def test_rates_are_those_of_the_table_and_times_follow_from_them(name: str, place: Place) -> None:
    given, rates = GOOD[name]
    options = MdtestOptions.model_validate(given)
    for operation, rate in rates.items():
        outcome = outcome_of(name, options, place, operation)
        assert MDTEST.failure(outcome) is None
        values = {sample.metric: sample.value for sample in MDTEST.read(options, place, outcome).samples}
        assert values["operation_rate"] == rate
        items = 2657 if name == "W_stonewall" else options.tasks * options.item_count
        assert values["duration"] == pytest.approx(items / rate)


@pytest.mark.parametrize("name", FAILED)
def test_failure_names_the_error(name: str, place: Place) -> None:
    reason = MDTEST.failure(outcome_of(name, MdtestOptions(), place))
    assert reason is not None
    assert FAILED[name] in reason


def test_launcher_that_ends_well_without_the_last_line_is_a_failure(place: Place) -> None:
    killed = replace(outcome_of("k_term", MdtestOptions(), place), signal=None, exit_status=0)
    assert MDTEST.failure(killed) == "mdtest ended with status 0, but its output is incomplete"


@pytest.mark.parametrize(
    ("name", "given", "operation", "problem"),
    [
        ("mpi2_i3", {"tasks": 2, "item_count": 2000, "items": "both"}, "create", REFUSED["mpi2_i3"]),
        ("plain_10000", {"tasks": 2}, "create", "2 tasks and 1 iteration were planned, mdtest ran 1 and 1"),
        ("plain_10000", single(500), "create", "1 tasks, 500 items were planned, mdtest reports 1 tasks, 10000"),
        ("W_stonewall", single(1_000_000), "stat", "stat of file items has no rate"),
        ("plain_10000", single(10_000, items="directories"), "create", "create of directory items has no rate"),
    ],
)
def test_table_of_something_else_than_planned_is_refused(
    name: str, given: dict[str, object], operation: str, problem: str, place: Place
) -> None:
    options = MdtestOptions.model_validate(given)
    with pytest.raises(OutputRefusedError, match=problem):
        MDTEST.read(options, place, outcome_of(name, options, place, operation))


def test_rates_of_single_tasks_as_old_releases_print_them_are_refused(place: Place) -> None:
    options = MdtestOptions.model_validate(GOOD["w3901"][0])
    outcome = outcome_of("w3901", options, place)
    ranged = outcome.stdout.replace("1133.966       1133.966", "1133.966        900.000", 1)
    with pytest.raises(
        OutputRefusedError, match=r"File creation ranges from 900.000 to 1133.966: mdtest 4.1.0.* install IOR 4"
    ):
        MDTEST.read(options, place, replace(outcome, stdout=ranged))


@pytest.mark.parametrize("name", GOOD)
def test_table_cut_at_any_byte_is_right_or_refused(name: str, place: Place) -> None:
    options = MdtestOptions.model_validate(GOOD[name][0])
    outcome = outcome_of(name, options, place)
    whole = MDTEST.read(options, place, outcome)
    for end in range(len(outcome.stdout)):
        try:
            assert MDTEST.read(options, place, replace(outcome, stdout=outcome.stdout[:end])) == whole
        except OutputRefusedError:
            continue


def test_short_and_warm_phases_are_flagged(place: Place) -> None:
    options = MdtestOptions.model_validate(GOOD["plain_10000"][0])
    created = MDTEST.read(options, place, outcome_of("plain_10000", options, place))
    assert FlagCode.DURATION not in flags_of(created)
    looked_up = replace(outcome_of("plain_10000", options, place, "stat"), before_done=Before.SYNC)
    flags = flags_of(MDTEST.read(options, place, looked_up))
    assert flags == {FlagCode.DURATION: FlagEffect.MARKED, FlagCode.CACHE_DROP: FlagEffect.MARKED}


def test_tree_is_an_argument_and_its_directories_need_space_too(place: Place) -> None:
    options = MdtestOptions(tasks=1, item_count=78, tree_depth=2, tree_branches=3)
    assert options.tree_directories == 1 + 3 + 9
    for step in steps_of(MDTEST, options, place):
        assert step.argv[step.argv.index("-z") :][:4] == ("-z", "2", "-b", "3")
    assert "-z" not in steps_of(MDTEST, MdtestOptions(), place)[0].argv
    flat = options.model_dump() | {"tree_depth": 0}
    assert evaluate(MDTEST.files_needed, flat) == 78
    assert evaluate(MDTEST.files_needed, options.model_dump()) == 2 * 78
    assert evaluate(MDTEST.bytes_needed, options.model_dump()) == 2 * evaluate(MDTEST.bytes_needed, flat)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"item_count": 77, "tree_depth": 2, "tree_branches": 3}, "item_count = 77: use a multiple of 13"),
        ({"item_count": 9, "tree_depth": 16, "tree_branches": 10_000}, "use a multiple of"),
        (
            {"item_count": 78, "tree_depth": 2, "tree_branches": 3, "stonewall_seconds": 1, "operations": ["create"]},
            "does not work with tree_depth",
        ),
    ],
)
def test_items_that_a_tree_cannot_hold_equally_are_refused(changed: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        MdtestOptions.model_validate(changed)


def test_each_operation_is_a_start_of_its_own_after_the_caches_were_dropped(place: Place) -> None:
    options = MdtestOptions(file_size_bytes=3901, unique_directories=False, sync_files=True)
    steps = {step.name: step for step in steps_of(MDTEST, options, place)}
    assert [(name, step.before) for name, step in steps.items()] == [
        ("create", Before.SYNC),
        ("stat", Before.DROP),
        ("read", Before.DROP),
        ("delete", Before.SYNC),
    ]
    directory = str(place.directory)
    assert steps["create"].argv == (
        *("mpirun", "-n", "4", "mdtest", "-C", "-F", "-n", "10000", "-d", directory, "-w", "3901", "-y"),
    )
    assert steps["read"].argv[-3:] == ("-e", "3901", "-y")


def test_directories_are_not_read(place: Place) -> None:
    steps = steps_of(MDTEST, MdtestOptions(items="directories"), place)
    assert [step.name for step in steps] == ["create", "stat", "delete"]


def test_both_kinds_are_measured_by_what_is_installed(place: Place) -> None:
    mdtest = MdtestWorkload(mpi_settings("mdtest"))
    options = MdtestOptions(tasks=2, item_count=20, items="both")
    outcomes = run_steps(steps_of(mdtest, options, place), place)
    parsed = read_all(mdtest, options, place, outcomes)
    found = {(sample.labels["operation"], sample.labels["item"]) for sample in parsed.samples}
    both = {(operation, item) for operation in ("create", "stat", "delete") for item in ("file", "directory")}
    assert found == both | {("read", "file")}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"stonewall_seconds": 5}, "use create as the only operation"),
        ({"operations": ["stat"]}, "include create"),
        ({"item_count": 1}, "item_count"),
    ],
)
def test_impossible_options_are_rejected_by_model_and_form(changed: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        MdtestOptions.model_validate(changed)
    defaults = MdtestOptions().model_dump(mode="json")
    assert not Draft202012Validator(MDTEST.options_schema()).is_valid(defaults | changed)
