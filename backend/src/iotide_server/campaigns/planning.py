"""A plan with every name resolved and every size foreseen: what a preview shows and a submission stores."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import inf
from typing import Any, Final

from pydantic import TypeAdapter
from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.accounts.principal import Principal
from iotide_server.campaigns.errors import (
    DataFitsInMemoryError,
    MountChangedError,
    NotEnoughSpaceError,
    ObserverHasNoAgentError,
    QuietBesideRunsError,
    TargetNotOnNodeError,
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
    option_sets,
    pairs_of,
    stages_of,
    target_sets,
    targets_of,
)
from iotide_server.campaigns.openings import check_window
from iotide_server.campaigns.planned import (
    OFF_TARGETS,
    SPACE_MARGIN,
    OptionSet,
    PlannedCampaign,
    PlannedCell,
    PlannedPlace,
    PlannedRoom,
)
from iotide_server.campaigns.reach import check_between
from iotide_server.clusters import service as clusters
from iotide_server.clusters.blackouts import START_TAKES
from iotide_server.clusters.models import Cluster, Node
from iotide_server.kit.digests import canonical_sha256
from iotide_server.kit.errors import InvalidInputError
from iotide_server.targets import service as targets
from iotide_server.targets.models import TargetMount
from iotide_server.targets.service import TargetView
from iotide_server.workloads import service as workloads
from iotide_wire.expressions import (
    AUTO,
    MEMORY,
    TARGET_COUNT,
    TARGET_FREE,
    TARGET_RESERVE,
    TARGET_TOTAL,
    Expression,
    ExpressionError,
    evaluate,
)
from iotide_wire.measured import StepRole
from iotide_wire.plan import CachePolicy, CampaignPlan, Exclusivity, QuietPolicy

_EXPRESSION: Final = TypeAdapter[Expression](Expression)


def resolve(session: Session, principal: Principal, plan: CampaignPlan) -> PlannedCampaign:
    """Check a plan against the cluster as it is now.

    Raises:
        ClusterMadeUpError: nothing runs on its cluster.
        IotideError: of one class for each thing that can be wrong, naming the field of the plan.
    """
    check_matrix(plan)
    check_window(plan, START_TAKES)
    if plan.exclusive is Exclusivity.NONE and plan.quiet in {QuietPolicy.WAIT, QuietPolicy.REFUSE}:
        raise QuietBesideRunsError(plan.quiet)
    cluster = clusters.cluster_named(session, principal, plan.cluster, Role.OPERATOR, field="cluster")
    clusters.require_real(session, cluster.id)
    return foresee(session, cluster, plan)


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
    by_name = {view.target.name: view for view in views}
    mounts = {(on.mount.target_id, on.mount.node_id): on.mount for view in views for on in view.mounts}
    cells = [_foreseen(draft, _variant(plan, draft.stage), by_name, mounts) for draft in expand(loads)]
    _check_space(cells, confirmed_from(plan))
    if plan.cache is CachePolicy.LARGER_THAN_MEMORY:
        _check_larger_than_memory(cells)
    return PlannedCampaign(plan, cluster, cells)


def _check_agents(cluster: Cluster, observers: Sequence[Node]) -> None:
    """Whether an agent stays on each: a compute node of a batch system has one in its jobs alone."""
    for index, node in enumerate(observers):
        if node.role == "gateway" or (node.role == "compute" and cluster.launcher != "direct"):
            raise ObserverHasNoAgentError(f"observers[{index}]", node.name, node.role)


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
                raise TargetNotOnNodeError(f"targets[{index}]", view.target.name, node.name)
            if mount is not None and mount.problem is not None and pair in wanted_now:
                raise MountChangedError(f"targets[{index}]", view.target.name, node.name, mount.problem)


def _loads(session: Session, plan: CampaignPlan, by_name: Mapping[str, Node]) -> Iterator[Load[Node, str, OptionSet]]:
    """Every option set with its nodes and the names of the targets that its runs load together."""
    for index, choice in enumerate(plan.workloads):
        field = f"workloads[{index}]"
        node_ids = [by_name[name].id for name in nodes_of(plan, choice)]
        workload = workloads.workload_for(session, choice.workload, node_ids, field=f"{field}.workload")
        roles = check_between(field, workload, pairs_of(plan, choice), by_name)
        baseline = workloads.baseline(session, workload.name)
        needed = _EXPRESSION.validate_python(workload.bytes_needed)
        moved = _EXPRESSION.validate_python(workload.bytes_moved)
        seconds = _EXPRESSION.validate_python(workload.run_seconds)
        for given in option_sets(choice):
            options = workloads.validated_options(workload, given, field=f"{field}.options")
            digest = canonical_sha256(workloads.series_options(baseline, options))
            option_set = OptionSet(field, workload, options, digest, needed, moved, seconds)
            sets = [tuple(by_name[name] for name in names) for names in node_sets(plan, choice)]
            observers = [by_name[name] for name in observers_of(plan, choice)]
            yield Load(option_set, stages_of(plan, choice), sets, target_sets(plan, choice), observers, roles)


def _variant(plan: CampaignPlan, stage: int) -> str:
    return plan.stages[stage - 1].variant if plan.stages else ""


def _foreseen(
    draft: CellDraft[Node, str, OptionSet],
    variant: str,
    by_name: Mapping[str, TargetView],
    mounts: Mapping[tuple[int, int], TargetMount],
) -> PlannedCell:
    views = [by_name[name] for name in draft.targets]
    roles = draft.roles or (StepRole.CLIENT,) * len(draft.nodes)
    loading = [node for node, role in zip(draft.nodes, roles, strict=True) if role not in OFF_TARGETS]
    places = [
        _place(node, draft.option_set, view, mounts[view.target.id, node.id], len(views))
        for node, view in product(loading, views)
    ]
    nodes, option_set = draft.nodes, draft.option_set
    return PlannedCell(draft.ordinal, draft.stage, variant, nodes, draft.observers, draft.roles, option_set, places)


def _place(node: Node, option_set: OptionSet, view: TargetView, mount: TargetMount, target_count: int) -> PlannedPlace:
    values: Mapping[str, Any] = {
        **node.facts,
        TARGET_TOTAL: mount.total_bytes,
        TARGET_FREE: mount.free_bytes,
        TARGET_RESERVE: view.target.reserve_bytes or 0,
        TARGET_COUNT: target_count,
        **option_set.options,
    }
    return PlannedPlace(
        node,
        view,
        mount.fstype,
        bytes_needed=_amount(option_set, option_set.needed, values),
        bytes_moved=_amount(option_set, option_set.moved, values),
        run_seconds=_amount(option_set, option_set.seconds, values),
        free_bytes=mount.free_bytes if mount.problem is None else None,
    )


def _amount(option_set: OptionSet, expression: Expression, values: Mapping[str, Any]) -> float:
    try:
        return max(0.0, evaluate(expression, values))
    except ExpressionError as error:
        raise InvalidInputError(
            f"space and time of {option_set.workload.name} cannot be foreseen: {error}",
            field=f"{option_set.field}.options",
            remedy="give the options that it is computed from",
        ) from error


def _check_larger_than_memory(cells: Sequence[PlannedCell]) -> None:
    for cell in cells:
        node = cell.cached_on()
        if node is not None:
            field, memory_bytes = f"{cell.option_set.field}.options", node.facts[MEMORY]
            can_grow = cell.size_fits(node) and not cell.is_in_memory
            raise DataFitsInMemoryError(field, node.name, cell.data_bytes(node), memory_bytes, can_grow=can_grow)


def _check_space(cells: Sequence[PlannedCell], confirmed: Mapping[tuple[str, str], int]) -> None:
    """What is free now says nothing of a file system that an operator may make anew before the cell's stage."""
    for cell in cells:
        for room in cell.rooms:
            names = [(place.node.name, room.target.target.name) for place in room.places]
            if all(cell.stage < confirmed.get(name, inf) for name in names):
                _check_room(cell, room)


def _check_room(cell: PlannedCell, room: PlannedRoom) -> None:
    reserve_bytes = room.target.target.reserve_bytes or 0
    needed = max(room.bytes_needed * SPACE_MARGIN, room.bytes_needed + reserve_bytes)
    if room.bytes_needed and room.free_bytes is not None and needed > room.free_bytes:
        field, is_auto = f"{cell.option_set.field}.options", AUTO in cell.option_set.options.values()
        raise NotEnoughSpaceError(field, room.where, needed, room.free_bytes, is_auto=is_auto)
