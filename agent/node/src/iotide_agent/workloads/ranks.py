"""Results of the ranks and nodes of one MPI program: first and last to finish, fairness, each node's rate."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from iotide_agent.workloads.base import OutputRefusedError, Parsed, Sample
from iotide_agent.workloads.quality import marked
from iotide_agent.workloads.rank_layout import RankLayout
from iotide_agent.workloads.rank_report import PRODUCT_RATIO, RankTable
from iotide_agent.workloads.writers import STRAGGLER_LIMIT, fairness, straggler
from iotide_wire.measured import Flag, FlagCode
from iotide_wire.units import format_percent, format_seconds

TOTAL_RATIO: Final = 0.05
"""Difference of the slowest rank's time from the program's total, in which the ranks' late starts are included."""


def check_layout(step: str, layout: RankLayout, nodes: int, tasks: int, line: str) -> None:
    """Raise OutputRefusedError for a program on other nodes, as when a launcher starts one for each node."""
    if (nodes, tasks) != (len(layout.nodes), layout.tasks):
        planned = f"{layout.tasks} tasks on {len(layout.nodes)} nodes were planned"
        raise OutputRefusedError(step, f"{planned}, the program ran {tasks} on {nodes}", line)


def check_amount(step: str, table: RankTable, amount: float, tolerance: float, line: str) -> None:
    """Raise OutputRefusedError if the ranks' amounts do not add up to the program's total.

    `tolerance` is that of the total, to which the digits of the table are added.
    """
    if abs(table.amount - amount) > tolerance + PRODUCT_RATIO * amount:
        problem = (
            f"the ranks' rates and times are of {round(table.amount)} together, the program reports {round(amount)}"
        )
        raise OutputRefusedError(step, problem, line)


def of_ranks(table: RankTable, layout: RankLayout, total: Sample, total_seconds: float) -> Parsed:
    """Return `race_of_ranks`, and the least start skew that explains the program's own total.

    The last rank to end took `total_seconds` without its late start, and no rank took longer than the slowest one.
    """
    race = race_of_ranks(table, layout, total)
    skew = replace(total, metric="start_skew", value=max(0.0, total_seconds - table.slowest.seconds))
    return Parsed([*race.samples, skew], [*race.flags, *_gap(table, layout, total, total_seconds)])


def race_of_ranks(table: RankTable, layout: RankLayout, like: Sample) -> Parsed:
    """Return the race of the ranks, and the rate of each node in the metric of `like`, with the label `writer`.

    A node's rate is the amount of its ranks by the time of its slowest one. Each rank's time begins at its own start.
    """
    seconds = [rank.seconds for rank in table.ranks]
    values = {
        "first_done": min(seconds),
        "last_done": max(seconds),
        "fairness": fairness([rank.rate for rank in table.ranks]),
    }
    samples = [replace(like, metric=metric, value=value) for metric, value in values.items()]
    return Parsed([*samples, *_of_nodes(table, layout, like)], _straggler(table, layout, like))


def _of_nodes(table: RankTable, layout: RankLayout, like: Sample) -> Iterator[Sample]:
    for node in layout.nodes:
        own = [table.ranks[rank] for rank in layout.ranks_of(node)]
        rate = sum(rank.amount for rank in own) / max(rank.seconds for rank in own)
        yield replace(like, value=rate, labels={**like.labels, "writer": node})


def _straggler(table: RankTable, layout: RankLayout, like: Sample) -> list[Flag]:
    found = straggler([rank.seconds for rank in table.ranks])
    if found is None:
        return []
    who = f"rank {found.number} on {layout.node_of(found.number)}"
    measured = f"{who} finished after {format_seconds(found.seconds)}, {found.others}"
    return [marked(FlagCode.STRAGGLER, measured, STRAGGLER_LIMIT, like.labels, like.target_id)]


def _gap(table: RankTable, layout: RankLayout, total: Sample, total_seconds: float) -> list[Flag]:
    slowest = table.slowest
    if abs(total_seconds - slowest.seconds) <= TOTAL_RATIO * total_seconds:
        return []
    who = f"rank {slowest.rank} on {layout.node_of(slowest.rank)} was slowest with {format_seconds(slowest.seconds)}"
    measured = f"{who}; all ranks together took {format_seconds(total_seconds)}"
    # Ranks that began late make the total longer. A shorter total is an error of its clocks.
    code = FlagCode.LATE_START if total_seconds > slowest.seconds else FlagCode.TOOL_CLOCK
    return [marked(code, measured, f"{format_percent(TOTAL_RATIO)} of the total", total.labels, total.target_id)]
