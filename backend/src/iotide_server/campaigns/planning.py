"""A plan with every name resolved and every size foreseen: what a preview shows and a submission stores."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from iotide_server.campaigns.reach import check_between
from iotide_server.clusters import service as clusters
from iotide_server.clusters.blackouts import START_TAKES
from iotide_server.clusters.models import Cluster, Node
from iotide_server.kit.db import Json
from iotide_server.kit.digests import canonical_sha256
from iotide_server.kit.errors import InvalidInputError
from iotide_server.targets import service as targets
from iotide_server.targets.models import TargetMount
from iotide_server.targets.service import TargetView
from iotide_server.workloads import service as workloads
from iotide_server.workloads.models import Workload
from iotide_wire.expressions import (
    MEMORY,
    MEMORY_FACTOR,
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

_SPACE_MARGIN: Final = 1.1
"""A run needs its own bytes and a tenth more, unless the target names a larger reserve."""
_OFF_TARGETS: Final = frozenset({StepRole.SENDER})
_EXPRESSION: Final = TypeAdapter[Expression](Expression)


@dataclass(frozen=True, slots=True)
class OptionSet:
    """A workload with one set of options.

    Attributes:
        field: where it stands in the plan, for errors: `workloads[0]`.
        options: complete, in base units.
        options_sha256: of those that differ from the workload's frozen defaults.
    """

    field: str
    workload: Workload
    options: Json
    options_sha256: str
    needed: Expression
    moved: Expression
    seconds: Expression


@dataclass(frozen=True, slots=True)
class PlannedPlace:
    """A target of a cell on one of its nodes, with what a run is expected to need and to move from there, in bytes.

    Attributes:
        run_seconds: of one run where the options say so, else 0.
        free_bytes: as the node saw it last; None where that is not known.
    """

    node: Node
    target: TargetView
    bytes_needed: float
    bytes_moved: float
    run_seconds: float
    free_bytes: int | None


@dataclass(frozen=True, slots=True)
class PlannedRoom:
    """A file system with all that a run needs in it: the nodes that load a shared target together fill one.

    Attributes:
        where: in words.
        places: one of each node that loads it.
    """

    target: TargetView
    where: str
    places: Sequence[PlannedPlace]

    @property
    def bytes_needed(self) -> float:
        """From all the nodes together."""
        return sum(place.bytes_needed for place in self.places)

    @property
    def bytes_moved(self) -> float:
        """From all the nodes together."""
        return sum(place.bytes_moved for place in self.places)

    @property
    def run_seconds(self) -> float:
        """Of the node that takes longest, where the options say so, else 0."""
        return max(place.run_seconds for place in self.places)

    @property
    def free_bytes(self) -> int | None:
        """As the node that saw least of it saw it last; None where no node said."""
        return min((place.free_bytes for place in self.places if place.free_bytes is not None), default=None)


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A cell with the nodes and targets that each of its runs loads together; `variant` is its stage's, or empty.

    Attributes:
        observers: nodes that only watch them.
        roles: what the nodes do, in their order; empty: each does all of the work.
        places: each target on each node that loads it, of which there is one at least.
    """

    ordinal: int
    stage: int
    variant: str
    nodes: Sequence[Node]
    observers: Sequence[Node]
    roles: Sequence[StepRole]
    option_set: OptionSet
    places: Sequence[PlannedPlace]

    @property
    def sender(self) -> Node | None:
        """The node that sends to the others and loads no target, where there is one."""
        return next((node for node, role in zip(self.nodes, self.roles, strict=False) if role in _OFF_TARGETS), None)

    @property
    def targets(self) -> Sequence[TargetView]:
        """In the order of the plan."""
        return [place.target for place in self.places if place.node is self.places[0].node]

    @property
    def rooms(self) -> Sequence[PlannedRoom]:
        """The file systems that it fills: one for a shared target, one on each node for a target of scope `node`."""
        places: defaultdict[tuple[int, int | None], list[PlannedPlace]] = defaultdict(list)
        for place in self.places:
            target = place.target.target
            places[target.id, None if target.scope == "shared" else place.node.id].append(place)
        return [_room(together) for together in places.values()]

    @property
    def bytes_needed(self) -> float:
        """In the file system that it fills most."""
        return max(room.bytes_needed for room in self.rooms)

    @property
    def bytes_moved(self) -> float:
        """On all its targets, from all its nodes."""
        return sum(place.bytes_moved for place in self.places)

    def cached_on(self) -> Node | None:
        """The first node of which twice the memory is more than what it writes, or reads where it writes nothing."""
        for node in self.nodes:
            if node is self.sender:
                continue
            memory_bytes: Any = node.facts.get(MEMORY)
            if memory_bytes and self.data_bytes(node) < MEMORY_FACTOR * memory_bytes:
                return node
        return None

    def data_bytes(self, node: Node) -> float:
        """What it writes from that node, or reads where it writes nothing."""
        return sum(place.bytes_needed or place.bytes_moved for place in self.places if place.node is node)


def _room(places: Sequence[PlannedPlace]) -> PlannedRoom:
    target = places[0].target
    return PlannedRoom(target, f"{target.target.name} on {', '.join(place.node.name for place in places)}", places)


@dataclass(frozen=True, slots=True)
class PlannedCampaign:
    """A plan that can be submitted as it stands."""

    plan: CampaignPlan
    cluster: Cluster
    cells: Sequence[PlannedCell]


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
    loading = [node for node, role in zip(draft.nodes, roles, strict=True) if role not in _OFF_TARGETS]
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
            raise DataFitsInMemoryError(field, node.name, cell.data_bytes(node), memory_bytes)


def _check_space(cells: Sequence[PlannedCell], confirmed: Mapping[tuple[str, str], int]) -> None:
    """What is free now says nothing of a file system that an operator may make anew before the cell's stage."""
    for cell in cells:
        for room in cell.rooms:
            names = [(place.node.name, room.target.target.name) for place in room.places]
            if all(cell.stage < confirmed.get(name, inf) for name in names):
                _check_room(cell, room)


def _check_room(cell: PlannedCell, room: PlannedRoom) -> None:
    reserve_bytes = room.target.target.reserve_bytes or 0
    needed = max(room.bytes_needed * _SPACE_MARGIN, room.bytes_needed + reserve_bytes)
    if room.bytes_needed and room.free_bytes is not None and needed > room.free_bytes:
        raise NotEnoughSpaceError(f"{cell.option_set.field}.options", room.where, needed, room.free_bytes)
