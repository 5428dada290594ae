"""IOzone's cluster mode: recorded outputs of four processes, tampered and cut."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from factories.mpi import iozone_alone
from factories.outcomes import DATA, as_step, captured, run_steps
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from iotide_agent.workloads.base import OutputRefusedError, Place, PlanRefusedError, Sample, Step, StepOutcome
from iotide_agent.workloads.iozone import IozoneWorkload
from iotide_agent.workloads.iozone_cluster import (
    ClusterPlan,
    checked_blocks,
    client_file,
    cluster_arguments,
    process_files,
    read_block,
)
from iotide_agent.workloads.iozone_options import IozoneOptions
from iotide_agent.workloads.iozone_report import ClusterBlock, read_blocks, read_cluster_blocks
from iotide_agent.workloads.rank_layout import RankLayout
from iotide_wire.expressions import evaluate
from iotide_wire.measured import FlagCode
from iotide_wire.units import KIB

LAYOUT = RankLayout.of_nodes(("n1", "n2"), 2, ("10.1.0.1", "10.1.0.2"))
WHOLE = (DATA / "mpi/iozone-cluster.txt").read_text()
STOPPED = (DATA / "mpi/iozone-cluster-stopped.txt").read_text()
OPERATIONS = ("write", "rewrite", "read", "reread")
IOZONE = IozoneWorkload()
OPTIONS = IozoneOptions(
    mode="throughput",
    cluster=True,
    processes=2,
    file_size_bytes=4096 * KIB,
    max_record_size_bytes=1024 * KIB,
    tests=("write", "read"),
)


def read(text: str, layout: RankLayout = LAYOUT, file_kib: int = 4096) -> list[ClusterBlock]:
    return checked_blocks("iozone", text, ClusterPlan(layout, OPERATIONS, file_kib, 1024))


def test_each_process_has_its_own_rate_and_bytes() -> None:
    blocks = read(WHOLE)
    assert [block.operation for block in blocks] == list(OPERATIONS)
    assert all(child.moved_kib == 4096 for block in blocks for child in block.children)
    printed = [float(line.split()[-2]) for line in WHOLE.splitlines() if line.startswith("\tChild[")]
    assert [child.rate for block in blocks for child in block.children] == printed


def test_sum_of_the_rates_is_named_as_one_and_there_is_no_total() -> None:
    block = read(WHOLE)[0]
    samples = read_block(block, LAYOUT, {"operation": "write"}, 7).samples
    assert {sample.metric for sample in samples} == {
        *("throughput", "summed_throughput", "first_done", "last_done", "fairness")
    }
    [summed] = [sample.value for sample in samples if sample.metric == "summed_throughput"]
    assert summed == pytest.approx(sum(child.rate for child in block.children) * KIB)


def test_rate_of_a_node_is_over_its_slowest_process() -> None:
    block = read(WHOLE)[0]
    samples = read_block(block, LAYOUT, {"operation": "write"}, 7).samples
    writers = {sample.labels["writer"]: sample.value for sample in samples if sample.metric == "throughput"}
    slowest = [min(child.rate for child in block.children[at : at + 2]) for at in (0, 2)]
    assert writers == pytest.approx({"n1": 2 * slowest[0] * KIB, "n2": 2 * slowest[1] * KIB})


def test_output_of_other_modes_is_refused_by_each_reader() -> None:
    with pytest.raises(OutputRefusedError, match="no blocks that end with"):
        read_blocks("iozone", WHOLE)
    with pytest.raises(OutputRefusedError, match="several nodes take part"):
        read_cluster_blocks("iozone", captured("iozone/t4_C_perchild").stdout)
    with pytest.raises(OutputRefusedError, match="2 processes without a line for each"):
        read_cluster_blocks("iozone", captured("iozone/cluster_m").stdout)


def test_process_that_another_one_stopped_is_refused() -> None:
    assert [block.operation for block in read_cluster_blocks("iozone", STOPPED)] == ["write", "rewrite"]
    with pytest.raises(OutputRefusedError, match="write: not every process moved its whole file"):
        checked_blocks("iozone", STOPPED, ClusterPlan(LAYOUT, ("write", "rewrite"), 32768, 1024))


@pytest.mark.parametrize(
    ("layout", "file_kib", "problem"),
    [
        (RankLayout.of_nodes(("n1", "n2", "n3"), 2), 4096, "write: 6 processes were planned, iozone ran 4"),
        (LAYOUT, 8192, "files of 8192 KiB in records of 1024 KiB were planned"),
    ],
)
def test_other_processes_or_files_than_planned_are_refused(layout: RankLayout, file_kib: int, problem: str) -> None:
    with pytest.raises(OutputRefusedError, match=problem):
        read(WHOLE, layout, file_kib)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("Child[2] xfer", "Child[1] xfer", "4 processes without a line for each"),
        ("\tChild[3] xfer count =    4096.00", "\tChild[3] xfer count =    4095.00", "smallest transfer is not"),
        ("4 initial writers", "4 initial riders", "an operation that was not requested"),
        ("Min xfer", "Max xfer", "no blocks that end with"),
    ],
)
def test_tampered_output_is_refused(old: str, new: str, problem: str) -> None:
    with pytest.raises(OutputRefusedError, match=problem):
        read(WHOLE.replace(old, new, 1))


def test_changed_rate_is_refused_because_the_sum_does_not_fit() -> None:
    rate = f"{read(WHOLE)[0].children[1].rate:.2f}"
    with pytest.raises(OutputRefusedError, match="do not add up to the printed sum"):
        read(WHOLE.replace(f"Throughput =  {rate}", f"Throughput =  1{rate}", 1))


def test_output_cut_at_any_byte_is_refused() -> None:
    begin = WHOLE.index("\tThroughput test with")
    for end in range(begin, len(WHOLE)):
        with pytest.raises(OutputRefusedError):
            read(WHOLE[:end])


def test_client_file_has_a_line_for_each_process_in_the_order_of_their_files() -> None:
    directory, program = Path("/mnt/shared/run"), Path("/usr/bin/iozone")
    assert client_file(LAYOUT, directory, program).splitlines() == [
        *["10.1.0.1 /mnt/shared/run /usr/bin/iozone"] * 2,
        *["10.1.0.2 /mnt/shared/run /usr/bin/iozone"] * 2,
    ]
    assert [path.name for path in process_files(LAYOUT, directory)] == [f"iozone.DUMMY.{number}" for number in range(4)]
    arguments = cluster_arguments(Path("clients"), ClusterPlan(LAYOUT, OPERATIONS, 4096, 1024))
    assert " ".join(arguments) in next(line for line in WHOLE.splitlines() if "Command line" in line)


@pytest.mark.parametrize("directory", ["/mnt/my files", "/mnt/a\nb", "/mnt/\u00a0x"])
def test_directory_that_iozone_would_split_is_refused(directory: str) -> None:
    with pytest.raises(PlanRefusedError, match="splits its client file at blanks"):
        client_file(LAYOUT, Path(directory), Path("/usr/bin/iozone"))


def on_nodes(place: Place) -> Place:
    return replace(place, layout=LAYOUT)


def step_of(place: Place, workload: IozoneWorkload = IOZONE) -> Step:
    [[step]] = workload.groups(OPTIONS, on_nodes(place))
    return step


def outcome_of(place: Place, stdout: str = WHOLE, **changes: Any) -> StepOutcome:  # noqa: ANN401 - of several fields
    return replace(as_step(captured("iozone/t4_C_perchild"), step_of(place)), stdout=stdout, stderr="", **changes)


def samples_of_cluster(tool: str, place: Place) -> list[Sample]:
    """Return what the recording measured; none of other tools."""
    return [*IOZONE.read(OPTIONS, on_nodes(place), outcome_of(place)).samples] if tool == IOZONE.name else []


def test_one_program_of_all_nodes_is_planned_only_for_cluster() -> None:
    alone = IozoneOptions(mode="throughput")
    for options, tasks in ((OPTIONS, 2), (alone, None)):
        assert IOZONE.tasks_per_node(options) == tasks
        assert evaluate(IOZONE.own_programs, options.model_dump()) == (tasks is None)


def test_command_has_a_client_file_with_the_addresses_of_the_nodes(place: Place) -> None:
    step = step_of(place)
    [clients] = step.input_files
    assert clients.path.parent == place.scratch
    assert clients.text == client_file(LAYOUT, place.directory, Path("/usr/bin/iozone"))
    assert step.argv[5:8] == ("/usr/bin/iozone", "-+m", str(clients.path))
    assert step.declared_files == process_files(LAYOUT, place.directory)
    assert step.bytes_moved == 4 * 4096 * KIB * 4


def test_program_of_agent_toml_is_that_of_all_nodes(place: Place) -> None:
    step = step_of(place, IozoneWorkload({"program": "/opt/iozone"}))
    assert step.input_files[0].text.splitlines()[0].endswith(" /opt/iozone")
    assert step.argv[4:6] == ("/opt/iozone", "/opt/iozone")


def test_run_on_one_node_is_refused_with_the_remedy(place: Place) -> None:
    with pytest.raises(PlanRefusedError, match="this run has one node; set nodes_at_once"):
        IOZONE.groups(OPTIONS, place)


def test_recorded_run_has_numbers_and_flags_of_each_operation(place: Place) -> None:
    parsed = IOZONE.read(OPTIONS, on_nodes(place), outcome_of(place))
    assert {sample.labels.get("operation") for sample in parsed.samples} == {*OPERATIONS, None}
    assert FlagCode.TOO_FAST not in {flag.code for flag in parsed.flags}
    straggling = [flag.measured for flag in parsed.flags if flag.code is FlagCode.STRAGGLER]
    assert straggling
    assert all(" on n" in measured for measured in straggling)


def test_program_that_hung_after_its_results_has_no_duration(place: Place) -> None:
    hung = IOZONE.read(OPTIONS, on_nodes(place), outcome_of(place, launcher_hung=True)).samples
    whole = IOZONE.read(OPTIONS, on_nodes(place), outcome_of(place)).samples
    assert {sample.metric for sample in whole} - {sample.metric for sample in hung} == {"duration"}
    assert len(whole) == len(hung) + 1


def test_cut_run_keeps_the_operations_that_all_processes_finished(place: Place) -> None:
    cut = WHOLE[: WHOLE.index("Children see throughput for  4 readers")]
    first = WHOLE[: WHOLE.index("Child[0]")]
    parsed = IOZONE.read_cut(OPTIONS, on_nodes(place), outcome_of(place, cut))
    assert {sample.labels["operation"] for sample in parsed.samples} == {"write", "rewrite"}
    assert IOZONE.read_cut(OPTIONS, on_nodes(place), outcome_of(place, first)).samples == []


def test_second_run_on_the_node_fails_with_its_reason(place: Place) -> None:
    assert IOZONE.failure(outcome_of(place)) is None
    locked = outcome_of(place, "", exit_status=75)
    assert "another iozone over several nodes runs on this node" in str(IOZONE.failure(locked))
    assert "iozone ended with status 3" in str(IOZONE.failure(outcome_of(place, "", exit_status=3)))


def test_lock_holds_as_long_as_the_program_runs(place: Place, tmp_path: Path) -> None:
    """Start another program in iozone's place, under the words that the plan puts before it."""
    lock = step_of(place).argv[:4]
    program = tmp_path / "program"
    program.write_text("")
    with subprocess.Popen([*lock, program, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdin is not None
        assert first.stdout is not None
        first.stdin.write("started\n")
        first.stdin.flush()
        first.stdout.readline()
        assert subprocess.run([*lock, program, "true"], check=False).returncode == 75
    assert subprocess.run([*lock, program, "true"], check=False).returncode == 0


def test_real_iozone_measures_the_processes_of_two_addresses(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The remote shell starts its command on this machine; tests/agent/mpi has that of the product."""
    shell = tmp_path / "remote-shell"
    shell.write_text('#!/bin/sh\nshift 2\nexec sh -c "$*"\n')
    shell.chmod(0o700)
    monkeypatch.setenv("RSH", str(shell))
    layout = RankLayout.of_nodes(("n1", "n2"), 2, ("127.0.0.1", "127.0.0.2"))
    options = OPTIONS.model_copy(update={"file_size_bytes": 1024 * KIB, "tests": ("write",)})
    on_both = replace(place, layout=layout)
    [[step]] = IOZONE.groups(options, on_both)
    with iozone_alone():
        [outcome] = run_steps([step], on_both)
    assert IOZONE.failure(outcome) is None, outcome.stdout[-500:]
    writers = {sample.labels.get("writer") for sample in IOZONE.read(options, on_both, outcome).samples}
    assert writers == {None, "n1", "n2"}
    assert [file.stat().st_size for file in step.declared_files] == [1024 * KIB] * 4


@pytest.mark.parametrize("changed", [{"mode": "records"}, {"stone_walling": True}])
def test_cluster_is_throughput_mode_without_stonewall(changed: dict[str, object]) -> None:
    given = OPTIONS.model_dump(mode="json") | changed
    with pytest.raises(ValidationError, match="cluster = true needs mode = throughput"):
        IozoneOptions.model_validate(given)
    assert not Draft202012Validator(IOZONE.options_schema()).is_valid(given)


@pytest.mark.parametrize(("nodes", "tasks"), [((), 1), (("n1", "n1"), 1), (("n1",), 0)])
def test_layout_without_a_node_or_task_is_refused(nodes: tuple[str, ...], tasks: int) -> None:
    with pytest.raises(ValueError, match="name each node once"):
        RankLayout.of_nodes(nodes, tasks)
