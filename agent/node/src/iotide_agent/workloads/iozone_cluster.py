"""IOzone's cluster mode: the file that names its processes, and the checked results of each."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from iotide_agent.workloads.base import AnyLabels, OutputRefusedError, Parsed, PlanRefusedError, Sample
from iotide_agent.workloads.iozone_report import (
    ClusterBlock,
    process_file,
    read_cluster_blocks,
    read_cut_cluster_blocks,
)
from iotide_agent.workloads.rank_layout import RankLayout
from iotide_agent.workloads.rank_report import RankResult, RankTable
from iotide_agent.workloads.ranks import race_of_ranks
from iotide_wire.units import KIB

_COMMENT: Final = "#"


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """Processes, a file of each, and operations in iozone's own names and order."""

    layout: RankLayout
    operations: tuple[str, ...]
    file_kib: int
    record_kib: int


def client_file(layout: RankLayout, directory: Path, program: Path) -> str:
    """Return a line for each process, in the order of their numbers: address, directory, path of iozone.

    Raise PlanRefusedError for words that iozone would split.
    """
    lines = []
    for process in range(layout.tasks):
        words = (layout.address_of(process), str(directory), str(program))
        if any(not word or len(word.split()) != 1 or word.startswith(_COMMENT) for word in words):
            raise PlanRefusedError(f"{' '.join(words)}: iozone splits its client file at blanks; use names without")
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n"


def process_files(layout: RankLayout, directory: Path) -> tuple[Path, ...]:
    """Return the file of each process, as iozone names them."""
    return tuple(directory / f"iozone.DUMMY.{process}" for process in range(layout.tasks))


def cluster_arguments(client_list: Path, plan: ClusterPlan) -> tuple[str, ...]:
    """Return the arguments that decide who measures what: each process its whole file, with a line of its own."""
    sizes = ("-s", str(plan.file_kib), "-r", str(plan.record_kib))
    return ("-+m", str(client_list), "-t", str(plan.layout.tasks), *sizes, "-x", "-C", "-w")


def checked_blocks(step: str, text: str, plan: ClusterPlan, *, is_cut: bool = False) -> list[ClusterBlock]:
    """Raise OutputRefusedError unless each planned process moved its whole file in each planned operation.

    With `is_cut`, return the first operations, which all processes finished.
    """
    if process_file(step, text) != (plan.file_kib, plan.record_kib):
        problem = f"files of {plan.file_kib} KiB in records of {plan.record_kib} KiB were planned"
        raise OutputRefusedError(step, problem, text[-500:])
    blocks = read_cut_cluster_blocks(step, text) if is_cut else read_cluster_blocks(step, text)
    planned = plan.operations[: len(blocks)] if is_cut else plan.operations
    if tuple(block.operation for block in blocks) != planned:
        raise OutputRefusedError(step, f"{', '.join(plan.operations)} were planned", text[-500:])
    for block in blocks:
        if len(block.children) != plan.layout.tasks:
            problem = f"{block.operation}: {plan.layout.tasks} processes were planned, iozone ran {len(block.children)}"
            raise OutputRefusedError(step, problem, text[-500:])
        if any(child.moved_kib != plan.file_kib or not child.rate for child in block.children):
            problem = f"{block.operation}: not every process moved its whole file"
            raise OutputRefusedError(step, problem, text[-500:])
    return blocks


def read_block(block: ClusterBlock, layout: RankLayout, labels: AnyLabels, target_id: int | None) -> Parsed:
    """Return the race of the processes, the rate of each node, and the sum of the processes' rates.

    There is no total: each rate is over the process's own time.
    """
    summed = Sample("summed_throughput", block.summed_rate * KIB, labels, target_id)
    race = race_of_ranks(_table(block), layout, replace(summed, metric="throughput"))
    return Parsed([summed, *race.samples], race.flags)


def _table(block: ClusterBlock) -> RankTable:
    return RankTable(
        tuple(
            RankResult(process, child.moved_kib / child.rate, child.moved_kib * KIB)
            for process, child in enumerate(block.children)
        )
    )
