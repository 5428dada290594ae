"""Rotation and revocation of node tokens and Redis passwords.

A rotation survives any failure. The server makes new credentials when the node asks. The old ones stay valid until
the node confirms with the new token that it has stored them.
"""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.authentication import NODE_TOKEN_PREFIX
from iotide_server.accounts.roles.principal import Principal
from iotide_server.bundled.acl import NodeAccess
from iotide_server.change_feed import service as live
from iotide_server.clusters import repository
from iotide_server.clusters.agents import repository as identity_repository
from iotide_server.clusters.agents.access import AgentAccess
from iotide_server.clusters.errors import (
    AGENT_SUPERSEDED,
    NODE_NOT_FOUND,
    ROTATION_IMPOSSIBLE,
    ROTATION_NOT_WANTED,
)
from iotide_server.clusters.models import Node
from iotide_server.kit.db import after_commit
from iotide_server.kit.digests import digest, new_secret
from iotide_wire.nodes import NewCredentials, RotateRequest

ROTATES_SINCE: Final = 2  # first wire version with rotation


def want_rotation(session: Session, principal: Principal, node_id: int, now: datetime) -> None:
    """Request a rotation with the node's next heartbeat. Raise NODE_NOT_FOUND or ROTATION_IMPOSSIBLE."""
    node = own_node(session, principal, node_id)
    if node.revoked_at is not None:
        raise ROTATION_IMPOSSIBLE(node=node.name, because="was revoked", remedy="enroll its host again as this node")
    if (node.wire_version or 0) < ROTATES_SINCE:
        raise ROTATION_IMPOSSIBLE(
            node=node.name,
            because="has an agent that is too old to rotate credentials",
            remedy="upgrade its agent first",
        )
    if node.rotation_wanted_at is None:
        node.rotation_wanted_at = now
        live.record(session, principal, Action.on("node_rotation_wanted", node))


def want_due_rotations(session: Session, every: timedelta, now: datetime) -> None:
    if every > timedelta():
        identity_repository.want_rotation(session, now - every, ROTATES_SINCE, now)


def rotate(session: Session, node_id: int, request: RotateRequest, access: AgentAccess) -> NewCredentials:
    # A request repeated after a lost response gets different ones.
    node = repository.locked_node(session, node_id)
    if node is None or node.rotation_wanted_at is None:
        raise ROTATION_NOT_WANTED(node_id=node_id)
    if node.agent_instance != request.agent_instance:
        raise AGENT_SUPERSEDED(node=node.name)
    token, password = new_secret(NODE_TOKEN_PREFIX), new_secret()
    node.next_token_sha256, node.next_redis_password_sha256 = digest(token), digest(password)
    both = node_access(node)
    after_commit(session, lambda: access.admit(both))
    return NewCredentials(node_token=token, broker=access.broker(node.id, password))


def confirm(session: Session, principal: Principal, token_sha256: str, access: AgentAccess, now: datetime) -> None:
    """Void the old credentials if the node uses its next token. Safe to repeat."""
    node = identity_repository.node_by_any_token(session, token_sha256)
    if node is None or node.next_token_sha256 != token_sha256 or node.next_redis_password_sha256 is None:
        return
    node.token_sha256, node.redis_password_sha256 = token_sha256, node.next_redis_password_sha256
    node.next_token_sha256 = node.next_redis_password_sha256 = node.rotation_wanted_at = None
    node.credentials_at = now
    live.record(session, principal, Action.on("node_rotated", node))
    alone = node_access(node)
    after_commit(session, lambda: access.admit_alone(alone))


def void(session: Session, node: Node, access: AgentAccess) -> None:
    # New digests also lock the node out of earlier releases, which do not know revocation.
    node_id = node.id
    node.token_sha256, node.redis_password_sha256 = digest(new_secret()), digest(new_secret())
    node.next_token_sha256 = node.next_redis_password_sha256 = node.rotation_wanted_at = None
    after_commit(session, lambda: access.put_out(node_id))


def give(session: Session, node: Node, access: AgentAccess, now: datetime) -> NewCredentials:
    token, password = new_secret(NODE_TOKEN_PREFIX), new_secret()
    node.token_sha256, node.redis_password_sha256, node.credentials_at = digest(token), digest(password), now
    node.next_token_sha256 = node.next_redis_password_sha256 = node.rotation_wanted_at = None
    alone = node_access(node)
    after_commit(session, lambda: access.admit_alone(alone))
    return NewCredentials(node_token=token, broker=access.broker(node.id, password))


def node_access(node: Node) -> NodeAccess:
    return NodeAccess(node.id, node.redis_password_sha256, node.next_redis_password_sha256)


def acl_rows(session: Session) -> list[NodeAccess]:
    """Return the nodes that may use Redis. Applied periodically, in case Redis restarts empty."""
    return [node_access(node) for node in repository.living_real_nodes(session)]


def own_node(session: Session, principal: Principal, node_id: int) -> Node:
    """Lock and return a node that is not retired, for an admin."""
    missing = NODE_NOT_FOUND(node=node_id)
    found = principal.require_row(Role.ADMIN, repository.locked_node(session, node_id), missing)
    if found.retired_at is not None:
        raise missing
    return found
