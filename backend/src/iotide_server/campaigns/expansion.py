"""A plan's matrix as arithmetic: how many runs it means, which options are tried, which cells there are."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Generic, TypeVar

from iotide_server.campaigns.errors import (
    CAMPAIGN_ROWS,
    CAMPAIGN_TOO_LARGE,
    NO_WORKLOAD_NAMES_IT,
    NODE_NOT_IN_PLAN,
    OBSERVER_LOADS,
    OBSERVER_NOT_IN_PLAN,
    OPTION_SWEPT_AND_SET,
    REPEATED_ENTRY,
    STAGE_NOT_IN_PLAN,
    TARGET_NOT_IN_PLAN,
    too_few_nodes,
)
from iotide_server.campaigns.roles import check_roles, pair_count, pairs
from iotide_server.kit.errors import ErrorKind
from iotide_wire.measured import StepRole
from iotide_wire.plan import CampaignPlan, NodesAtOnce, Roles, WorkloadChoice

MAX_RUNS = 100_000
MAX_ROWS = 2_000_000
"""Counts, of each run, a place for each of its nodes with each of its targets, and one for each observer."""

NodeT = TypeVar("NodeT")
TargetT = TypeVar("TargetT")
OptionSetT = TypeVar("OptionSetT")
ThingT = TypeVar("ThingT")


@dataclass(frozen=True, slots=True)
class Load(Generic[NodeT, TargetT, OptionSetT]):
    """An option set, the stages (from 1) that run it, the sets of nodes that do so together and those of targets.

    Attributes:
        observers: nodes that watch each of its runs in which they do not load.
        roles: what the nodes of each set do, in its order; empty: each does all of the work.
    """

    option_set: OptionSetT
    stages: Sequence[int]
    node_sets: Sequence[tuple[NodeT, ...]]
    target_sets: Sequence[tuple[TargetT, ...]]
    observers: Sequence[NodeT] = ()
    roles: tuple[StepRole, ...] = ()


@dataclass(frozen=True, slots=True)
class CellDraft(Generic[NodeT, TargetT, OptionSetT]):
    """One combination of the matrix; `ordinal` and `stage` count from 1, all `nodes` load all `targets`, at once.

    Attributes:
        observers: nodes that only watch.
        roles: of the nodes, in their order; empty: each does all of the work.
    """

    ordinal: int
    stage: int
    nodes: tuple[NodeT, ...]
    targets: tuple[TargetT, ...]
    option_set: OptionSetT
    observers: tuple[NodeT, ...] = ()
    roles: tuple[StepRole, ...] = ()


def cell_count(plan: CampaignPlan) -> int:
    """Combinations of the matrix, in all its stages, without making any of them."""
    return sum(
        len(stages_of(plan, choice))
        * _node_set_count(plan, choice)
        * len(target_sets(plan, choice))
        * prod(len(values) for values in choice.sweep.values())
        for choice in plan.workloads
    )


def nodes_of(plan: CampaignPlan, choice: WorkloadChoice) -> list[str]:
    """The nodes that run this workload, alone or together."""
    if choice.roles is not None:
        return list(dict.fromkeys(name for pair in node_sets(plan, choice) for name in pair))
    names, at_once = _named_nodes(plan, choice), _nodes_at_once(plan, choice)
    return names if isinstance(at_once, bool) else names[: max(at_once)]


def loading_nodes_of(plan: CampaignPlan, choice: WorkloadChoice) -> list[str]:
    """Those of them that load targets: of a pair the receiver alone."""
    if choice.roles is None:
        return nodes_of(plan, choice)
    return list(dict.fromkeys(pair.receiver for pair in pairs_of(plan, choice)))


def pairs_of(plan: CampaignPlan, choice: WorkloadChoice) -> list[Roles]:
    """The pairs of nodes that this workload is run between; none where each node does all of its work."""
    return pairs(choice, _named_nodes(plan, choice))


def _node_set_count(plan: CampaignPlan, choice: WorkloadChoice) -> int:
    if choice.roles is not None:
        return pair_count(choice, _named_nodes(plan, choice))
    return len(node_sets(plan, choice))


def node_sets(plan: CampaignPlan, choice: WorkloadChoice) -> list[tuple[str, ...]]:
    """The nodes that a run of this workload needs together, one tuple for each cell of an option set."""
    if choice.roles is not None:
        return [(pair.sender, pair.receiver) for pair in pairs_of(plan, choice)]
    names, at_once = _named_nodes(plan, choice), _nodes_at_once(plan, choice)
    if isinstance(at_once, bool):
        return [tuple(names)] if at_once else [(name,) for name in names]
    return [tuple(names[:count]) for count in at_once]


def _named_nodes(plan: CampaignPlan, choice: WorkloadChoice) -> list[str]:
    return plan.nodes if choice.nodes is None else choice.nodes


def _nodes_at_once(plan: CampaignPlan, choice: WorkloadChoice) -> NodesAtOnce:
    return plan.nodes_at_once if choice.nodes_at_once is None else choice.nodes_at_once


def observers_of(plan: CampaignPlan, choice: WorkloadChoice) -> list[str]:
    """The nodes that watch the runs of this workload in which they do not load themselves."""
    return plan.observers if choice.observers is None else choice.observers


def targets_of(plan: CampaignPlan, choice: WorkloadChoice) -> list[str]:
    """The targets that this workload loads."""
    return plan.targets if choice.targets is None else choice.targets


def target_sets(plan: CampaignPlan, choice: WorkloadChoice) -> list[tuple[str, ...]]:
    """The targets that a run of this workload loads together, one tuple for each cell of an option set and node set."""
    names = targets_of(plan, choice)
    at_once = plan.targets_at_once if choice.targets_at_once is None else choice.targets_at_once
    return [tuple(names)] if at_once else [(name,) for name in names]


def stages_of(plan: CampaignPlan, choice: WorkloadChoice) -> list[int]:
    """The stages in which this workload is run, from 1; a plan without stages is one."""
    if not plan.stages:
        return [1]
    in_order = enumerate(plan.stages, start=1)
    return [ordinal for ordinal, stage in in_order if choice.variants is None or stage.variant in choice.variants]


def confirmed_from(plan: CampaignPlan) -> dict[tuple[str, str], int]:
    """By node and target, the first stage (from 1) before which an operator confirms what is mounted there, if any."""
    first: dict[tuple[str, str], int] = {}
    for choice in plan.workloads:
        paused = [
            stage for stage in stages_of(plan, choice) if plan.stages and plan.stages[stage - 1].pause is not None
        ]
        for place in product(loading_nodes_of(plan, choice), targets_of(plan, choice)) if paused else ():
            first[place] = min(paused[0], first.get(place, paused[0]))
    return first


def run_count(plan: CampaignPlan) -> int:
    """Runs of the campaign, without making any of them."""
    return cell_count(plan) * plan.repeats


def row_count(plan: CampaignPlan) -> int:
    """Count nodes times targets, and observers, of all runs together, without making any of them."""
    return plan.repeats * sum(
        len(stages_of(plan, choice))
        * prod(len(values) for values in choice.sweep.values())
        * (
            _nodes_in_sets(plan, choice) * len(targets_of(plan, choice))
            + _node_set_count(plan, choice) * len(target_sets(plan, choice)) * len(observers_of(plan, choice))
        )
        for choice in plan.workloads
    )


def _nodes_in_sets(plan: CampaignPlan, choice: WorkloadChoice) -> int:
    if choice.roles is not None:
        return 2 * _node_set_count(plan, choice)
    at_once = _nodes_at_once(plan, choice)
    return len(_named_nodes(plan, choice)) if isinstance(at_once, bool) else sum(at_once)


def check_matrix(plan: CampaignPlan) -> None:
    """Make sure that the matrix can be expanded.

    Raises:
        CAMPAIGN_TOO_LARGE: it means more than MAX_RUNS runs.
        CAMPAIGN_ROWS: its runs have more than MAX_ROWS places.
        REPEATED_ENTRY: a node, an observer, a target or a count of nodes is named twice.
        TOO_FEW_NODES: more nodes are to load together than there are.
        NODE_NOT_IN_PLAN, OBSERVER_NOT_IN_PLAN, TARGET_NOT_IN_PLAN, STAGE_NOT_IN_PLAN: a workload names what the plan
            does not.
        IotideError: as `check_roles`.
        OPTION_SWEPT_AND_SET: an option is both set and swept.
        NO_WORKLOAD_NAMES_IT: no workload is run on a node, on a target, in a stage or before an observer of the plan.
        OBSERVER_LOADS: an observer loads in every run that it is to watch.
    """
    runs = run_count(plan)
    if runs > MAX_RUNS:
        raise CAMPAIGN_TOO_LARGE(runs=runs, allowed=MAX_RUNS)
    rows = row_count(plan)
    if rows > MAX_ROWS:
        raise CAMPAIGN_ROWS(rows=rows, allowed=MAX_ROWS)
    _check_distinct("nodes", plan.nodes)
    _check_distinct("observers", plan.observers)
    _check_distinct("targets", plan.targets)
    for index, choice in enumerate(plan.workloads):
        _check_own(f"workloads[{index}].nodes", choice.nodes, plan.nodes, NODE_NOT_IN_PLAN)
        check_roles(f"workloads[{index}]", choice, _named_nodes(plan, choice))
        if choice.roles is None:
            own = "" if choice.nodes_at_once is None else f"workloads[{index}]."
            _check_at_once(f"{own}nodes_at_once", _nodes_at_once(plan, choice), _named_nodes(plan, choice))
        _check_own(f"workloads[{index}].observers", choice.observers, plan.observers, OBSERVER_NOT_IN_PLAN)
        _check_own(f"workloads[{index}].targets", choice.targets, plan.targets, TARGET_NOT_IN_PLAN)
        variants = [stage.variant for stage in plan.stages]
        _check_own(f"workloads[{index}].variants", choice.variants, variants, STAGE_NOT_IN_PLAN)
        for name in choice.sweep.keys() & choice.options.keys():
            raise OPTION_SWEPT_AND_SET(field=f"workloads[{index}].sweep.{name}", option=name)
    _check_all_run(plan)
    _check_all_observe(plan)


def _check_all_run(plan: CampaignPlan) -> None:
    nodes = {name for choice in plan.workloads for name in nodes_of(plan, choice)}
    for index, name in enumerate(plan.nodes):
        if name not in nodes:
            raise NO_WORKLOAD_NAMES_IT(field=f"nodes[{index}]", name=name, narrowed_by="nodes")
    targets = {name for choice in plan.workloads for name in targets_of(plan, choice)}
    for index, name in enumerate(plan.targets):
        if name not in targets:
            raise NO_WORKLOAD_NAMES_IT(field=f"targets[{index}]", name=name, narrowed_by="targets")
    stages = {ordinal for choice in plan.workloads for ordinal in stages_of(plan, choice)}
    for ordinal, stage in enumerate(plan.stages, start=1):
        if ordinal not in stages:
            raise NO_WORKLOAD_NAMES_IT(
                field=f"stages[{ordinal - 1}].variant", name=stage.variant, narrowed_by="variants"
            )


def _check_all_observe(plan: CampaignPlan) -> None:
    for index, name in enumerate(plan.observers):
        watched = [choice for choice in plan.workloads if name in observers_of(plan, choice)]
        if not watched:
            raise NO_WORKLOAD_NAMES_IT(field=f"observers[{index}]", name=name, narrowed_by="observers")
        if all(name in nodes for choice in watched for nodes in node_sets(plan, choice)):
            raise OBSERVER_LOADS(field=f"observers[{index}]", node=name)


def _check_own(
    field: str,
    own: Sequence[str] | None,
    planned: Sequence[str],
    missing: ErrorKind,
) -> None:
    _check_distinct(field, own or ())
    known = set(planned)
    for index, name in enumerate(own or ()):
        if name not in known:
            raise missing(field=f"{field}[{index}]", name=name)


def _check_at_once(field: str, at_once: NodesAtOnce, names: Sequence[str]) -> None:
    if isinstance(at_once, bool):
        return
    _check_distinct(field, at_once)
    for index, count in enumerate(at_once):
        if count > len(names):
            raise too_few_nodes(f"{field}[{index}]", count, names)


def _check_distinct(field: str, names: Sequence[str | int]) -> None:
    seen: set[str | int] = set()
    for index, name in enumerate(names):
        if name in seen:
            raise REPEATED_ENTRY(field=f"{field}[{index}]", value=name)
        seen.add(name)


def expand(loads: Sequence[Load[NodeT, TargetT, OptionSetT]]) -> Iterator[CellDraft[NodeT, TargetT, OptionSetT]]:
    """Return all cells: stages outermost, then nodes and targets as they are first named, and option sets innermost.

    What is expanded may be all option sets of a workload as one: the cells of a draft then follow each other.
    """
    nodes_at = _places(nodes for load in loads for nodes in load.node_sets)
    set_at = _places(targets for load in loads for targets in load.target_sets)
    combinations = [
        (stage, nodes, targets, load)
        for load in loads
        for stage, nodes, targets in product(load.stages, load.node_sets, load.target_sets)
    ]
    combinations.sort(key=lambda cell: (cell[0], nodes_at[cell[1]], set_at[cell[2]]))
    for ordinal, (stage, nodes, targets, load) in enumerate(combinations, start=1):
        observers = tuple(node for node in load.observers if node not in nodes)
        yield CellDraft(ordinal, stage, nodes, targets, load.option_set, observers, load.roles)


def _places(things: Iterable[ThingT]) -> dict[ThingT, int]:
    """At which place each thing is first named."""
    return {thing: place for place, thing in enumerate(dict.fromkeys(things))}
