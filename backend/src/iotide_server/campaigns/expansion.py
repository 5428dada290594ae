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
VariantT = TypeVar("VariantT")


@dataclass(frozen=True, slots=True)
class CellDraft(Generic[NodeT, TargetT, VariantT]):
    """One combination of the matrix; `ordinal` counts from 1, `targets` are loaded together."""

    ordinal: int
    node: NodeT
    targets: tuple[TargetT, ...]
    variant: VariantT


def cell_count(plan: CampaignPlan) -> int:
    """Combinations of the matrix, without making any of them."""
    return len(plan.nodes) * sum(
        len(target_sets(plan, choice)) * prod(len(values) for values in choice.sweep.values())
        for choice in plan.workloads
    )


def target_sets(plan: CampaignPlan, choice: WorkloadChoice) -> list[tuple[str, ...]]:
    """The targets that a run of this workload loads together, one tuple for each cell of a variant on a node."""
    names = plan.targets if choice.targets is None else choice.targets
    at_once = plan.targets_at_once if choice.targets_at_once is None else choice.targets_at_once
    return [tuple(names)] if at_once else [(name,) for name in names]


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
    """The options of each variant, as the person wrote them: the set ones with one value of every swept one."""
    for values in product(*choice.sweep.values()):
        yield {**choice.options, **dict(zip(choice.sweep, values, strict=True))}


def expand(
    nodes: Sequence[NodeT], loads: Sequence[tuple[VariantT, Sequence[tuple[TargetT, ...]]]]
) -> Iterator[CellDraft[NodeT, TargetT, VariantT]]:
    """All cells, nodes outermost and variants innermost.

    Args:
        loads: each variant with the sets of targets that its runs load together.
    """
    together = list(dict.fromkeys(targets for _, sets in loads for targets in sets))
    combinations = (
        (node, targets, variant)
        for node, targets, (variant, sets) in product(nodes, together, loads)
        if targets in sets
    )
    for ordinal, (node, loaded, variant) in enumerate(combinations, start=1):
        yield CellDraft(ordinal, node, loaded, variant)
