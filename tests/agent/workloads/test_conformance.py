"""Rules for every registered workload, built-in or plug-in; a workload without tiny options below fails."""

import json
import sys
from dataclasses import replace
from itertools import chain, product
from math import isfinite
from pathlib import Path
from typing import Any

import pytest
from agent.workloads.test_io500_workload import samples_of_io500
from agent.workloads.test_iozone_cluster import samples_of_cluster
from agent.workloads.test_mpi_nodes import samples_of_nodes
from factories.mpi import STANDINS, by_rank, launcher_of
from factories.outcomes import DATA, MEMORY_BYTES, make_place, read_all, run_together, steps_of, two_places
from factories.tiny_runs import MADE_BEFORE, SETTINGS, TINY
from factories.watched_runs import WatchedRun, watched_run
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from iotide_agent.probes.reader import SystemReader
from iotide_agent.workloads.base import Counters, Options, OutputRefusedError, Parsed, Place, StepOutcome, Workload
from iotide_agent.workloads.registry import all_workloads, announcement
from iotide_agent.workloads.registry import workload as workload_of
from iotide_wire.catalogue import WorkloadAnnouncement
from iotide_wire.expressions import evaluate
from iotide_wire.measured import FlagCode, SampleMessage
from iotide_wire.units import MIB

SYSTEM_PATHS = {
    Path("/dev/zero"),
    Path("/dev/null"),
    Path("/dev/iotide-test"),
    Path(sys.executable),
    Path(launcher_of("mpiexec.hydra")),
    Path(by_rank("ior")),
    Path(by_rank("mdtest")),
    STANDINS / "io500.py",
}
AGENT_PACKAGE = Path(__file__).parents[3] / "agent/node/src/iotide_agent"

SAYS_LATE = {"create", "mdtest", "io500"}
"""Workloads that move no bytes and report progress only after a second, or never."""
SEEN_SECONDS = 0.5
"""A shorter run may end between two readings."""
RUNS: dict[str, WatchedRun] = {}
"""First tiny run of each workload, once for all tests of this process."""

pytestmark = pytest.mark.parametrize("name", sorted(all_workloads()))


@pytest.fixture
def run(name: str, tmp_path_factory: pytest.TempPathFactory) -> WatchedRun:
    """Run the first tiny option set."""
    if name not in RUNS:
        RUNS[name] = real_run(configured(name), TINY[name][0], tmp_path_factory.mktemp("tiny"))
    return RUNS[name]


def configured(name: str) -> Workload[Any]:
    return workload_of(name, SETTINGS)


def announced(name: str) -> WorkloadAnnouncement:
    return announcement(configured(name), SystemReader())


def variants(workload: Workload[Any]) -> list[Options]:
    """Return the defaults, each choice of each option, and each tiny set."""
    properties = workload.options_type.model_json_schema()["properties"]
    changes: list[dict[str, object]] = [{}]
    for option, schema in properties.items():
        if (workload.name, option) in {("fill", "keep"), ("iozone", "cluster")}:
            continue  # only on scratch disks or over several nodes, see test_fill.py and test_iozone_cluster.py
        choices = schema.get("enum") or ([True, False] if schema.get("type") == "boolean" else [])
        changes += [{option: choice} for choice in choices]
    return [workload.options_type.model_validate(given) for given in [*changes, *TINY[workload.name]]]


def test_options_are_a_form_with_titles_units_and_defaults(name: str) -> None:
    schema = announced(name).options_schema
    Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    for option, specification in schema["properties"].items():
        assert specification.keys() >= {"title", "description", "default"}, option
        assert specification["description"].endswith("."), option
        unit = next((unit for unit in ("bytes_per_second", "bytes", "seconds") if option.endswith(f"_{unit}")), None)
        kinds = [specification, *specification.get("anyOf", ())]
        assert {kind["x-unit"] for kind in kinds if "x-unit" in kind} == ({unit} if unit else set()), option
        assert all(is_limited(kind) for kind in kinds), option
        assert not specification["title"].endswith("."), option


def test_the_default_plan_measures_the_storage_or_its_form_says_how_the_cache_comes_in(name: str) -> None:
    found = announced(name)
    if not any(metric.name == "throughput" for metric in found.metrics):
        return
    options = found.option_defaults
    values = {
        "memory.total_bytes": MEMORY_BYTES,
        "target.total_bytes": 100 * MEMORY_BYTES,
        "target.free_bytes": 100 * MEMORY_BYTES,
        "target.reserve_bytes": 0,
        "targets.count": 1,
        **options,
    }
    is_past_cache = options.get("direct") is True or options.get("flush") == "direct"
    if not is_past_cache and evaluate(found.bytes_needed, values) < 2 * MEMORY_BYTES:
        texts = [specification["description"] for specification in found.options_schema["properties"].values()]
        assert any("measure the cache" in text for text in texts)


def test_a_changed_default_is_one_that_stored_plans_were_kept_from(name: str) -> None:
    """Plans of schedules and templates omit options, so another default would change them.

    Write a migration that stores the old default in those plans, as 0045 did, then change the recording.
    """
    recorded = json.loads((DATA / "options" / "defaults.json").read_text())
    assert announced(name).option_defaults == recorded[name]


def is_limited(kind: dict[str, Any]) -> bool:
    """Return whether a type has both limits: on a number, on a text's length or on the number of items."""
    if "enum" in kind or "const" in kind:
        return True
    match kind.get("type"):
        case "integer" | "number":
            return bool({"minimum", "exclusiveMinimum"} & kind.keys() and {"maximum", "exclusiveMaximum"} & kind.keys())
        case "string":
            return bool({"pattern", "maxLength"} & kind.keys())
        case "array":
            return "maxItems" in kind or (kind.get("uniqueItems") is True and "enum" in kind["items"])
    return True


def test_an_option_that_is_not_there_is_refused_by_its_name(name: str) -> None:
    with pytest.raises(ValidationError, match="no_such_option"):
        configured(name).options_type.model_validate({"no_such_option": 1})


def test_metrics_of_one_name_have_one_unit_and_one_direction(name: str) -> None:
    others = {metric.name: metric for other in all_workloads() for metric in configured(other).metric_specs()}
    for metric in configured(name).metric_specs():
        assert (metric.unit, metric.better) == (others[metric.name].unit, others[metric.name].better), metric.name
        assert 0 < len(metric.title) <= 40, "it has to stand at an axis"
        assert not metric.title.endswith(".")
        assert metric.description == "" or metric.description.endswith(".")


def test_defaults_are_announced_and_valid_by_schema_and_model(name: str) -> None:
    announcement_ = announced(name)
    assert announcement_.option_defaults.keys() == announcement_.options_schema["properties"].keys()
    Draft202012Validator(announcement_.options_schema).validate(announcement_.option_defaults)
    options_type = configured(name).options_type
    assert options_type().model_dump() == options_type.model_validate(announcement_.option_defaults).model_dump()


def test_schema_and_model_agree_on_what_is_refused(name: str) -> None:
    announcement_, workload = announced(name), configured(name)
    validator = Draft202012Validator(announcement_.options_schema)
    numbers: list[object] = [-1, 0, 1, 512, 1000, 10**30]
    for option, schema in announcement_.options_schema["properties"].items():
        others: list[object] = ["nonsense", None, [], ["nonsense"], *(schema.get("enum") or [])]
        for value in [*numbers, *others]:
            given = announcement_.option_defaults | {option: value}
            accepted = True
            try:
                workload.options_type.model_validate_json(json.dumps(given), strict=True)
            except ValidationError:
                accepted = False
            assert validator.is_valid(given) is accepted, given


def test_announcement_survives_the_wire_with_its_digest(name: str) -> None:
    announcement_ = announced(name)
    received = WorkloadAnnouncement.model_validate_json(announcement_.model_dump_json())
    assert received == announcement_
    assert received.schema_sha256 == announcement_.schema_sha256
    assert announcement_.available, announcement_.unavailable_because
    assert announcement_.tool_version


def test_one_program_over_all_nodes_has_tasks_on_each(name: str) -> None:
    workload = configured(name)
    for options in variants(workload):
        own_programs = evaluate(announced(name).own_programs, options.model_dump(mode="json"))
        assert (workload.tasks_per_node(options) is None) is (own_programs > 0)


def test_space_and_time_can_be_foreseen_for_every_choice(name: str) -> None:
    announcement_, workload = announced(name), configured(name)
    for options in variants(workload):
        space = {
            "target.total_bytes": 10 * MEMORY_BYTES,
            "target.free_bytes": 5 * MEMORY_BYTES,
            "target.reserve_bytes": 0,
            "targets.count": 1,
        }
        values = {"memory.total_bytes": MEMORY_BYTES} | space | options.model_dump(mode="json")
        assert (evaluate(announcement_.bytes_needed, values) > 0) is workload.writes
        assert evaluate(announcement_.bytes_moved, values) >= evaluate(announcement_.bytes_needed, values)
        assert evaluate(workload.files_needed, values) == files_of(workload.name, options)


def files_of(name: str, options: Any) -> int:  # noqa: ANN401 - of each workload its own
    """Return how many files and directories a run makes, for workloads that make many."""
    if name == "create":
        directories = options.directories * (1 if options.shared else options.processes)
        return int(options.file_count * options.processes + directories)
    if name == "mdtest":
        return int(options.tasks * options.item_count * (1 + (options.items == "both") + (options.tree_depth > 0)))
    if name == "io500":
        return int(options.tasks * (options.easy_files + options.hard_files + 2))
    return int(options.file_count) if name == "bonnie" and "files" in options.tests else 0


def test_commands_are_argument_lists_that_stay_in_their_place(name: str, place: Place) -> None:
    workload = configured(name)
    for options, direct_works in product(variants(workload), [True, False]):
        steps = steps_of(workload, options, replace(place, direct_works=direct_works))
        assert len({step.name for step in steps}) == len(steps) > 0
        for step in steps:
            assert all(type(argument) is str and argument for argument in step.argv)
            assert step.target_id == place.target_id
            assert step.phase
            assert all(file.is_relative_to(place.directory) for file in step.declared_files)
            assert all(file.is_relative_to(place.scratch) for file in step.output_files)
            for path in paths_in(step.argv[1:]):
                inside = any(path.is_relative_to(root) for root in (place.directory, place.scratch, AGENT_PACKAGE))
                assert inside or path in SYSTEM_PATHS, path


def test_real_runs_yield_the_declared_metrics_and_nothing_else(
    name: str, run: WatchedRun, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    others = (real_run(configured(name), given, tmp_path_factory.mktemp("tiny")) for given in TINY[name][1:])
    runs = [run, *others]
    declared = {metric.name: set(metric.labels) for metric in configured(name).metric_specs()}
    seen: dict[str, set[str]] = {metric: set() for metric in declared}
    for one in runs:
        samples = one.parsed.samples
        for sample in samples:
            seen[sample.metric] |= sample.labels.keys()
            assert isfinite(sample.value)
            assert sample.value >= 0
            assert sample.target_id == one.place.target_id
            SampleMessage(
                metric=sample.metric, value=sample.value, labels=dict(sample.labels), target_id=sample.target_id
            )
        keys = [(sample.metric, tuple(sorted(sample.labels.items()))) for sample in samples]
        assert len(set(keys)) == len(keys), "two samples of one run in one series"
        assert {path.name for path in one.place.directory.parent.iterdir()} == {"run"}, "written outside the place"
    if seen != declared:
        # Some numbers cover several targets together, or one program of several nodes, which is recorded.
        for sample in over_two_targets(configured(name), make_place(tmp_path)).samples:
            seen[sample.metric] |= sample.labels.keys()
        of_nodes = make_place(tmp_path / "nodes")
        for sample in (*samples_of_nodes(name, of_nodes), *samples_of_cluster(name, of_nodes), *samples_of_io500(name)):
            seen[sample.metric] |= sample.labels.keys()
    assert all(labels <= declared[metric] for metric, labels in seen.items())
    # "Over before the tool could time it" comes only from tool output, so the tests of recordings cover it.
    flags = chain.from_iterable(one.parsed.flags for one in runs)
    assert seen == declared or any(flag.code is FlagCode.TOO_FAST for flag in flags)


def test_run_that_was_cut_keeps_what_was_measured_before(name: str, run: WatchedRun) -> None:
    workload = configured(name)
    for end in range(len(run.outcomes)):
        partial = read_all(workload, run.options, run.place, run.outcomes[:end])
        assert list(partial.samples) == list(run.parsed.samples)[: len(partial.samples)]
    assert read_all(workload, run.options, run.place, []) == Parsed([], [])


def test_output_cut_at_any_byte_is_right_or_refused(name: str, run: WatchedRun) -> None:
    workload = configured(name)
    for outcome in run.outcomes:
        whole = read_all(workload, run.options, run.place, [outcome])
        for cut in cuts(outcome):
            try:
                assert read_all(workload, run.options, run.place, [cut]).samples == whole.samples
            except OutputRefusedError:
                continue


def test_output_that_is_read_again_gives_the_same(name: str, run: WatchedRun) -> None:
    assert read_all(workload_of(name, SETTINGS), run.options, run.place, run.outcomes) == run.parsed


def test_progress_grows_with_the_real_counters(name: str, run: WatchedRun) -> None:
    for fractions in run.fractions:
        assert fractions == sorted(fractions)
        assert all(0 <= fraction <= 1 for fraction in fractions)
    shown = any(any(fractions) for fractions in run.fractions)
    is_short = sum(outcome.wall_seconds for outcome in run.outcomes) < SEEN_SECONDS
    assert shown or is_short or name in SAYS_LATE


def test_progress_is_a_growing_fraction_or_unknown(name: str, place: Place) -> None:
    workload = configured(name)
    for options in variants(workload):
        for step in steps_of(workload, options, place):
            seen = [
                workload.progress(step, Counters(done, done, float(second)), "")
                for second, done in enumerate([0, MIB, 2**30, 2**62])
            ]
            known = [fraction for fraction in seen if fraction is not None]
            assert known == sorted(known)
            assert all(0 <= fraction <= 1 for fraction in known)
            assert len(known) in {0, len(seen)}


def real_run(workload: Workload[Any], given: dict[str, object], directory: Path) -> WatchedRun:
    place = make_place(directory)
    make_before(workload.name, place)
    return watched_run(workload, workload.options_type.model_validate(given), place)


def make_before(name: str, place: Place) -> None:
    """Create the files that must be on the target before the run."""
    if name in MADE_BEFORE:
        (place.directory / MADE_BEFORE[name]).write_bytes(bytes(4 * MIB))


def over_two_targets(workload: Workload[Any], place: Place) -> Parsed:
    places = two_places(place)
    for own in places:
        make_before(workload.name, own)
    parsed = run_together(workload, workload.options_type.model_validate(TINY[workload.name][0]), places)
    keys = [(sample.metric, sample.target_id, *sorted(sample.labels.items())) for sample in parsed.samples]
    assert len(set(keys)) == len(keys), "two samples of one run in one series"
    assert {sample.target_id for sample in parsed.samples} == {None, *(own.target_id for own in places)}
    return parsed


def cuts(outcome: StepOutcome) -> list[StepOutcome]:
    """Return the outcome with each text cut at every byte, or at 500 places of a long text or of many files."""
    found = []
    places = 500 // min(10, 1 + len(outcome.files))
    for length, text in ((len(outcome.stdout), "stdout"), (len(outcome.stderr), "stderr")):
        ends = range(0, length, max(1, length // 500))
        found += [replace(outcome, **{text: getattr(outcome, text)[:end]}) for end in ends]
    for file, content in outcome.files.items():
        ends = range(0, len(content), max(1, len(content) // places))
        found += [replace(outcome, files={**outcome.files, file: content[:end]}) for end in ends]
    return found


def paths_in(arguments: tuple[str, ...]) -> list[Path]:
    values = [argument.rpartition("=")[2] for argument in arguments]
    return [Path(value) for value in values if value.startswith("/")]
