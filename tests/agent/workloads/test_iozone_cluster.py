"""IOzone's cluster mode: recorded outputs of four processes, tampered and cut."""

from pathlib import Path

import pytest
from factories.outcomes import DATA, captured

from iotide_agent.workloads.base import OutputRefusedError, PlanRefusedError
from iotide_agent.workloads.iozone_cluster import (
    ClusterPlan,
    block_samples,
    checked_blocks,
    client_file,
    cluster_arguments,
    process_files,
)
from iotide_agent.workloads.iozone_report import ClusterBlock, read_blocks, read_cluster_blocks
from iotide_agent.workloads.rank_layout import RankLayout
from iotide_wire.units import KIB

LAYOUT = RankLayout.of_nodes(("n1", "n2"), 2)
WHOLE = (DATA / "mpi/iozone-cluster.txt").read_text()
STOPPED = (DATA / "mpi/iozone-cluster-stopped.txt").read_text()
OPERATIONS = ("write", "rewrite", "read", "reread")


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
    samples = block_samples(block, LAYOUT, {"operation": "write"}, 7)
    assert {sample.metric for sample in samples} == {
        *("throughput", "summed_throughput", "first_done", "last_done", "fairness")
    }
    writers = {sample.labels["writer"]: sample.value for sample in samples if sample.metric == "throughput"}
    assert list(writers) == ["n1:0", "n1:1", "n2:2", "n2:3"]
    assert writers["n2:3"] == block.children[3].rate * KIB
    [summed] = [sample.value for sample in samples if sample.metric == "summed_throughput"]
    assert summed == pytest.approx(sum(writers.values()))


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
        *["n1 /mnt/shared/run /usr/bin/iozone"] * 2,
        *["n2 /mnt/shared/run /usr/bin/iozone"] * 2,
    ]
    assert [path.name for path in process_files(LAYOUT, directory)] == [f"iozone.DUMMY.{number}" for number in range(4)]
    arguments = cluster_arguments(Path("clients"), ClusterPlan(LAYOUT, OPERATIONS, 4096, 1024))
    assert " ".join(arguments) in next(line for line in WHOLE.splitlines() if "Command line" in line)


@pytest.mark.parametrize("directory", ["/mnt/my files", "/mnt/a\nb", "/mnt/\u00a0x"])
def test_directory_that_iozone_would_split_is_refused(directory: str) -> None:
    with pytest.raises(PlanRefusedError, match="splits its client file at blanks"):
        client_file(LAYOUT, Path(directory), Path("/usr/bin/iozone"))


@pytest.mark.parametrize(("nodes", "tasks"), [((), 1), (("n1", "n1"), 1), (("n1",), 0)])
def test_layout_without_a_node_or_task_is_refused(nodes: tuple[str, ...], tasks: int) -> None:
    with pytest.raises(ValueError, match="name each node once"):
        RankLayout.of_nodes(nodes, tasks)
