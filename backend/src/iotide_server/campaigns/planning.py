"""A plan with every name resolved and every size foreseen: what a preview shows and a submission stores."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import inf
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter
from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns.errors import (
    DATA_FITS_IN_MEMORY,
    MOUNT_CHANGED,
    NOT_ENOUGH_SPACE,
    OBSERVER_HAS_NO_AGENT,
    OPTIONS_TOO_LARGE,
    QUIET_BESIDE_RUNS,
    TARGET_NOT_ON_NODE,
)
from iotide_server.campaigns.expansion import (
    CellDraft,
    Load,
    check_matrix,
    confirmed_from,
    expand,
    loading_nodes_of,
    node_sets,
    nodes_of,
    observers_of,
    pairs_of,
    stages_of,
    target_sets,
    targets_of,
)
from iotide_server.campaigns.openings import check_window
from iotide_server.campaigns.option_sets import OptionSets
from iotide_server.campaigns.planned import (
    OFF_TARGETS,
    SPACE_MARGIN,
    ByKind,
    PlannedBlock,
    PlannedCampaign,
    PlannedPlace,
    PlannedRoom,
)
from iotide_server.campaigns.reach import check_between
from iotide_server.clusters import service as clusters
from iotide_server.clusters.blackouts import START_TAKES
from iotide_server.clusters.models import Cluster, Node
from iotide_server.kit.errors import InvalidInputError
from iotide_server.targets import service as targets
from iotide_server.targets.models import TargetMount
from iotide_server.targets.repository import TargetView
from iotide_server.workloads import service as workloads
from iotide_wire.expressions import (
    AUTO,
    MEMORY,
    MEMORY_FACTOR,
    TARGET_COUNT,
    TARGET_FREE,
    TARGET_RESERVE,
    TARGET_TOTAL,
    Expression,
    ExpressionError,
    evaluate,
    evaluate_rows,
    node_count,
)
from iotide_wire.measured import StepRole
from iotide_wire.plan import CachePolicy, CampaignPlan, Exclusivity, QuietPolicy
from iotide_wire.units import MIB

_EXPRESSION: Final = TypeAdapter[Expression](Expression)
MOST_OPTION_BYTES: Final = 256 * MIB
"""Of the options of all cells of a plan together; 100,000 cells of fio have some 30 MiB."""
_MOST_STEPS: Final = 5_000_000
"""Parts of announced expressions times kinds of option sets times places that differ: below a second."""


def resolve(session: Session, principal: Principal, plan: CampaignPlan) -> PlannedCampaign:
    """Check a plan against the cluster as it is now.

    Raises:
        CLUSTER_MADE_UP: nothing runs on its cluster.
        IotideError: of one class for each thing that can be wrong, naming the field of the plan.
    """
    return foresee(session, cluster_of(session, principal, plan), plan)


def cluster_of(session: Session, principal: Principal, plan: CampaignPlan) -> Cluster:
    """Return the plan's cluster, once its size and its terms are checked; none of it is expanded.

    Raises:
        IotideError: as `resolve`.
    """
    check_matrix(plan)
    check_window(plan, START_TAKES)
    if plan.exclusive is Exclusivity.NONE and plan.quiet in {QuietPolicy.WAIT, QuietPolicy.REFUSE}:
        raise QUIET_BESIDE_RUNS(policy=plan.quiet)
    cluster = clusters.cluster_named(session, principal, plan.cluster, Role.OPERATOR, field="cluster")
    clusters.require_real(session, cluster.id)
    return cluster


def foresee(session: Session, cluster: Cluster, plan: CampaignPlan) -> PlannedCampaign:
    """The plan's cells in its cluster, whoever asks.

    Raises:
        IotideError: as `resolve`.
    """
    nodes = clusters.nodes_named(session, cluster.id, plan.nodes, field="nodes")
    observers = clusters.nodes_named(session, cluster.id, plan.observers, field="observers")
    _check_agents(cluster, observers)
    views = targets.targets_named(session, cluster.id, plan.targets, field="targets")
    _check_mounted(plan, nodes, views)
    loads = list(_loads(session, plan, {node.name: node for node in [*nodes, *observers]}))
    _check_option_bytes(loads)
    foreseen = _Foreseen({view.target.name: view for view in views})
    blocks: list[PlannedBlock] = []
    first = 1
    for draft in expand(loads):
        blocks.append(foreseen.block(draft, _variant(plan, draft.stage), first))
        first += len(draft.option_set)
    _check_space(blocks, confirmed_from(plan))
    if plan.cache is CachePolicy.LARGER_THAN_MEMORY:
        _check_larger_than_memory(blocks)
    return PlannedCampaign(plan, cluster, blocks)


def _check_agents(cluster: Cluster, observers: Sequence[Node]) -> None:
    """Whether an agent stays on each: a compute node of a batch system has one in its jobs alone."""
    for index, node in enumerate(observers):
        if node.role == "gateway" or (node.role == "compute" and cluster.launcher != "direct"):
            raise OBSERVER_HAS_NO_AGENT(field=f"observers[{index}]", node=node.name, role=node.role)


def _check_mounted(plan: CampaignPlan, nodes: Sequence[Node], views: Sequence[TargetView]) -> None:
    """Each target on the nodes that are to load it; it need not be mounted before an operator is to confirm that."""
    confirmed = confirmed_from(plan)
    wanted: set[tuple[str, str]] = set()
    wanted_now: set[tuple[str, str]] = set()
    for choice in plan.workloads:
        pairs = set(product(loading_nodes_of(plan, choice), targets_of(plan, choice)))
        wanted |= pairs
        first = stages_of(plan, choice)[0]
        wanted_now |= {pair for pair in pairs if first < confirmed.get(pair, inf)}
    for index, view in enumerate(views):
        mounts = {found.mount.node_id: found.mount for found in view.mounts}
        for node in nodes:
            pair = (node.name, view.target.name)
            mount = mounts.get(node.id)
            if mount is None and pair in wanted:
                raise TARGET_NOT_ON_NODE(field=f"targets[{index}]", target=view.target.name, node=node.name)
            if mount is not None and mount.problem is not None and pair in wanted_now:
                where, (what, _, otherwise) = f"targets[{index}]", mount.problem.partition("; ")
                raise MOUNT_CHANGED(
                    field=where, target=view.target.name, node=node.name, what=what, otherwise=otherwise
                )


def _loads(session: Session, plan: CampaignPlan, by_name: Mapping[str, Node]) -> Iterator[Load[Node, str, OptionSets]]:
    """Yield each workload's option sets, with its nodes and the names of the targets that its runs load together."""
    for index, choice in enumerate(plan.workloads):
        field = f"workloads[{index}]"
        node_ids = [by_name[name].id for name in nodes_of(plan, choice)]
        workload = workloads.workload_for(session, choice.workload, node_ids, field=f"{field}.workload")
        roles = check_between(field, workload, pairs_of(plan, choice), by_name)
        options, sweep = workloads.validated_sweep(workload, choice.options, choice.sweep, field=f"{field}.options")
        sets = OptionSets(
            field,
            workload,
            options,
            sweep,
            workloads.baseline(session, workload).option_defaults,
            needed=_EXPRESSION.validate_python(workload.bytes_needed),
            moved=_EXPRESSION.validate_python(workload.bytes_moved),
            seconds=_EXPRESSION.validate_python(workload.run_seconds),
        )
        together = [tuple(by_name[name] for name in names) for names in node_sets(plan, choice)]
        observers = [by_name[name] for name in observers_of(plan, choice)]
        yield Load(sets, stages_of(plan, choice), together, target_sets(plan, choice), observers, roles)


def _check_option_bytes(loads: Sequence[Load[Node, str, OptionSets]]) -> None:
    """Refuse a plan whose cells store more than MOST_OPTION_BYTES of options; nothing is expanded for it.

    Raises:
        OPTIONS_TOO_LARGE: naming the option that takes most.
    """
    by_option: dict[str, int] = {}
    for load in loads:
        places = len(load.stages) * len(load.node_sets) * len(load.target_sets)
        for name, taken in load.option_set.bytes_by_option.items():
            by_option[f"{load.option_set.field}.options.{name}"] = places * taken
    total = sum(by_option.values())
    if total > MOST_OPTION_BYTES:
        raise OPTIONS_TOO_LARGE(
            field=max(by_option, key=lambda field: by_option[field]), total_bytes=total, allowed_bytes=MOST_OPTION_BYTES
        )


def _variant(plan: CampaignPlan, stage: int) -> str:
    return plan.stages[stage - 1].variant if plan.stages else ""


class _Foreseen:
    """What runs need and move, computed once for all places that are alike in what that depends on."""

    def __init__(self, by_name: Mapping[str, TargetView]) -> None:
        self._by_name = by_name
        self._mounts = {
            (on.mount.target_id, on.mount.node_id): on.mount for view in by_name.values() for on in view.mounts
        }
        self._amounts: dict[tuple[str, ...], _Amounts] = {}
        self._steps = 0

    def block(self, draft: CellDraft[Node, str, OptionSets], variant: str, first: int) -> PlannedBlock:
        """Return the cells of these option sets on these nodes and targets.

        Args:
            first: the ordinal of the first cell.

        Raises:
            InvalidInputError: space or time of a cell cannot be foreseen.
        """
        views = [self._by_name[name] for name in draft.targets]
        roles = draft.roles or (StepRole.CLIENT,) * len(draft.nodes)
        loading = [node for node, role in zip(draft.nodes, roles, strict=True) if role not in OFF_TARGETS]
        on = [(node, view, self._mounts[view.target.id, node.id]) for node, view in product(loading, views)]
        try:
            places = [self._place(draft.option_set, len(views), *place) for place in on]
        except ExpressionError:
            _refuse_first(draft.option_set, [_facts(*place, len(views)) for place in on])
            raise
        nodes, option_sets = draft.nodes, draft.option_set
        return PlannedBlock(first, draft.stage, variant, nodes, draft.observers, draft.roles, option_sets, places)

    def _place(
        self, sets: OptionSets, target_count: int, node: Node, view: TargetView, mount: TargetMount
    ) -> PlannedPlace:
        facts = _facts(node, view, mount, target_count)
        elsewhere = {name: facts.get(name) for name in sets.read_elsewhere}
        key = (sets.field, *map(repr, elsewhere.values()))
        if key not in self._amounts:
            self._count(sets)
            self._amounts[key] = _Amounts(
                _amounts(sets, sets.needed, elsewhere),
                _amounts(sets, sets.moved, elsewhere),
                _amounts(sets, sets.seconds, elsewhere),
            )
        found = self._amounts[key]
        free_bytes = mount.free_bytes if mount.problem is None else None
        return PlannedPlace(node, view, mount.fstype, found.needed, found.moved, found.seconds, free_bytes)

    def _count(self, sets: OptionSets) -> None:
        """Count what is computed of workloads that iotide does not ship.

        Raises:
            InvalidInputError: it is too much for one request.
        """
        if workloads.is_shipped(sets.workload):
            return
        self._steps += len(sets.firsts) * sum(map(node_count, (sets.needed, sets.moved, sets.seconds)))
        if self._steps > _MOST_STEPS:
            raise InvalidInputError(
                f"{sets.field}: space and time of {sets.workload.name} take more than {_MOST_STEPS:,} computations",
                field=sets.field,
                value=sets.workload.name,
                remedy="give fewer values in sweep, or fewer nodes and targets",
            )


class _Amounts(NamedTuple):
    """By kind of option set."""

    needed: ByKind
    moved: ByKind
    seconds: ByKind


def _facts(node: Node, view: TargetView, mount: TargetMount, target_count: int) -> Mapping[str, Any]:
    return {
        **node.facts,
        TARGET_TOTAL: mount.total_bytes,
        TARGET_FREE: mount.free_bytes,
        TARGET_RESERVE: view.target.reserve_bytes or 0,
        TARGET_COUNT: target_count,
    }


def _amounts(sets: OptionSets, expression: Expression, elsewhere: Mapping[str, Any]) -> ByKind:
    """Return the value for each kind of option set.

    Raises:
        ExpressionError: one has none.
    """
    values = {**elsewhere, **{name: sets.options[name] for name in sets.read & sets.options.keys()}}
    amounts = evaluate_rows(expression, values, sets.columns, len(sets.firsts))
    return [max(0.0, amount) for amount in amounts] if min(amounts) < 0 else amounts


def _refuse_first(sets: OptionSets, facts_of_places: Sequence[Mapping[str, Any]]) -> None:
    """Look for the first cell whose space or time cannot be foreseen.

    Raises:
        InvalidInputError: this one.
    """
    for options in map(sets.options_of, sets.firsts):
        for facts, expression in product(facts_of_places, (sets.needed, sets.moved, sets.seconds)):
            try:
                evaluate(expression, {**facts, **options})
            except ExpressionError as error:
                raise InvalidInputError(
                    f"space and time of {sets.workload.name} cannot be foreseen: {error}",
                    field=f"{sets.field}.options",
                    remedy="give the options that it is computed from",
                ) from error


def _check_larger_than_memory(blocks: Sequence[PlannedBlock]) -> None:
    for block in blocks:
        for kind in range(len(block.option_sets.firsts)):
            cached = block.cached_on(kind)
            if cached is not None:
                node, data_bytes = cached
                can_grow = block.size_fits(node) and not block.is_in_memory
                raise DATA_FITS_IN_MEMORY(
                    field=f"{block.option_sets.field}.options",
                    node=node.name,
                    data_bytes=int(data_bytes),
                    enough_bytes=MEMORY_FACTOR * node.facts[MEMORY],
                    larger="take larger sizes (`auto` is twice the memory), or"
                    if can_grow
                    else "larger sizes have no room: take",
                )


def _check_space(blocks: Sequence[PlannedBlock], confirmed: Mapping[tuple[str, str], int]) -> None:
    """What is free now says nothing of a file system that an operator may make anew before the cell's stage."""
    for block in blocks:
        rooms = [room for room in block.rooms if _is_as_now(block, room, confirmed)]
        if any(_lacks(room, max(room.bytes_needed)) for room in rooms):
            _refuse_space(block, rooms)


def _is_as_now(block: PlannedBlock, room: PlannedRoom, confirmed: Mapping[tuple[str, str], int]) -> bool:
    name = room.target.target.name
    return not confirmed or all(block.stage < confirmed.get((place.node.name, name), inf) for place in room.places)


def _lacks(room: PlannedRoom, bytes_needed: float) -> bool:
    return bool(bytes_needed) and room.free_bytes is not None and _with_margin(room, bytes_needed) > room.free_bytes


def _with_margin(room: PlannedRoom, bytes_needed: float) -> float:
    return max(bytes_needed * SPACE_MARGIN, bytes_needed + (room.target.target.reserve_bytes or 0))


def _refuse_space(block: PlannedBlock, rooms: Sequence[PlannedRoom]) -> None:
    sets = block.option_sets
    for (kind, first), room in product(enumerate(sets.firsts), rooms):
        bytes_needed = room.bytes_needed[kind]
        if room.free_bytes is not None and _lacks(room, bytes_needed):
            # Refused and not shrunk: a size by the room of the day would be another experiment each night.
            is_auto = AUTO in sets.options_of(first).values()
            raise NOT_ENOUGH_SPACE(
                field=f"{sets.field}.options",
                needed_bytes=int(_with_margin(room, bytes_needed)),
                where=room.where,
                free_bytes=room.free_bytes,
                smaller="give a size instead of auto, which is twice the memory," if is_auto else "take smaller sizes",
            )
