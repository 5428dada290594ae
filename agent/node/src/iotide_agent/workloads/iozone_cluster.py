"""IOzone's cluster mode: the file that names its processes, and the checked results of each."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from iotide_agent.workloads.base import AnyLabels, OutputRefusedError, PlanRefusedError, Sample
from iotide_agent.workloads.iozone_report import ClusterBlock, process_file, read_cluster_blocks
from iotide_agent.workloads.rank_layout import RankLayout
from iotide_agent.workloads.writers import fairness
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
    """Return a line for each process, in the order of their numbers: host, directory, path of iozone.

    Raise PlanRefusedError for words that iozone would split.
    """
    lines = []
    for process in range(layout.tasks):
        words = (layout.node_of(process), str(directory), str(program))
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


def checked_blocks(step: str, text: str, plan: ClusterPlan) -> list[ClusterBlock]:
    """Raise OutputRefusedError unless each planned process moved its whole file in each planned operation."""
    if process_file(step, text) != (plan.file_kib, plan.record_kib):
        problem = f"files of {plan.file_kib} KiB in records of {plan.record_kib} KiB were planned"
        raise OutputRefusedError(step, problem, text[-500:])
    blocks = read_cluster_blocks(step, text)
    if tuple(block.operation for block in blocks) != plan.operations:
        raise OutputRefusedError(step, f"{', '.join(plan.operations)} were planned", text[-500:])
    for block in blocks:
        if len(block.children) != plan.layout.tasks:
            problem = f"{block.operation}: {plan.layout.tasks} processes were planned, iozone ran {len(block.children)}"
            raise OutputRefusedError(step, problem, text[-500:])
        if any(child.moved_kib != plan.file_kib or not child.rate for child in block.children):
            problem = f"{block.operation}: not every process moved its whole file"
            raise OutputRefusedError(step, problem, text[-500:])
    return blocks


def block_samples(block: ClusterBlock, layout: RankLayout, labels: AnyLabels, target_id: int | None) -> list[Sample]:
    """Return the rate of each process, first and last finish, fairness and the rates' sum.

    The label `writer` names node and process. There is no total: each rate is over the process's own time.
    """
    rates = [child.rate for child in block.children]
    done = [child.moved_kib / child.rate for child in block.children]
    values = {
        "summed_throughput": block.summed_rate * KIB,
        "first_done": min(done),
        "last_done": max(done),
        "fairness": fairness(rates),
    }
    return [
        *(
            Sample("throughput", rate * KIB, {**labels, "writer": f"{layout.node_of(process)}:{process}"}, target_id)
            for process, rate in enumerate(rates)
        ),
        *(Sample(metric, value, labels, target_id) for metric, value in values.items()),
    ]
