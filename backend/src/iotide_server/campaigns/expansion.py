"""A plan's matrix as arithmetic: how many runs it means, which options are tried, which cells there are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Generic, TypeVar

from iotide_server.campaigns.errors import CampaignTooLargeError, RepeatedEntryError, SweptAndSetError
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
    variants = sum(prod(len(values) for values in choice.sweep.values()) for choice in plan.workloads)
    return len(plan.nodes) * (1 if plan.targets_at_once else len(plan.targets)) * variants


def run_count(plan: CampaignPlan) -> int:
    """Runs of the campaign, without making any of them."""
    return cell_count(plan) * plan.repeats


def check_matrix(plan: CampaignPlan) -> None:
    """Make sure that the matrix can be expanded.

    Raises:
        CampaignTooLargeError: it means more than MAX_RUNS runs.
        RepeatedEntryError: a node or a target is named twice.
        SweptAndSetError: an option is both set and swept.
    """
    runs = run_count(plan)
    if runs > MAX_RUNS:
        raise CampaignTooLargeError(runs, MAX_RUNS)
    _check_distinct("nodes", plan.nodes)
    _check_distinct("targets", plan.targets)
    for index, choice in enumerate(plan.workloads):
        for name in choice.sweep.keys() & choice.options.keys():
            raise SweptAndSetError(f"workloads[{index}].sweep.{name}", name)


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
    nodes: Sequence[NodeT], targets: Sequence[TargetT], variants: Sequence[VariantT], *, targets_at_once: bool
) -> Iterator[CellDraft[NodeT, TargetT, VariantT]]:
    """All cells, nodes outermost."""
    together = [tuple(targets)] if targets_at_once else [(target,) for target in targets]
    combinations = product(nodes, together, variants)
    for ordinal, (node, loaded, variant) in enumerate(combinations, start=1):
        yield CellDraft(ordinal, node, loaded, variant)
