"""How a node gets into a cluster: a person makes a join token, the node's agent spends it once."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from iotide_server.accounts import audit
from iotide_server.accounts.audit import Action
from iotide_server.accounts.authentication import NODE_TOKEN_PREFIX
from iotide_server.accounts.models import Role
from iotide_server.accounts.principal import Principal, PrincipalKind
from iotide_server.accounts.secret import digest, new_secret
from iotide_server.clusters import repository
from iotide_server.clusters.access import AgentAccess
from iotide_server.clusters.errors import (
    ClusterMadeUpError,
    ClusterNotFoundError,
    JoinTokenNotFoundError,
    JoinTokenRefusedError,
    NodeNameTakenError,
    WireVersionUnsupportedError,
)
from iotide_server.clusters.models import Cluster, JoinToken, Node
from iotide_server.clusters.views import Origin
from iotide_server.embedded.acl import NodeAccess
from iotide_server.kit.db import after_commit
from iotide_server.kit.pagination import PageRequest, Slice
from iotide_server.live import service as live
from iotide_wire import WIRE_VERSION
from iotide_wire.messages import EnrollReply, EnrollRequest

SPOKEN_VERSIONS: Final = range(max(1, WIRE_VERSION - 1), WIRE_VERSION + 1)
"""Wire versions that this server understands: its own and the one before."""


@dataclass(frozen=True, slots=True)
class NewJoinToken:
    """A join token with its secret, which is only known here."""

    row: JoinToken
    secret: str


def create_join_token(
    session: Session, principal: Principal, cluster_id: int, uses: int, expires_at: datetime
) -> NewJoinToken:
    """A token that lets `uses` nodes into the cluster until it expires.

    Raises:
        ClusterNotFoundError: there is none that the caller may see.
        ClusterMadeUpError: the cluster has no real nodes.
    """
    found = _require_cluster(session, principal, cluster_id)
    if found.origin == Origin.MADE_UP:
        raise ClusterMadeUpError(found.name, field="cluster_id")
    secret = new_secret()
    token = JoinToken(
        cluster_id=cluster_id,
        secret_sha256=digest(secret),
        uses_left=uses,
        expires_at=expires_at,
        owner_id=principal.user_id,
    )
    session.add(token)
    session.flush()
    after = {"uses": uses, "expires_at": expires_at.isoformat()}
    audit.record(session, principal, Action("join_token_created", "join_token", token.id, cluster_id, after=after))
    return NewJoinToken(token, secret)


def list_join_tokens(
    session: Session, principal: Principal, cluster_id: int, paging: PageRequest, now: datetime
) -> Slice[JoinToken]:
    """The cluster's join tokens that still let a node in.

    Raises:
        ClusterNotFoundError: there is none that the caller may see.
    """
    _require_cluster(session, principal, cluster_id)
    return repository.join_tokens(session, cluster_id, now, paging)


def revoke_join_token(session: Session, principal: Principal, token_id: int) -> None:
    """The token lets nobody in any more.

    Raises:
        JoinTokenNotFoundError: there is none that the caller may see.
    """
    token = session.get(JoinToken, token_id)
    missing = JoinTokenNotFoundError(token_id)
    if token is None:
        raise missing
    principal.require(Role.ADMIN, token.cluster_id, missing)
    before = {"uses": token.uses_left, "expires_at": token.expires_at.isoformat()}
    session.delete(token)
    audit.record(session, principal, Action("join_token_revoked", "join_token", token_id, token.cluster_id, before))


def enroll(
    session: Session, request: EnrollRequest, access: AgentAccess, address: str | None, now: datetime
) -> EnrollReply:
    """A new node in the token's cluster, with its own token and its own Redis user.

    Raises:
        WireVersionUnsupportedError: the agent is too old or too new.
        JoinTokenRefusedError: the token is unknown, expired or used up.
        NodeNameTakenError: a living node of the cluster has the name.
    """
    require_wire_version(request.wire_version)
    secret = request.join_token.partition(".")[0]
    token = repository.use_join_token(session, digest(secret), now)
    if token is None:
        raise JoinTokenRefusedError
    cluster_id = token.cluster_id
    node_token, redis_password = new_secret(NODE_TOKEN_PREFIX), new_secret()
    node = Node(
        cluster_id=cluster_id,
        name=request.node_name,
        role=request.role,
        owner_id=token.owner_id,
        created_at=now,
        token_sha256=digest(node_token),
        redis_password_sha256=digest(redis_password),
        agent_version=request.agent_version,
    )
    try:
        with session.begin_nested():
            session.add(node)
    except IntegrityError as error:
        raise NodeNameTakenError(request.node_name) from error
    principal = Principal(PrincipalKind.NODE, node.id, node.name, address)
    after = {"name": node.name, "role": node.role}
    audit.record(session, principal, Action("node_enrolled", "node", node.id, cluster_id, after=after))
    live.publish(session, "node", node.id, cluster_id)
    after_commit(session, lambda: access.admit(NodeAccess(node.id, digest(redis_password))))
    return EnrollReply(
        node_id=node.id,
        node_name=node.name,
        cluster=session.get_one(Cluster, cluster_id).name,
        node_token=node_token,
        broker=access.broker(node.id, redis_password),
    )


def acl_rows(session: Session) -> list[NodeAccess]:
    """Who may use Redis; the scheduler applies it again and again, so that a Redis that came back empty is filled."""
    return [NodeAccess(node.id, node.redis_password_sha256) for node in repository.living_real_nodes(session)]


def require_wire_version(wire_version: int) -> None:
    """Refuse an agent that speaks another language.

    Raises:
        WireVersionUnsupportedError: neither this server's version nor the one before.
    """
    if wire_version not in SPOKEN_VERSIONS:
        raise WireVersionUnsupportedError(wire_version, SPOKEN_VERSIONS)


def _require_cluster(session: Session, principal: Principal, cluster_id: int) -> Cluster:
    missing = ClusterNotFoundError(cluster_id)
    principal.require(Role.ADMIN, cluster_id, missing)
    found = session.get(Cluster, cluster_id)
    if found is None:
        raise missing
    return found
