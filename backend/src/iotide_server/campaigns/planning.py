"""Resolved plan applied to its cluster: rows for names, needs of each run."""

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Address
from itertools import islice, product
from math import inf
from typing import Any, Final

from pydantic import TypeAdapter
from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns.errors import (
    DATA_FITS_IN_MEMORY,
    GANG_SEVERAL_TARGETS,
    GANG_TARGET_NOT_SHARED,
    GANG_TOO_LARGE,
    GANG_UNREACHABLE,
    MOUNT_CHANGED,
    NOT_ENOUGH_SPACE,
    OBSERVER_HAS_NO_AGENT,
    OPTIONS_TOO_LARGE,
    RECEIVER_UNREACHABLE,
    ROLES_NOT_OFFERED,
    TARGET_NOT_ON_NODE,
    WORKLOAD_ONLY_PREPARES,
)
from iotide_server.campaigns.option_sets import Amounts, OptionSets
from iotide_server.campaigns.planned import (
    PlannedBlock,
    PlannedCampaign,
    PlannedPlace,
    PlannedRoom,
)
from iotide_server.campaigns.resolved import NodeTarget, ResolvedBlock, ResolvedPlan, ResolvedWorkload
from iotide_server.campaigns.scratch.filling import fills_of
from iotide_server.campaigns.scratch.making import fill_workload
from iotide_server.clusters import service as clusters
from iotide_server.clusters.models import Cluster, Node
from iotide_server.kit.errors import InvalidInputError
from iotide_server.targets import service as targets
from iotide_server.targets.models import TargetMount
from iotide_server.targets.repository import TargetView
from iotide_server.workloads import service as workloads
from iotide_server.workloads.models import Workload
from iotide_server.workloads.options import complete_sweep
from iotide_wire.endpoint import DATA_ADDRESS
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
)
from iotide_wire.measured import StepRole
from iotide_wire.messages import MOST_GANG_NODES
from iotide_wire.plan import CachePolicy, WorkloadChoice
from iotide_wire.units import MIB

_EXPRESSIONS: Final = TypeAdapter(list[Expression])
PROGRAM_PER_NODE: Final = "program_per_node"
"""Option that agents of release 0.2 do not have. Migration 0069 sets it in stored plans of several nodes at once."""
CHOOSE_PROGRAMS: Final = frozenset({"ior", "mdtest"})
"""Workloads with that option."""
MOST_OPTION_BYTES: Final = 256 * MIB
"""All cells together; 100,000 cells of fio have about 30 MiB."""
_MOST_STEPS: Final = 5_000_000
"""Parts of expressions x kinds of option sets x places: less than a second."""


def cluster_of(session: Session, principal: Principal, resolved: ResolvedPlan) -> Cluster:
    """Return the cluster; raise CLUSTER_NOT_FOUND, NotAllowedError or CLUSTER_IS_SAMPLE_DATA."""
    cluster = clusters.cluster_named(session, principal, resolved.plan.cluster, Role.OPERATOR, field="cluster")
    clusters.require_real(session, cluster.id)
    return cluster


def foresee(session: Session, cluster: Cluster, resolved: ResolvedPlan) -> PlannedCampaign:
    """Return the plan's cells, without access checks; raise an IotideError with its field."""
    plan = resolved.plan
    nodes = clusters.nodes_named(session, cluster.id, plan.nodes, field="nodes")
    observers = clusters.nodes_named(session, cluster.id, plan.observers, field="observers")
    _check_agents(cluster, observers)
    if plan.scratch is not None:
        node = clusters.node_named(session, cluster.id, plan.scratch.node, field="scratch.node")
        if fills_of(plan.scratch):
            fill_workload(session, node.id)
    views = targets.targets_named(session, cluster.id, plan.targets, field="targets")
    _check_mounted(resolved, nodes, views)
    by_name = {node.name: node for node in [*nodes, *observers]}
    sets = {one.field: _option_sets(session, one, by_name) for one in resolved.workloads}
    _check_option_bytes(resolved, sets)
    foreseen = _Foreseen(by_name, views, sets)
    blocks = [foreseen.block(block) for block in resolved.blocks()]
    _check_space(blocks, resolved.confirmed_from)
    if plan.cache is CachePolicy.LARGER_THAN_MEMORY:
        _check_larger_than_memory(blocks)
    return PlannedCampaign(resolved, cluster, blocks)


def _check_agents(cluster: Cluster, observers: Sequence[Node]) -> None:
    """Check for permanent agents; a batch system's compute node has one only in jobs."""
    for index, node in enumerate(observers):
        if node.role == "gateway" or (node.role == "compute" and cluster.launcher != "direct"):
            raise OBSERVER_HAS_NO_AGENT(field=f"observers[{index}]", node=node.name, role=node.role)


def _check_mounted(resolved: ResolvedPlan, nodes: Sequence[Node], views: Sequence[TargetView]) -> None:
    """Check targets on loading nodes, except mounts that an operator confirms first."""
    wanted, confirmed = resolved.loaded_from, resolved.confirmed_from
    for index, view in enumerate(views):
        mounts = {found.mount.node_id: found.mount for found in view.mounts}
        for node in nodes:
            pair = (node.name, view.target.name)
            mount = mounts.get(node.id)
            if mount is None and pair in wanted:
                raise TARGET_NOT_ON_NODE(field=f"targets[{index}]", target=view.target.name, node=node.name)
            if mount is not None and mount.problem is not None and wanted.get(pair, inf) < confirmed.get(pair, inf):
                where, (what, _, otherwise) = f"targets[{index}]", mount.problem.partition("; ")
                raise MOUNT_CHANGED(
                    field=where, target=view.target.name, node=node.name, what=what, otherwise=otherwise
                )


def _option_sets(session: Session, wanted: ResolvedWorkload, by_name: Mapping[str, Node]) -> OptionSets:
    field, choice = wanted.field, wanted.choice
    node_ids = [by_name[name].id for name in wanted.nodes]
    workload = workloads.workload_for(session, choice.workload, node_ids, field=f"{field}.workload")
    _check_reach(wanted, workload, by_name)
    schema, defaults = workload.options_schema, workload.option_defaults
    options, sweep = complete_sweep(
        schema, defaults, _known_options(workload, choice), choice.sweep, f"{field}.options"
    )
    return OptionSets(
        field,
        workload,
        options,
        sweep,
        workloads.baseline(session, workload).option_defaults,
        _EXPRESSIONS.validate_python([workload.bytes_needed, workload.bytes_moved, workload.run_seconds]),
    )


def _known_options(workload: Workload, choice: WorkloadChoice) -> Mapping[str, Any]:
    """Leave out an option that only says what agents without it do: each node starts its own program."""
    is_known = PROGRAM_PER_NODE in workload.options_schema.get("properties", {})
    if is_known or choice.options.get(PROGRAM_PER_NODE) is not True or workload.name not in CHOOSE_PROGRAMS:
        return choice.options
    return {name: value for name, value in choice.options.items() if name != PROGRAM_PER_NODE}


def _check_reach(wanted: ResolvedWorkload, workload: Workload, by_name: Mapping[str, Node]) -> None:
    """Raise WORKLOAD_ONLY_PREPARES, ROLES_NOT_OFFERED or RECEIVER_UNREACHABLE."""
    if StepRole.MAKER in workload.step_roles:
        raise WORKLOAD_ONLY_PREPARES(field=f"{wanted.field}.workload", workload=workload.name)
    if not set(wanted.roles) <= set(workload.step_roles):
        raise ROLES_NOT_OFFERED(field=f"{wanted.field}.roles", workload=workload.name)
    for sender, receiver in wanted.node_sets if wanted.roles else ():
        why = _why_unreachable(by_name[receiver], [by_name[sender]])
        if why is not None:
            raise RECEIVER_UNREACHABLE(field=f"{wanted.field}.roles", receiver=receiver, why=why)


def _why_unreachable(receiver: Node, senders: Sequence[Node]) -> str | None:
    """Return the reason, or None. Agents on one machine may use loopback."""
    address = receiver.facts.get(DATA_ADDRESS)
    if not isinstance(address, str):
        return "has no address at which it receives"
    try:
        is_loopback = IPv4Address(address).is_loopback
    except ValueError:
        return f"receives at {address!r}, which is not an IPv4 address"
    elsewhere = next((sender for sender in senders if sender.boot_id != receiver.boot_id), None)
    if is_loopback and elsewhere is not None:
        return f"receives only at {address}, where {elsewhere.name} cannot reach it"
    return None


def _check_gang(workload: ResolvedWorkload, block: PlannedBlock) -> None:
    """Raise GANG_TOO_LARGE, GANG_UNREACHABLE, GANG_SEVERAL_TARGETS or GANG_TARGET_NOT_SHARED for one program."""
    own = "" if workload.choice.nodes_at_once is None else f"{workload.field}."
    field, name, count = f"{own}nodes_at_once", workload.choice.workload, len(block.nodes)
    has_choice = PROGRAM_PER_NODE in block.option_sets.options
    otherwise = f", or set {PROGRAM_PER_NODE}: true to start a program on each node" if has_choice else ""
    if count > MOST_GANG_NODES:
        raise GANG_TOO_LARGE(field=field, workload=name, nodes=count, allowed=MOST_GANG_NODES)
    for node, why in _unreachable_in(block.nodes):
        raise GANG_UNREACHABLE(field=field, workload=name, nodes=count, node=node.name, why=why)
    if len(block.targets) > 1:
        own = "" if workload.choice.targets_at_once is None else f"{workload.field}."
        together, targets = f"{own}targets_at_once", len(block.targets)
        raise GANG_SEVERAL_TARGETS(field=together, workload=name, nodes=count, targets=targets, otherwise=otherwise)
    apart = next((view.target.name for view in block.targets if view.target.scope == "node"), None)
    if apart is not None:
        raise GANG_TARGET_NOT_SHARED(field=field, workload=name, nodes=count, target=apart, otherwise=otherwise)


def _unreachable_in(nodes: Sequence[Node]) -> Iterator[tuple[Node, str]]:
    """Yield the nodes that others of one program cannot reach, with the reason."""
    elsewhere = (node for node in nodes if node.boot_id != nodes[0].boot_id)
    senders = [nodes[0], *islice(elsewhere, 1)]
    by_address: dict[object, Node] = {}
    for node in nodes:
        address = node.facts.get(DATA_ADDRESS)
        first = by_address.setdefault(address, node)
        why = _why_unreachable(node, senders)
        if why is not None:
            yield node, why
        elif first is not node:
            yield node, f"has the address {address}, which {first.name} has, too"


def _check_option_bytes(resolved: ResolvedPlan, sets: Mapping[str, OptionSets]) -> None:
    """Raise OPTIONS_TOO_LARGE, without expanding any cell."""
    by_option = {
        f"{workload.field}.options.{name}": workload.block_count * taken
        for workload in resolved.workloads
        for name, taken in sets[workload.field].bytes_by_option.items()
    }
    total = sum(by_option.values())
    if total > MOST_OPTION_BYTES:
        raise OPTIONS_TOO_LARGE(
            field=max(by_option, key=lambda field: by_option[field]), total_bytes=total, allowed_bytes=MOST_OPTION_BYTES
        )


class _Foreseen:
    def __init__(self, nodes: Mapping[str, Node], views: Sequence[TargetView], sets: Mapping[str, OptionSets]) -> None:
        self._nodes = nodes
        self._views = {view.target.name: view for view in views}
        self._mounts = {(on.mount.target_id, on.mount.node_id): on.mount for view in views for on in view.mounts}
        self._sets = sets
        self._amounts: dict[tuple[str, ...], Amounts] = {}
        self._steps = 0

    def block(self, block: ResolvedBlock) -> PlannedBlock:
        """Raise InvalidInputError if space or time cannot be computed."""
        sets, workload = self._sets[block.workload.field], block.workload
        nodes = [self._nodes[name] for name in block.nodes]
        views = [self._views[name] for name in block.targets]
        on = [
            (node, view, self._mounts[view.target.id, node.id])
            for node, view in product(workload.loading(nodes), views)
        ]
        try:
            places = [self._place(sets, len(views), *place) for place in on]
        except ExpressionError:
            sets.refuse_first([_facts(*place, len(views)) for place in on])
            raise
        observers = [self._nodes[name] for name in block.observers]
        planned = PlannedBlock(block.first, block.stage, block.variant, nodes, observers, workload.roles, sets, places)
        if planned.has_one_programs:
            _check_gang(workload, planned)
        return planned

    def _place(
        self, sets: OptionSets, target_count: int, node: Node, view: TargetView, mount: TargetMount
    ) -> PlannedPlace:
        facts = _facts(node, view, mount, target_count)
        elsewhere = {name: facts.get(name) for name in sets.read_elsewhere}
        key = (sets.field, *map(repr, elsewhere.values()))
        if key not in self._amounts:
            self._count(sets)
            self._amounts[key] = sets.amounts(elsewhere)
        free_bytes = mount.free_bytes if mount.problem is None else None
        return PlannedPlace(node, view, mount.fstype, *self._amounts[key], free_bytes)

    def _count(self, sets: OptionSets) -> None:
        """Limit computations for plug-ins' workloads; raise InvalidInputError."""
        if workloads.is_shipped(sets.workload):
            return
        self._steps += sets.step_count
        if self._steps > _MOST_STEPS:
            raise InvalidInputError(
                f"{sets.field}: estimating space and time of {sets.workload.name} takes over {_MOST_STEPS:,} steps",
                field=sets.field,
                value=sets.workload.name,
                remedy="use fewer values in sweep, or fewer nodes and targets",
            )


def _facts(node: Node, view: TargetView, mount: TargetMount, target_count: int) -> Mapping[str, Any]:
    return {
        **node.facts,
        TARGET_TOTAL: mount.total_bytes,
        TARGET_FREE: mount.free_bytes,
        TARGET_RESERVE: view.target.reserve_bytes or 0,
        TARGET_COUNT: target_count,
    }


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
                    larger="use larger sizes (`auto` is twice the memory), or"
                    if can_grow
                    else "larger sizes do not fit: use",
                )


def _check_space(blocks: Sequence[PlannedBlock], confirmed: Mapping[NodeTarget, int]) -> None:
    """Check free space, unless an operator may recreate the file system first."""
    for block in blocks:
        rooms = [room for room in block.rooms if not confirmed or room.is_as_now(block.stage, confirmed)]
        if any(room.lacks(max(room.bytes_needed)) for room in rooms):
            _refuse_space(block, rooms)


def _refuse_space(block: PlannedBlock, rooms: Sequence[PlannedRoom]) -> None:
    sets = block.option_sets
    for (kind, first), room in product(enumerate(sets.firsts), rooms):
        bytes_needed = room.bytes_needed[kind]
        if room.free_bytes is not None and room.lacks(bytes_needed):
            # No shrinking: sizes that follow free space would change the experiment each night.
            is_auto = AUTO in sets.options_of(first).values()
            raise NOT_ENOUGH_SPACE(
                field=f"{sets.field}.options",
                needed_bytes=int(room.with_margin(bytes_needed)),
                where=room.where,
                free_bytes=room.free_bytes,
                smaller="set a size instead of auto, which is twice the memory," if is_auto else "use smaller sizes",
            )
