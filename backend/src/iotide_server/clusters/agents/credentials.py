"""What a node is known by, its token and its Redis password: how it gets new ones, and how they are made void.

A rotation loses no node whatever breaks: the server makes new ones when the node asks, the node keeps them on its disk
and then says so with the new token. Until that word the old ones stay good, and from then on they are void.
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

ROTATES_SINCE: Final = 2  # the wire version with which agents learned to ask for new credentials


def want_rotation(session: Session, principal: Principal, node_id: int, now: datetime) -> None:
    """Have the node ask for new credentials with its next beat; raise NODE_NOT_FOUND or ROTATION_IMPOSSIBLE."""
    node = own_node(session, principal, node_id)
    if node.revoked_at is not None:
        raise ROTATION_IMPOSSIBLE(node=node.name, because="was revoked", remedy="let its host enroll again for it")
    if (node.wire_version or 0) < ROTATES_SINCE:
        raise ROTATION_IMPOSSIBLE(
            node=node.name, because="has an agent that is too old for it", remedy="upgrade its agent first"
        )
    if node.rotation_wanted_at is None:
        node.rotation_wanted_at = now
        live.record(session, principal, Action.on("node_rotation_wanted", node))


def want_due_rotations(session: Session, every: timedelta, now: datetime) -> None:
    """Have idle nodes ask whose credentials are older than that; zero: none. The scheduler calls it now and then."""
    if every > timedelta():
        identity_repository.want_rotation(session, now - every, ROTATES_SINCE, now)


def rotate(session: Session, node_id: int, request: RotateRequest, access: AgentAccess) -> NewCredentials:
    """Return new credentials besides the present ones; raise ROTATION_NOT_WANTED or AGENT_SUPERSEDED."""
    # Asked again, since the answer was lost, it gives others.
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
    """Void the former credentials if the node speaks with its next token; said again, it changes nothing."""
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
    """Let no secret open anything as this node any more; what Redis has of it ends with the transaction."""
    # An earlier release, which knows no revocation, lets nobody in either.
    node_id = node.id
    node.token_sha256, node.redis_password_sha256 = digest(new_secret()), digest(new_secret())
    node.next_token_sha256 = node.next_redis_password_sha256 = node.rotation_wanted_at = None
    after_commit(session, lambda: access.put_out(node_id))


def give(session: Session, node: Node, access: AgentAccess, now: datetime) -> NewCredentials:
    """New credentials instead of the present ones, at once."""
    token, password = new_secret(NODE_TOKEN_PREFIX), new_secret()
    node.token_sha256, node.redis_password_sha256, node.credentials_at = digest(token), digest(password), now
    node.next_token_sha256 = node.next_redis_password_sha256 = node.rotation_wanted_at = None
    alone = node_access(node)
    after_commit(session, lambda: access.admit_alone(alone))
    return NewCredentials(node_token=token, broker=access.broker(node.id, password))


def node_access(node: Node) -> NodeAccess:
    return NodeAccess(node.id, node.redis_password_sha256, node.next_redis_password_sha256)


def acl_rows(session: Session) -> list[NodeAccess]:
    """Who may use Redis; the scheduler applies it again and again, so that a Redis that came back empty is filled."""
    return [node_access(node) for node in repository.living_real_nodes(session)]


def own_node(session: Session, principal: Principal, node_id: int) -> Node:
    """Return the living node, locked, to an administrator; raise NODE_NOT_FOUND or NotAllowedError."""
    missing = NODE_NOT_FOUND(node=node_id)
    found = principal.require_row(Role.ADMIN, repository.locked_node(session, node_id), missing)
    if found.retired_at is not None:
        raise missing
    return found
