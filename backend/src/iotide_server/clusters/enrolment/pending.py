"""Pending nodes: hosts that wait for an admin's approval."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.change_feed import service as live
from iotide_server.clusters.agents import repository as identity_repository
from iotide_server.clusters.agents.access import AgentAccess
from iotide_server.clusters.agents.credentials import node_access
from iotide_server.clusters.errors import (
    NODE_NAME_TAKEN,
    NODE_PENDING,
    PENDING_NODE_NOT_FOUND,
)
from iotide_server.clusters.models import Node, PendingNode
from iotide_server.clusters.service import cluster
from iotide_server.kit.db import Json, after_commit, fields_of, savepoint
from iotide_server.kit.errors import IotideError
from iotide_server.kit.pagination import PageRequest, Slice
from iotide_wire.messages import HelloRequest
from iotide_wire.nodes import fingerprint

_KEPT: Final = (
    *("id", "cluster_id", "name", "role", "owner_id", "token_sha256", "redis_password_sha256"),
    *("agent_version", "wire_version", "facts"),
)
PENDING_FOR: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Choice:
    cluster_id: int
    pending_ids: Sequence[int]


def add(session: Session, pending: PendingNode) -> None:
    session.add(pending)
    session.flush()
    own = Principal(PrincipalKind.NODE, pending.id, pending.name, pending.address)
    live.record(session, own, Action("node_pending", "node", pending.id, pending.cluster_id, after=_shown(pending)))


def record_announcement(pending: PendingNode, request: HelloRequest, now: datetime) -> IotideError:
    pending.seen_at = now
    pending.facts = request.facts
    pending.agent_version, pending.wire_version = request.agent_version, request.wire_version
    return NODE_PENDING(name=pending.name, fingerprint=fingerprint(pending.token_sha256), until=pending.expires_at)


def list_pending(
    session: Session, principal: Principal, cluster_id: int, paging: PageRequest, now: datetime
) -> Slice[PendingNode]:
    cluster(session, principal, cluster_id, Role.ADMIN)
    return identity_repository.pending_of(session, cluster_id, now, paging)


def approve(session: Session, principal: Principal, choice: Choice, access: AgentAccess, now: datetime) -> list[Node]:
    """Approve all or none. Raise PENDING_NODE_NOT_FOUND or NODE_NAME_TAKEN."""
    nodes = []
    for waiting in _wanted(session, principal, choice, now):
        node = _node_of(waiting, now)
        shown = _shown(waiting)
        session.delete(waiting)
        with savepoint(session, NODE_NAME_TAKEN(name=waiting.name, field="pending_ids")):
            session.add(node)
        live.record(session, principal, Action.on("node_approved", node, after=shown))
        _admit(session, node, access)
        nodes.append(node)
    return nodes


def refuse(session: Session, principal: Principal, choice: Choice, now: datetime) -> None:
    """Delete all or none, so that their tokens stay invalid."""
    for waiting in _wanted(session, principal, choice, now):
        action = Action("node_refused", "node", waiting.id, waiting.cluster_id, before=_shown(waiting))
        session.delete(waiting)
        live.record(session, principal, action)


def forget_expired(session: Session, now: datetime) -> None:
    for waited in identity_repository.take_expired(session, now):
        own = Principal(PrincipalKind.NODE, waited.id, waited.name, waited.address)
        action = Action("node_pending_expired", "node", waited.id, waited.cluster_id, before=_shown(waited))
        live.record(session, own, action)


def _wanted(session: Session, principal: Principal, choice: Choice, now: datetime) -> list[PendingNode]:
    cluster(session, principal, choice.cluster_id, Role.ADMIN)
    found = identity_repository.locked_pending(session, choice.cluster_id, choice.pending_ids, now)
    for index, pending_id in enumerate(choice.pending_ids):
        if pending_id not in found:
            raise PENDING_NODE_NOT_FOUND(pending_id=pending_id, field=f"pending_ids[{index}]")
    return list(found.values())


def _node_of(waiting: PendingNode, now: datetime) -> Node:
    return Node(created_at=now, credentials_at=waiting.asked_at, **{name: getattr(waiting, name) for name in _KEPT})


def _admit(session: Session, node: Node, access: AgentAccess) -> None:
    way = node_access(node)
    after_commit(session, lambda: access.admit(way))


def _shown(pending: PendingNode) -> Json:
    return {**fields_of(pending, "name", "role", "address"), "fingerprint": fingerprint(pending.token_sha256)}
