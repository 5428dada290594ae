"""The workload io500: its command and ini file, and what it reads of recorded runs on one and on two nodes."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from factories.mpi import mpi_settings
from factories.outcomes import DATA, as_step, captured, make_place, run_steps
from factories.tiny_runs import TINY

from iotide_agent.workloads.base import OutputRefusedError, Place, Sample, StepOutcome
from iotide_agent.workloads.io500 import FILES, Io500Workload
from iotide_agent.workloads.io500_options import Io500Options, ini_file
from iotide_agent.workloads.io500_score import BANDWIDTH_PHASES, SCORED_PHASES
from iotide_agent.workloads.rank_layout import RankLayout
from iotide_wire.measured import FlagCode
from iotide_wire.units import MIB

LAYOUT = RankLayout.of_nodes(("n1", "n2"), 1)
IO500 = Io500Workload()
RECORDED = {file.name: file.read_text() for file in sorted((DATA / "mpi/io500").iterdir())}
OPTIONS = Io500Options(
    tasks=1,
    stonewall_seconds=1,
    easy_transfer_size_bytes=MIB,
    easy_block_size_bytes=128 * MIB,
    hard_segments=800,
    easy_files=1500,
    hard_files=600,
    find_tasks=1,
)
"""Options of the recorded run on two nodes, in its directories."""
CUT = RECORDED["result.txt"][: RECORDED["result.txt"].index("[ior-easy-read]") + 40]


def recorded_place(layout: RankLayout | None = LAYOUT) -> Place:
    return Place(
        target_id=7,
        directory=Path("/mnt/t/shared/run"),
        scratch=Path("/mnt/t/out"),
        fstype="ext4",
        direct_works=True,
        total_bytes=2**40,
        free_bytes=2**40,
        facts={"memory.total_bytes": 2**33},
        layout=layout,
    )


def outcome_of(changed: Mapping[str, str] | None = None, **changes: Any) -> StepOutcome:  # noqa: ANN401 - of several
    [[step]] = IO500.groups(OPTIONS, recorded_place())
    outcome = as_step(captured("ior/json_file"), step)
    return replace(outcome, stdout="", stderr="", files=RECORDED | dict(changed or {}), **changes)


def samples_of_io500(tool: str) -> list[Sample]:
    """Return what the recording on two nodes measured; none of other tools."""
    return [*IO500.read(OPTIONS, recorded_place(), outcome_of()).samples] if tool == IO500.name else []


def test_run_of_one_task_is_measured_by_what_is_installed(place: Place) -> None:
    workload = Io500Workload(mpi_settings("io500"))
    options = Io500Options.model_validate(TINY["io500"][0])
    [[step]] = workload.groups(options, place)
    [outcome] = run_steps([step], place)
    assert workload.failure(outcome) is None
    parsed = workload.read(options, place, outcome)
    assert {sample.labels["operation"] for sample in parsed.samples if "operation" in sample.labels} > {*SCORED_PHASES}
    assert outcome.files.keys() == {*FILES}, "the list of the IO500 wants the whole directory"


def test_command_has_the_planned_file_and_keeps_the_result_directory(place: Place) -> None:
    on_nodes = replace(place, layout=LAYOUT)
    [[step]] = Io500Workload({"program": "/opt/io500/io500"}).groups(OPTIONS, on_nodes)
    [ini] = step.input_files
    assert step.argv == ("/opt/io500/io500", str(ini.path))
    assert ini.text == ini_file(OPTIONS, on_nodes)
    assert {file.parent for file in step.output_files} == {place.scratch / "io500"}
    assert len({file.name for file in step.output_files}) == len(step.output_files)


def test_recorded_run_has_each_phase_its_nodes_and_the_score() -> None:
    parsed = IO500.read(OPTIONS, recorded_place(), outcome_of())
    rates = {
        (sample.labels["operation"], sample.labels.get("writer")): sample.value
        for sample in parsed.samples
        if sample.metric in {"throughput", "operation_rate"}
    }
    for phase in SCORED_PHASES:
        assert (phase, None) in rates
        assert ((phase, "n1") in rates, (phase, "n2") in rates) == ((phase != "find"),) * 2
        if phase in BANDWIDTH_PHASES:
            assert rates[phase, "n1"] + rates[phase, "n2"] >= rates[phase, None]
    [score] = [sample for sample in parsed.samples if sample.metric == "score"]
    assert (score.value, score.labels) == (3.484825, {"series": "io500-mini"})
    assert "stonewall-time 1s != 300s" in {flag.measured for flag in parsed.flags}


def test_reads_are_warm_on_one_node_only() -> None:
    alone = OPTIONS.model_copy(update={"tasks": 2})
    warm = {
        flag.labels["operation"]
        for flag in IO500.read(alone, recorded_place(None), outcome_of()).flags
        if flag.code is FlagCode.CACHE_DROP
    }
    assert warm == {phase for phase in SCORED_PHASES if phase.endswith(("-read", "-stat"))}
    over_two = IO500.read(OPTIONS, recorded_place(), outcome_of())
    assert FlagCode.CACHE_DROP not in {flag.code for flag in over_two.flags}


def test_easy_phases_that_should_bypass_the_cache_and_cannot_are_flagged() -> None:
    direct = OPTIONS.model_copy(update={"easy_direct": True})
    without = replace(recorded_place(), direct_works=False)
    flags = IO500.read(direct, without, outcome_of()).flags
    assert {flag.labels["operation"] for flag in flags if flag.code is FlagCode.NO_DIRECT} == {
        *("ior-easy-write", "ior-easy-read")
    }


@pytest.mark.parametrize(
    ("layout", "problem"),
    [
        (RankLayout.of_nodes(("n1", "n2", "n3"), 1), "3 tasks were planned, the IO500 ran 2"),
        (RankLayout.of_nodes(("n1",), 2), "2 tasks on 1 nodes were planned, the program ran 2 on 2"),
        (None, "1 tasks were planned, the IO500 ran 2"),
    ],
)
def test_other_tasks_or_nodes_than_planned_are_refused(layout: RankLayout | None, problem: str) -> None:
    options = OPTIONS.model_copy(update={"tasks": layout.tasks_per_node if layout else 1})
    with pytest.raises(OutputRefusedError, match=problem):
        IO500.read(options, recorded_place(layout), outcome_of())


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"hard_segments": 900}, r"segmentCount = 900 was planned in \[ior-hard\], config.ini has 800"),
        ({"stonewall_seconds": 300}, r"stonewall-time = 300 was planned in \[debug\], config.ini has 1"),
        ({"hard_files": 601}, r"n = 601 was planned in \[mdtest-hard\], config.ini has 600"),
    ],
)
def test_other_options_than_planned_are_refused(changed: dict[str, object], problem: str) -> None:
    with pytest.raises(OutputRefusedError, match=problem):
        IO500.read(OPTIONS.model_copy(update=changed), recorded_place(), outcome_of())


def test_cut_run_keeps_the_phases_that_ended() -> None:
    parsed = IO500.read_cut(OPTIONS, recorded_place(), outcome_of({"result.txt": CUT}))
    assert {sample.labels["operation"] for sample in parsed.samples} == {
        *("ior-easy-write", "mdtest-easy-write", "ior-hard-write", "mdtest-hard-write", "find")
    }
    nothing = replace(outcome_of(), files={})
    assert IO500.read_cut(OPTIONS, recorded_place(), nothing).samples == ()


def test_run_cut_anywhere_keeps_values_of_the_whole_run() -> None:
    whole = {
        (sample.metric, *sample.labels.values()): sample.value
        for sample in IO500.read_cut(OPTIONS, recorded_place(), outcome_of()).samples
    }
    text = RECORDED["result.txt"]
    outcome = outcome_of()
    for end in range(0, len(text), 3):
        try:
            cut = IO500.read_cut(OPTIONS, recorded_place(), replace(outcome, files={"result.txt": text[:end]}))
        except OutputRefusedError:
            continue
        for sample in cut.samples:
            assert whole[sample.metric, *sample.labels.values()] == sample.value


def test_run_without_its_last_line_failed() -> None:
    assert IO500.failure(outcome_of()) is None
    assert IO500.failure(outcome_of({"result.txt": CUT})) == "io500 ended with status 0, but its output is incomplete"
    said = 'FATAL (src/main.c:345) Could not open "/x" for writing (No space left on device)\n'
    assert "No space left on device" in str(IO500.failure(replace(outcome_of({"result.txt": ""}), stdout=said)))


def test_runs_on_several_targets_have_first_and_last_finish(tmp_path: Path) -> None:
    places = [make_place(tmp_path / name) for name in "ab"]
    outcomes = [outcome_of(), replace(outcome_of(), wall_seconds=60.0)]
    parsed = IO500.conclude(OPTIONS, places, outcomes)
    assert {sample.metric for sample in parsed.samples} == {"first_done", "last_done", "fairness"}
    assert IO500.conclude(OPTIONS, places[:1], outcomes[:1]).samples == ()
