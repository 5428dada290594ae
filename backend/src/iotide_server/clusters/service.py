"""Reads and changes clusters and nodes."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.errors import CLUSTER_PUBLISHED
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.change_feed import service as live
from iotide_server.clusters import repository
from iotide_server.clusters.agents.access import AgentAccess
from iotide_server.clusters.agents.credentials import own_node, void
from iotide_server.clusters.drains import repository as drain_repository
from iotide_server.clusters.errors import (
    CLUSTER_BUSY,
    CLUSTER_IS_SAMPLE_DATA,
    CLUSTER_NAME_TAKEN,
    CLUSTER_NOT_FOUND,
    NODE_BUSY,
    NODE_NOT_FOUND,
    SLOTS_IN_USE,
)
from iotide_server.clusters.models import Cluster, Node, NodeHeartbeat
from iotide_server.clusters.schemas import ClusterOutput, NodeOutput, NodeSummaryOutput
from iotide_server.clusters.views import (
    DrainKind,
    Launcher,
    NodeClockOutput,
    NodeState,
    Origin,
    agent_standing,
    living_state,
    node_clock,
    node_state,
)
from iotide_server.kit.db import Json, savepoint, set_fields, transaction_time
from iotide_server.kit.errors import IotideError
from iotide_server.kit.pagination import Page, PageRequest
from iotide_server.kit.suggest import choose_from, in_order
from iotide_server.kit.wake import wake_scheduler
from iotide_server.kit.work import want_work

DEFAULT_RULE: Final = "default_rule"
"""Kind of work, requested by a new cluster; the key is the cluster. `alerts` adds the rule."""


@dataclass(frozen=True, slots=True)
class NodeFilter:
    cluster_id: int | None = None
    state: NodeState | None = None


def list_clusters(session: Session, principal: Principal, paging: PageRequest) -> Page[ClusterOutput]:
    page = repository.clusters(session, principal.visible_clusters(), paging)
    drains = drain_repository.drains_of(session, DrainKind.CLUSTER, [row.id for row in page.rows])
    return page.page(lambda row: ClusterOutput.of_row(row, drain=drains.get(row.id)))


def cluster_view(session: Session, row: Cluster) -> ClusterOutput:
    return ClusterOutput.of_row(row, drain=drain_repository.drains_of(session, DrainKind.CLUSTER, [row.id]).get(row.id))


def cluster(session: Session, principal: Principal, cluster_id: int, role: Role = Role.VIEWER) -> Cluster:
    found = session.get(Cluster, cluster_id)
    missing = CLUSTER_NOT_FOUND(cluster=cluster_id)
    principal.require(role, cluster_id, missing)
    if found is None:
        raise missing
    return found


def cluster_named(session: Session, principal: Principal, name: str, role: Role, *, field: str) -> Cluster:
    """Like `cluster`, by name. Errors refer to `field` of the request."""
    found = repository.cluster_by_name(session, name)
    if found is None or not principal.may(Role.VIEWER, found.id):
        known = repository.cluster_names(session, principal.visible_clusters())
        raise CLUSTER_NOT_FOUND(cluster=name, field=field, remedy=choose_from(name, known))
    principal.require(role, found.id)
    return found


def require_real(session: Session, cluster_id: int, *, field: str = "cluster") -> None:
    """Raise CLUSTER_IS_SAMPLE_DATA or CLUSTER_PUBLISHED for `field` if nothing can run on the cluster."""
    found = session.get_one(Cluster, cluster_id)
    if found.origin == Origin.SAMPLE_DATA:
        raise CLUSTER_IS_SAMPLE_DATA(name=found.name, field=field)
    if found.origin == Origin.PUBLISHED:
        raise CLUSTER_PUBLISHED(name=found.name, field=field)


def create_cluster(
    session: Session, principal: Principal, name: str, description: str, launcher: Launcher = Launcher.DIRECT
) -> Cluster:
    principal.require(Role.ADMIN, None)
    created = Cluster(name=name, description=description, launcher=launcher, owner_id=principal.user_id)
    with savepoint(session, CLUSTER_NAME_TAKEN(name=name)):
        session.add(created)
    after = {"name": name, "description": description, "launcher": launcher.value}
    live.record(session, principal, Action.on("cluster_created", created, after=after))
    want_work(session, DEFAULT_RULE, created.id, transaction_time(session))
    return created


def ensure_cluster(session: Session, principal: Principal, name: str) -> None:
    if repository.cluster_by_name(session, name) is None:
        create_cluster(session, principal, name, "")


def change_cluster(session: Session, principal: Principal, cluster_id: int, changes: Json) -> Cluster:
    changed = cluster(session, principal, cluster_id, Role.ADMIN)
    if changes.get("launcher", changed.launcher) != changed.launcher:
        # Starting a run takes the same lock, so none starts between check and change.
        drain_repository.stop_starts(session)
        active = repository.active_runs(session, cluster_id)
        if active:
            raise CLUSTER_BUSY(name=changed.name, launcher=changes["launcher"], run_count=active)
    with savepoint(session, CLUSTER_NAME_TAKEN(name=changes.get("name", changed.name))):
        before = set_fields(changed, changes)
    live.record(session, principal, Action.on("cluster_changed", changed, before=before, after=changes))
    wake_scheduler(session, "cluster")
    return changed


def list_nodes(
    session: Session, principal: Principal, wanted: NodeFilter, paging: PageRequest, now: datetime
) -> Page[NodeOutput]:
    in_state = repository.is_in_state(wanted.state, now) if wanted.state else None
    page = repository.nodes(session, principal.visible_clusters(), wanted.cluster_id, in_state, paging)
    return Page(items=_shown(session, page.rows, now), next_cursor=page.next_cursor)


def node_lines(
    session: Session, principal: Principal, cluster_id: int, paging: PageRequest, now: datetime
) -> Page[NodeSummaryOutput]:
    origin = cluster(session, principal, cluster_id).origin
    page = repository.node_lines(session, cluster_id, paging)
    node_ids = [row.id for row in page.rows]
    orders = repository.active_orders(session, node_ids)
    drains = drain_repository.drains_of(session, DrainKind.NODE, node_ids)

    def shown(row: Row[Any]) -> NodeSummaryOutput:
        return NodeSummaryOutput.of_row(
            row,
            state=living_state(origin, row.revoked_at, row.seen_at, now, is_stuck=row.stuck is not None),
            last_seen_at=row.seen_at,
            agent_standing=agent_standing(row.wire_version),
            clock_is_off=bool(row.clock_is_off),
            facts={fact: value for fact, value in row.facts.items() if value is not None},
            stuck=row.stuck or (),
            drain=drains.get(row.id),
            active_orders=orders.get(row.id, []),
        )

    return page.page(shown)


def node(session: Session, principal: Principal, node_id: int, now: datetime) -> NodeOutput:
    found = session.get(Node, node_id)
    if found is None or not principal.may(Role.VIEWER, found.cluster_id):
        raise NODE_NOT_FOUND(node=node_id)
    return _shown(session, [found], now)[0]


def nodes_named(session: Session, cluster_id: int, names: Sequence[str], *, field: str) -> list[Node]:
    """Return these nodes in order, locked against retirement. NODE_NOT_FOUND has the position in `field`."""
    found = repository.living_nodes_by_name(session, cluster_id, names)
    return in_order(found, names, field, lambda name, at: _unknown_node(session, cluster_id, name, at))


def node_named(session: Session, cluster_id: int, name: str, *, field: str) -> Node:
    """Return this node, locked against retirement; raise NODE_NOT_FOUND."""
    found = repository.living_nodes_by_name(session, cluster_id, [name])
    if name not in found:
        raise _unknown_node(session, cluster_id, name, field)
    return found[name]


def _unknown_node(session: Session, cluster_id: int, name: str, field: str) -> IotideError:
    known = repository.living_node_names(session, cluster_id)
    return NODE_NOT_FOUND(node=name, field=field, remedy=choose_from(name, known))


def nodes_by_id(session: Session, cluster_id: int, node_ids: Collection[int], *, field: str) -> list[Node]:
    found = repository.living_nodes_by_id(session, cluster_id, node_ids)
    return in_order(found, node_ids, field, lambda node_id, at: NODE_NOT_FOUND(node=node_id, field=at))


def node_and_cluster(session: Session, node_id: int) -> tuple[Node, Cluster]:
    found = session.get_one(Node, node_id)
    return found, session.get_one(Cluster, found.cluster_id)


def change_node(session: Session, principal: Principal, node_id: int, changes: Json, now: datetime) -> NodeOutput:
    changed = own_node(session, principal, node_id)
    try:
        with session.begin_nested():
            before = set_fields(changed, changes)
    except IntegrityError as error:
        session.refresh(changed)
        raise SLOTS_IN_USE(slots=changes["slots"], used=changed.shared_leases) from error
    live.record(session, principal, Action.on("node_changed", changed, before=before, after=changes))
    wake_scheduler(session, "node")
    return _shown(session, [changed], now)[0]


def retire_node(session: Session, principal: Principal, node_id: int, now: datetime, access: AgentAccess) -> None:
    """Void the node's token and Redis user, keep its results. Raise NODE_NOT_FOUND or NODE_BUSY."""
    retired = own_node(session, principal, node_id)
    run_count = repository.runs_that_need(session, node_id)
    if run_count:
        raise NODE_BUSY(name=retired.name, run_count=run_count)
    retired.retired_at = now
    drain_repository.forget(session, DrainKind.NODE, node_id)
    live.record(session, principal, Action.on("node_retired", retired, before={"name": retired.name}))
    void(session, retired, access)


def _shown(session: Session, nodes: Sequence[Node], now: datetime) -> list[NodeOutput]:
    node_ids = [node.id for node in nodes]
    heartbeats = repository.last_heartbeats(session, node_ids)
    workloads = repository.node_workloads(session, node_ids)
    orders = repository.active_orders(session, node_ids)
    drains = drain_repository.drains_of(session, DrainKind.NODE, node_ids)
    seen = {node_id: heartbeat.seen_at for node_id, heartbeat in heartbeats.items()}
    origins = repository.origins(session, {node.cluster_id for node in nodes})
    problems = repository.problems(session, node_ids)
    return [
        NodeOutput.of_row(
            node,
            state=node_state(node, origins[node.cluster_id], seen.get(node.id), now),
            last_seen_at=seen.get(node.id),
            agent_standing=agent_standing(node.wire_version),
            clock=_clock_in(heartbeats.get(node.id)),
            problem=problems.get(node.id),
            stuck=node.stuck or (),
            drain=drains.get(node.id),
            workloads=workloads.get(node.id, []),
            active_orders=orders.get(node.id, []),
        )
        for node in nodes
    ]


def _clock_in(heartbeat: NodeHeartbeat | None) -> NodeClockOutput | None:
    return (
        None if heartbeat is None else node_clock(heartbeat.clock_offset_seconds, heartbeat.clock_uncertainty_seconds)
    )
