"""A plan's matrix as arithmetic: how many runs it means, which options are tried, which cells there are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Generic, TypeVar

from iotide_server.campaigns.errors import (
    CampaignTooLargeError,
    RepeatedEntryError,
    SweptAndSetError,
    TargetNotInPlanError,
)
from iotide_wire.plan import CampaignPlan, WorkloadChoice

MAX_RUNS = 100_000

NodeT = TypeVar("NodeT")
TargetT = TypeVar("TargetT")
OptionSetT = TypeVar("OptionSetT")


@dataclass(frozen=True, slots=True)
class CellDraft(Generic[NodeT, TargetT, OptionSetT]):
    """One combination of the matrix; `ordinal` and `stage` count from 1, `targets` are loaded together."""

    ordinal: int
    stage: int
    node: NodeT
    targets: tuple[TargetT, ...]
    option_set: OptionSetT


def cell_count(plan: CampaignPlan) -> int:
    """Combinations of the matrix, in all its stages, without making any of them."""
    combinations = sum(
        len(target_sets(plan, choice)) * prod(len(values) for values in choice.sweep.values())
        for choice in plan.workloads
    )
    return len(plan.nodes) * combinations * stage_count(plan)


def target_sets(plan: CampaignPlan, choice: WorkloadChoice) -> list[tuple[str, ...]]:
    """The targets that a run of this workload loads together, one tuple for each cell of an option set on a node."""
    names = plan.targets if choice.targets is None else choice.targets
    at_once = plan.targets_at_once if choice.targets_at_once is None else choice.targets_at_once
    return [tuple(names)] if at_once else [(name,) for name in names]


def stage_count(plan: CampaignPlan) -> int:
    """How often the matrix is run."""
    return max(1, len(plan.stages))


def run_count(plan: CampaignPlan) -> int:
    """Runs of the campaign, without making any of them."""
    return cell_count(plan) * plan.repeats


def check_matrix(plan: CampaignPlan) -> None:
    """Make sure that the matrix can be expanded.

    Raises:
        CampaignTooLargeError: it means more than MAX_RUNS runs.
        RepeatedEntryError: a node or a target is named twice.
        TargetNotInPlanError: a workload is to load a target that the plan does not name.
        SweptAndSetError: an option is both set and swept.
    """
    runs = run_count(plan)
    if runs > MAX_RUNS:
        raise CampaignTooLargeError(runs, MAX_RUNS)
    _check_distinct("nodes", plan.nodes)
    _check_distinct("targets", plan.targets)
    for index, choice in enumerate(plan.workloads):
        _check_targets(f"workloads[{index}].targets", plan, choice)
        for name in choice.sweep.keys() & choice.options.keys():
            raise SweptAndSetError(f"workloads[{index}].sweep.{name}", name)


def _check_targets(field: str, plan: CampaignPlan, choice: WorkloadChoice) -> None:
    _check_distinct(field, choice.targets or ())
    for index, name in enumerate(choice.targets or ()):
        if name not in plan.targets:
            raise TargetNotInPlanError(f"{field}[{index}]", name)


def _check_distinct(field: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            raise RepeatedEntryError(f"{field}[{index}]", name)
        seen.add(name)


def option_sets(choice: WorkloadChoice) -> Iterator[dict[str, Any]]:
    """The options of each set, as the person wrote them: the set ones with one value of every swept one."""
    for values in product(*choice.sweep.values()):
        yield {**choice.options, **dict(zip(choice.sweep, values, strict=True))}


def expand(
    nodes: Sequence[NodeT], loads: Sequence[tuple[OptionSetT, Sequence[tuple[TargetT, ...]]]], stages: int = 1
) -> Iterator[CellDraft[NodeT, TargetT, OptionSetT]]:
    """All cells, stages outermost and option sets innermost.

    Args:
        loads: each option set with the sets of targets that its runs load together.
    """
    together = list(dict.fromkeys(targets for _, sets in loads for targets in sets))
    combinations = (
        (stage, node, targets, option_set)
        for stage, node, targets, (option_set, sets) in product(range(1, stages + 1), nodes, together, loads)
        if targets in sets
    )
    for ordinal, (stage, node, loaded, option_set) in enumerate(combinations, start=1):
        yield CellDraft(ordinal, stage, node, loaded, option_set)
