"""IOR and mdtest as one program of two nodes with two tasks each, by recorded outputs of both."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from factories.outcomes import DATA, as_step, captured, steps_of

from iotide_agent.workloads.base import OutputRefusedError, Parsed, Place, Sample, StepOutcome, Workload
from iotide_agent.workloads.ior import IorWorkload
from iotide_agent.workloads.mdtest import MdtestWorkload
from iotide_agent.workloads.rank_layout import RankLayout
from iotide_wire.measured import FlagCode
from iotide_wire.units import MIB

FOLDER = DATA / "mpi"
LAYOUT = RankLayout.of_nodes(("n1", "n2"), 2)
IOR, MDTEST = IorWorkload(), MdtestWorkload()
_IOR: dict[str, object] = {"tasks": 2, "transfers_per_block": 8, "segments": 2}

# recording: options that ran it; bytes or items of all tasks
RUNS: dict[str, tuple[Workload[Any], dict[str, object], str, int]] = {
    "ior-shared-write": (IOR, _IOR | {"file_per_process": False, "reorder": True}, "write", 64 * MIB),
    "ior-shared-read": (IOR, _IOR | {"file_per_process": False, "reorder": True}, "read", 64 * MIB),
    "ior-collective-write": (
        IOR,
        _IOR | {"file_per_process": False, "api": "MPIIO-collective", "operations": ["write"]},
        "write",
        64 * MIB,
    ),
    "ior-stonewall-write": (
        IOR,
        {"tasks": 2, "transfers_per_block": 4096, "stonewall_seconds": 1, "operations": ["write"]},
        "write",
        0,
    ),
    "mdtest-own-create": (MDTEST, {"tasks": 2, "item_count": 500}, "create", 2000),
    "mdtest-own-stat": (MDTEST, {"tasks": 2, "item_count": 500}, "stat", 2000),
    "mdtest-own-read": (MDTEST, {"tasks": 2, "item_count": 500}, "read", 2000),
    "mdtest-own-delete": (MDTEST, {"tasks": 2, "item_count": 500}, "delete", 2000),
    "mdtest-shared-create": (
        MDTEST,
        {"tasks": 2, "item_count": 200, "items": "both", "unique_directories": False, "operations": ["create"]},
        "create",
        800,
    ),
    "mdtest-stonewall-create": (
        MDTEST,
        {"tasks": 2, "item_count": 100_000, "stonewall_seconds": 1, "operations": ["create"]},
        "create",
        0,
    ),
}


def on_nodes(place: Place, layout: RankLayout = LAYOUT) -> Place:
    return replace(place, layout=layout)


def outcome_of(name: str, place: Place) -> StepOutcome:
    """Return the recording as the step of a run on two nodes."""
    workload, given, operation, _ = RUNS[name]
    options = workload.options_type.model_validate(given)
    [step] = [step for step in steps_of(workload, options, on_nodes(place)) if step.name == operation]
    summary, ranks = FOLDER / f"{name}.json", (FOLDER / f"{name}-ranks.csv").read_text()
    texts = [summary.read_text(), ranks] if summary.exists() else [ranks]
    files = dict(zip((file.name for file in step.output_files), texts, strict=True))
    stdout = (FOLDER / f"{name}.stdout").read_text()
    return replace(as_step(captured("ior/json_file"), step), stdout=stdout, files=files)


def read(name: str, place: Place, outcome: StepOutcome | None = None, layout: RankLayout = LAYOUT) -> Parsed:
    workload, given, *_ = RUNS[name]
    options = workload.options_type.model_validate(given | {"tasks": layout.tasks_per_node})
    return workload.read(options, on_nodes(place, layout), outcome or outcome_of(name, place))


def samples_of_nodes(tool: str, place: Place) -> list[Sample]:
    """Return what the recordings of a tool measured; none for tools that run on one node."""
    names = (name for name, (workload, *_) in RUNS.items() if workload.name == tool)
    return [sample for name in names for sample in read(name, place).samples]


@pytest.mark.parametrize("name", RUNS)
def test_recorded_program_has_a_total_and_a_rate_of_each_node(name: str, place: Place) -> None:
    workload, _, operation, amount = RUNS[name]
    outcome = outcome_of(name, place)
    assert workload.failure(outcome) is None
    parsed = read(name, place)
    metric = "throughput" if workload is IOR else "operation_rate"
    for item in sorted({str(sample.labels.get("item")) for sample in parsed.samples}):
        samples = [sample for sample in parsed.samples if str(sample.labels.get("item")) == item]
        rates = {sample.labels.get("writer"): sample.value for sample in samples if sample.metric == metric}
        assert rates.keys() == {None, "n1", "n2"}
        assert all(sample.labels["operation"] == operation for sample in samples)
        race = {sample.metric: sample.value for sample in samples if sample.metric in {"first_done", "last_done"}}
        assert 0 < race["first_done"] <= race["last_done"]
        [seconds] = [
            sample.value
            for sample in samples
            if sample.metric == "duration" and sample.labels.get("part", "total") == "total"
        ]
        if amount:
            assert rates[None] * seconds == pytest.approx(amount)
        # A node's rate is over its own slowest rank, and the total waits for the slowest of all.
        assert rates["n1"] + rates["n2"] >= 0.99 * rates[None]


def test_commands_are_the_program_with_a_table_of_ranks_for_its_launcher(place: Place) -> None:
    write = outcome_of("ior-shared-write", place).step
    assert write.argv[0] == "ior"
    assert f"saveRankPerformanceDetailsCSV={place.scratch / 'ior-write-ranks.csv'}" in write.argv
    assert write.bytes_moved == 64 * MIB
    create = outcome_of("mdtest-own-create", place).step
    assert create.argv[0] == "mdtest"
    assert f"--saveRankPerformanceDetails={place.scratch / 'mdtest-create-ranks.csv'}" in create.argv
    assert "4 tasks" in create.phase


def test_files_of_all_tasks_are_declared(place: Place) -> None:
    options = IOR.options_type.model_validate(_IOR)
    files = steps_of(IOR, options, on_nodes(place))[0].declared_files
    assert [file.name for file in files] == [f"ior.0000000{task}" for task in range(4)]


def test_program_on_one_node_has_no_table_of_ranks(place: Place) -> None:
    workloads: list[Workload[Any]] = [IOR, MDTEST]
    for workload in workloads:
        for step in steps_of(workload, workload.options_type(), place):
            assert not any("RankPerformance" in word for word in step.argv)


def test_interface_and_collective_calls_are_arguments(place: Place) -> None:
    step = outcome_of("ior-collective-write", place).step
    assert step.argv[step.argv.index("-a") + 1] == "MPIIO"
    assert "-c" in step.argv


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize(
    "layout", [RankLayout.of_nodes(("n1", "n2"), 4), RankLayout.of_nodes(("n1", "n2", "n3", "n4"), 1)]
)
def test_other_nodes_or_tasks_than_planned_are_refused(name: str, layout: RankLayout, place: Place) -> None:
    with pytest.raises(OutputRefusedError, match=r"planned"):
        read(name, place, layout=layout)


@pytest.mark.parametrize("name", RUNS)
def test_program_of_each_node_alone_is_refused(name: str, place: Place) -> None:
    """A launcher that does not know the MPI starts a program of one task for each."""
    outcome = outcome_of(name, place)
    stdout = outcome.stdout.replace("on 2 node(s)", "on 1 node(s)")
    files = {file: text.replace('"nodes": 2', '"nodes": 1') for file, text in outcome.files.items()}
    with pytest.raises(OutputRefusedError, match=r"nodes? 2 was planned|on 2 nodes were planned"):
        read(name, place, replace(outcome, stdout=stdout, files=files))


def test_ranks_that_are_not_in_blocks_are_refused(place: Place) -> None:
    outcome = outcome_of("mdtest-own-create", place)
    with pytest.raises(OutputRefusedError, match="the first 2 ranks, and no others, were planned on the first node"):
        read("mdtest-own-create", place, replace(outcome, stdout=outcome.stdout.replace("1100", "1010")))


def test_tasks_per_node_that_ior_reports_must_be_those_planned(place: Place) -> None:
    outcome = outcome_of("ior-shared-write", place)
    files = {file: text.replace('"tasksPerNode": 2', '"tasksPerNode": 3') for file, text in outcome.files.items()}
    with pytest.raises(OutputRefusedError, match="2 tasks per node were planned, ior reports 3"):
        read("ior-shared-write", place, replace(outcome, files=files))


@pytest.mark.parametrize("name", RUNS)
def test_missing_or_cut_table_of_ranks_is_refused(name: str, place: Place) -> None:
    outcome = outcome_of(name, place)
    [table] = [file for file in outcome.files if "ranks" in file]
    text = outcome.files[table]
    for end in range(len(text)):
        with pytest.raises(OutputRefusedError):
            read(name, place, replace(outcome, files={**outcome.files, table: text[:end]}))
    with pytest.raises(OutputRefusedError):
        read(name, place, replace(outcome, files={file: old for file, old in outcome.files.items() if file != table}))


def test_ranks_of_another_run_are_refused(place: Place) -> None:
    outcome = outcome_of("ior-shared-write", place)
    table = Path(outcome.step.output_files[1]).name
    other = (FOLDER / "ior-stonewall-write-ranks.csv").read_text()
    with pytest.raises(OutputRefusedError, match="together, the program reports 67108864"):
        read("ior-shared-write", place, replace(outcome, files={**outcome.files, table: other}))
    create = outcome_of("mdtest-own-create", place)
    other = (FOLDER / "mdtest-stonewall-create-ranks.csv").read_text()
    files = dict.fromkeys(create.files, other)
    with pytest.raises(OutputRefusedError, match="together, the program reports 2000"):
        read("mdtest-own-create", place, replace(create, files=files))


def test_total_that_late_ranks_made_longer_is_marked(place: Place) -> None:
    """Recorded: the slowest rank took 162 of 173 ms in one run, and 2.041 of 2.054 s in another."""
    late = [flag for flag in read("ior-shared-write", place).flags if flag.code is FlagCode.LATE_START]
    assert [flag.measured for flag in late] == ["rank 2 on n2 was slowest with 162 ms; all ranks together took 173 ms"]
    assert FlagCode.LATE_START not in {flag.code for flag in read("ior-stonewall-write", place).flags}
