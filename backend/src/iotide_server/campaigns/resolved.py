"""Plan with the stages, nodes, targets and roles of each workload resolved. Pure functions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, permutations, product
from math import prod
from typing import Final, NamedTuple, TypeVar

from iotide_server.campaigns.errors import (
    ADAPTIVE_AND_SPREAD,
    ADAPTIVE_REPEATS,
    CAMPAIGN_ROWS,
    CAMPAIGN_TOO_LARGE,
    NO_WORKLOAD_NAMES_IT,
    NODE_NOT_IN_PLAN,
    OBSERVER_LOADS,
    OBSERVER_NOT_IN_PLAN,
    OPTION_SWEPT_AND_SET,
    QUIET_WITH_OTHER_RUNS,
    REPEATED_ENTRY,
    ROLES_AND_NODES_AT_ONCE,
    SENDER_RECEIVES,
    SPREAD_OF_ONE_RUN,
    STAGE_NOT_IN_PLAN,
    TARGET_NOT_IN_PLAN,
    too_few_nodes,
)
from iotide_server.campaigns.openings import check_window
from iotide_server.campaigns.scratch.checks import check_clients, check_expansion, check_scratch
from iotide_server.campaigns.scratch.expansion import UNKNOWN_SET, AnnouncedSet, Expansion, MadeStage, expand
from iotide_server.clusters.maintenance import START_TAKES
from iotide_server.kit.errors import ErrorKind
from iotide_server.statistics.adaptive import LOOKS
from iotide_wire.measured import StepRole
from iotide_wire.plan import CampaignPlan, Exclusivity, NodesAtOnce, QuietPolicy, WorkloadChoice

MAX_RUNS = 100_000
MAX_ROWS = 2_000_000
"""Sum over runs of nodes times targets, plus observers."""
NODE_ROLES: Final = (StepRole.SENDER, StepRole.RECEIVER)  # of a pair's nodes, in order
OFF_TARGETS: Final = frozenset({StepRole.SENDER})

NodeT = TypeVar("NodeT")
ThingT = TypeVar("ThingT")
NodeTarget = tuple[str, str]


class ResolvedStage(NamedTuple):
    """Stage of the plan, or of its expanded block `scratch`."""

    variant: str
    pause: str | None
    made: MadeStage | None

    @property
    def is_remade(self) -> bool:
        return self.pause is not None or self.made is not None


@dataclass(frozen=True)
class ResolvedWorkload:
    """Workload of a plan, with the plan's defaults filled in."""

    field: str
    choice: WorkloadChoice
    option_set_count: int
    block_count: int
    row_count: int
    stages: Sequence[int]  # from 1; a plan without stages has one
    confirmed_from: int | None  # first stage before which an operator or a node makes targets again
    named_nodes: Sequence[str]
    nodes_at_once: NodesAtOnce
    observers: Sequence[str]  # unless they load in the run
    targets: Sequence[str]
    target_sets: Sequence[tuple[str, ...]]
    roles: Sequence[StepRole]

    @classmethod
    def of(cls, plan: CampaignPlan, stages_in_plan: Sequence[ResolvedStage], index: int) -> "ResolvedWorkload":
        choice = plan.workloads[index]
        in_order = enumerate(stages_in_plan, start=1)
        stages = [ordinal for ordinal, stage in in_order if choice.variants is None or stage.variant in choice.variants]
        remade = [ordinal for ordinal in stages if stages_in_plan[ordinal - 1].is_remade]
        nodes, at_once = _own_or(choice.nodes, plan.nodes), _own_or(choice.nodes_at_once, plan.nodes_at_once)
        observers, targets = _own_or(choice.observers, plan.observers), _own_or(choice.targets, plan.targets)
        together = _own_or(choice.targets_at_once, plan.targets_at_once)
        target_sets = [tuple(targets)] if together else [(name,) for name in targets]
        node_set_count, node_count = _count_nodes(choice, len(nodes), at_once)
        stage_count = len(stages) if stages_in_plan else 1
        option_set_count = prod(len(values) for values in choice.sweep.values())
        watching_count = node_set_count * len(target_sets) * len(observers)
        return cls(
            field=f"workloads[{index}]",
            choice=choice,
            option_set_count=option_set_count,
            block_count=stage_count * node_set_count * len(target_sets),
            row_count=stage_count * option_set_count * (node_count * len(targets) + watching_count),
            stages=stages if stages_in_plan else [1],
            confirmed_from=remade[0] if remade else None,
            named_nodes=nodes,
            nodes_at_once=at_once,
            observers=observers,
            targets=targets,
            target_sets=target_sets,
            roles=() if choice.roles is None else NODE_ROLES,
        )

    @cached_property
    def node_sets(self) -> Sequence[tuple[str, ...]]:
        """Return the nodes of each run; with roles: sender, then receiver."""
        names, pairs, at_once = self.named_nodes, self.choice.roles, self.nodes_at_once
        if pairs is not None:
            each_pair = permutations(names, len(NODE_ROLES))
            return list(each_pair) if isinstance(pairs, str) else [(pair.sender, pair.receiver) for pair in pairs]
        if isinstance(at_once, bool):
            return [tuple(names)] if at_once else [(name,) for name in names]
        return [tuple(names[:count]) for count in at_once]

    @cached_property
    def nodes(self) -> Sequence[str]:
        return list(dict.fromkeys(chain.from_iterable(self.node_sets)))

    def loading(self, nodes: Sequence[NodeT]) -> Sequence[NodeT]:
        """Return the nodes that load targets; for a pair, the receiver."""
        by_role = zip(nodes, self.roles, strict=False)
        return [node for node, role in by_role if role not in OFF_TARGETS] if self.roles else nodes

    @cached_property
    def places(self) -> Sequence[NodeTarget]:
        return list(product(dict.fromkeys(chain.from_iterable(map(self.loading, self.node_sets))), self.targets))


class ResolvedBlock(NamedTuple):
    """Consecutive cells: all option sets of a workload on the same nodes and targets in one stage."""

    first: int
    stage: int
    variant: str
    nodes: tuple[str, ...]
    targets: tuple[str, ...]
    workload: ResolvedWorkload

    @property
    def observers(self) -> Sequence[str]:
        if not self.workload.observers:
            return []
        loading = frozenset(self.nodes)
        return [name for name in self.workload.observers if name not in loading]


@dataclass(frozen=True)
class ResolvedPlan:
    """`blocks` creates the cells."""

    plan: CampaignPlan
    stages: Sequence[ResolvedStage]
    expansion: Expansion | None
    workloads: Sequence[ResolvedWorkload]
    cell_count: int
    repeats: int  # of each cell; rounds of scratch disks share those of the plan
    run_count: int
    row_count: int  # nodes x targets, plus observers
    set_target: str | None  # of the set of scratch disks

    @classmethod
    def of(cls, plan: CampaignPlan, known: AnnouncedSet = UNKNOWN_SET) -> "ResolvedPlan":
        expansion = None if plan.scratch is None else expand(plan.scratch, known)
        made = () if expansion is None else expansion.stages
        written = [ResolvedStage(stage.variant, stage.pause, None) for stage in plan.stages]
        stages = [*written, *(ResolvedStage(stage.variant, None, stage) for stage in made)]
        workloads = [ResolvedWorkload.of(plan, stages, index) for index in range(len(plan.workloads))]
        cell_count = sum(workload.block_count * workload.option_set_count for workload in workloads)
        row_count = sum(workload.row_count for workload in workloads)
        repeats = plan.repeats if plan.scratch is None else plan.repeats // plan.scratch.rounds
        return cls(
            plan,
            stages,
            expansion,
            workloads,
            cell_count,
            repeats,
            cell_count * repeats,
            row_count * repeats,
            known.target_name or (None if plan.scratch is None else plan.scratch.place),
        )

    def stage_ordinal(self, number: int) -> int:
        """Return the stored ordinal of a stage of the plan. On a scratch set, its make and mount are those before."""
        return number * self.steps_per_stage

    @property
    def steps_per_stage(self) -> int:
        """Return the stored stages of a stage of the plan: on a scratch set, also make, and mount on clients."""
        return 1 if self.expansion is None else 3 if self.clients else 2

    @cached_property
    def clients(self) -> Mapping[str, Sequence[str]]:
        """Return the targets of each node that mounts the export of the scratch set; empty without `serves`."""
        found: dict[str, list[str]] = {}
        if self.plan.scratch is not None and self.plan.scratch.serves is not None:
            for node, target in sorted(self.loaded_from):
                if target != self.set_target:
                    found.setdefault(node, []).append(target)
        return found

    @cached_property
    def loaded_from(self) -> Mapping[NodeTarget, int]:
        return self._earliest(lambda workload: workload.stages[0])

    @cached_property
    def confirmed_from(self) -> Mapping[NodeTarget, int]:
        return self._earliest(lambda workload: workload.confirmed_from)

    def _earliest(self, stage_of: Callable[[ResolvedWorkload], int | None]) -> Mapping[NodeTarget, int]:
        by_stage = [(stage, workload) for workload in self.workloads if (stage := stage_of(workload)) is not None]
        earliest: dict[NodeTarget, int] = {}
        for stage, workload in sorted(by_stage, key=lambda entry: entry[0], reverse=True):
            earliest |= dict.fromkeys(workload.places, stage)
        return earliest

    def blocks(self) -> Iterator[ResolvedBlock]:
        """Yield all cells by stage, nodes, targets (each in order of mention) and option set."""
        nodes_at = _order(nodes for workload in self.workloads for nodes in workload.node_sets)
        targets_at = _order(targets for workload in self.workloads for targets in workload.target_sets)
        in_order = sorted(
            place
            for index, workload in enumerate(self.workloads)
            for place in product(
                workload.stages,
                map(nodes_at.__getitem__, workload.node_sets),
                map(targets_at.__getitem__, workload.target_sets),
                (index,),
            )
        )
        node_sets, target_sets = list(nodes_at), list(targets_at)
        variants = [stage.variant for stage in self.stages] or [""]
        first = 1
        for stage, nodes, targets, index in in_order:
            workload = self.workloads[index]
            yield ResolvedBlock(first, stage, variants[stage - 1], node_sets[nodes], target_sets[targets], workload)
            first += workload.option_set_count


def _count_nodes(choice: WorkloadChoice, named: int, at_once: NodesAtOnce) -> tuple[int, int]:
    if choice.roles is not None:
        pairs = named * (named - 1) if isinstance(choice.roles, str) else len(choice.roles)
        return pairs, pairs * len(NODE_ROLES)
    if isinstance(at_once, bool):
        return 1 if at_once else named, named
    return len(at_once), sum(at_once)


def _own_or(own: ThingT | None, planned: ThingT) -> ThingT:
    return planned if own is None else own


def _order(things: Iterable[ThingT]) -> dict[ThingT, int]:
    return {thing: place for place, thing in enumerate(dict.fromkeys(things))}


def resolve(plan: CampaignPlan, known: AnnouncedSet = UNKNOWN_SET) -> ResolvedPlan:
    """Resolve and check; raise CAMPAIGN_TOO_LARGE, CAMPAIGN_ROWS or a field's error.

    With `known`, also check what the node announced about the disks of the plan's block `scratch`.
    """
    check_scratch(plan)
    resolved = ResolvedPlan.of(plan, known)
    if plan.scratch is not None and resolved.expansion is not None:
        check_expansion(plan.scratch, resolved.expansion)
    runs = resolved.run_count
    if runs > MAX_RUNS:
        raise CAMPAIGN_TOO_LARGE(runs=runs, allowed=MAX_RUNS)
    rows = resolved.row_count
    if rows > MAX_ROWS:
        raise CAMPAIGN_ROWS(rows=rows, allowed=MAX_ROWS)
    _check_distinct("nodes", plan.nodes)
    _check_distinct("observers", plan.observers)
    _check_distinct("targets", plan.targets)
    for workload in resolved.workloads:
        field, choice = workload.field, workload.choice
        _check_own(f"{field}.nodes", choice.nodes, plan.nodes, NODE_NOT_IN_PLAN)
        _check_roles(workload)
        if choice.roles is None:
            own = "" if choice.nodes_at_once is None else f"{field}."
            _check_at_once(f"{own}nodes_at_once", workload.nodes_at_once, workload.named_nodes)
        _check_own(f"{field}.observers", choice.observers, plan.observers, OBSERVER_NOT_IN_PLAN)
        _check_own(f"{field}.targets", choice.targets, plan.targets, TARGET_NOT_IN_PLAN)
        variants = [stage.variant for stage in resolved.stages]
        _check_own(f"{field}.variants", choice.variants, variants, STAGE_NOT_IN_PLAN)
        for name in choice.sweep.keys() & choice.options.keys():
            raise OPTION_SWEPT_AND_SET(field=f"{field}.sweep.{name}", option=name)
    _check_all_run(resolved)
    _check_all_observe(resolved)
    is_local = any(target == resolved.set_target for _, target in resolved.loaded_from)
    check_clients(plan, resolved.clients, is_local=is_local)
    if plan.window is not None:
        check_window(plan.window, plan.time_limit_seconds, START_TAKES)
    _check_repeats(plan)
    if plan.exclusive is Exclusivity.NONE and plan.quiet in {QuietPolicy.WAIT, QuietPolicy.REFUSE}:
        raise QUIET_WITH_OTHER_RUNS(policy=plan.quiet)
    return resolved


def _check_repeats(plan: CampaignPlan) -> None:
    least, most = LOOKS[0], LOOKS[-1]
    if plan.adaptive is not None and not least <= plan.repeats <= most:
        raise ADAPTIVE_REPEATS(repeats=plan.repeats, least=least, most=most)
    if plan.adaptive is not None and plan.spread_seconds is not None:
        raise ADAPTIVE_AND_SPREAD(spread_seconds=plan.spread_seconds)
    if plan.spread_seconds is not None and plan.repeats == 1:
        raise SPREAD_OF_ONE_RUN(spread_seconds=plan.spread_seconds)


def _check_roles(workload: ResolvedWorkload) -> None:
    field, choice, names = workload.field, workload.choice, workload.named_nodes
    if choice.roles is None:
        return
    if choice.nodes_at_once is not None:
        raise ROLES_AND_NODES_AT_ONCE(field=f"{field}.nodes_at_once", at_once="nodes_at_once")
    if isinstance(choice.roles, str):
        if len(names) < len(NODE_ROLES):
            raise too_few_nodes(f"{field}.roles", len(NODE_ROLES), names)
        return
    known, seen = set(names), set[tuple[str, str]]()
    for index, pair in enumerate(choice.roles):
        where = f"{field}.roles[{index}]"
        for role, name in (("sender", pair.sender), ("receiver", pair.receiver)):
            if name not in known:
                raise NODE_NOT_IN_PLAN(field=f"{where}.{role}", name=name)
        if pair.sender == pair.receiver:
            raise SENDER_RECEIVES(field=f"{where}.receiver", node=pair.receiver)
        if (pair.sender, pair.receiver) in seen:
            raise REPEATED_ENTRY(field=where, value=f"{pair.sender} to {pair.receiver}")
        seen.add((pair.sender, pair.receiver))


def _check_all_run(resolved: ResolvedPlan) -> None:
    plan, workloads = resolved.plan, resolved.workloads
    nodes = {name for workload in workloads for name in workload.nodes}
    for index, name in enumerate(plan.nodes):
        if name not in nodes:
            raise NO_WORKLOAD_NAMES_IT(field=f"nodes[{index}]", name=name, narrowed_by="nodes")
    targets = {name for workload in workloads for name in workload.targets}
    for index, name in enumerate(plan.targets):
        if name not in targets:
            raise NO_WORKLOAD_NAMES_IT(field=f"targets[{index}]", name=name, narrowed_by="targets")
    stages = {ordinal for workload in workloads for ordinal in workload.stages}
    for ordinal, stage in enumerate(resolved.stages, start=1):
        if ordinal not in stages:
            field = "scratch" if stage.made else f"stages[{ordinal - 1}].variant"
            raise NO_WORKLOAD_NAMES_IT(field=field, name=stage.variant, narrowed_by="variants")


def _check_all_observe(resolved: ResolvedPlan) -> None:
    for index, name in enumerate(resolved.plan.observers):
        watched = [workload for workload in resolved.workloads if name in workload.observers]
        if not watched:
            raise NO_WORKLOAD_NAMES_IT(field=f"observers[{index}]", name=name, narrowed_by="observers")
        if all(name in nodes for workload in watched for nodes in workload.node_sets):
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
