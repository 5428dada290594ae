"""Enrolment of nodes by join tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts import repository as account_repository
from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.authentication import NODE_TOKEN_PREFIX
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.change_feed import service as live
from iotide_server.clusters import repository
from iotide_server.clusters.agents import credentials
from iotide_server.clusters.agents import repository as identity_repository
from iotide_server.clusters.agents.access import AgentAccess
from iotide_server.clusters.agents.credentials import own_node
from iotide_server.clusters.enrolment import pending
from iotide_server.clusters.errors import (
    CLUSTER_IS_SAMPLE_DATA,
    JOIN_TOKEN_NOT_FOUND,
    JOIN_TOKEN_REFUSED,
    NODE_IN_USE,
    NODE_NAME_TAKEN,
    strange_version,
)
from iotide_server.clusters.models import Cluster, JoinToken, Node, PendingNode
from iotide_server.clusters.schemas import JoinTokenOutput, NewJoinToken
from iotide_server.clusters.service import cluster
from iotide_server.clusters.views import Origin
from iotide_server.kit.db import fields_of, savepoint
from iotide_server.kit.digests import digest, new_secret
from iotide_server.kit.pagination import Page, PageRequest
from iotide_wire.messages import EnrollReply, EnrollRequest
from iotide_wire.nodes import NewCredentials
from iotide_wire.versions import SPOKEN_VERSIONS


def create_join_token(  # noqa: PLR0913 - each is a term of the token
    session: Session,
    principal: Principal,
    cluster_id: int,
    uses: int,
    expires_at: datetime,
    *,
    needs_approval: bool | None = None,
) -> NewJoinToken:
    """Create a token for `uses` nodes. Raise CLUSTER_NOT_FOUND or CLUSTER_IS_SAMPLE_DATA."""
    # An admin approves each node of a token for several, which others may find in images and scripts.
    found = cluster(session, principal, cluster_id, Role.ADMIN)
    if found.origin == Origin.SAMPLE_DATA:
        raise CLUSTER_IS_SAMPLE_DATA(name=found.name, field="cluster_id")
    token = JoinToken(
        cluster_id=cluster_id,
        uses_left=uses,
        expires_at=expires_at,
        needs_approval=uses > 1 if needs_approval is None else needs_approval,
    )
    return _keep_token(session, principal, token)


def create_reenrolment_token(
    session: Session, principal: Principal, node_id: int, expires_at: datetime
) -> NewJoinToken:
    node = own_node(session, principal, node_id)
    token = JoinToken(
        cluster_id=node.cluster_id, node_id=node.id, uses_left=1, expires_at=expires_at, needs_approval=False
    )
    return _keep_token(session, principal, token)


def _keep_token(session: Session, principal: Principal, token: JoinToken) -> NewJoinToken:
    secret = new_secret()
    token.secret_sha256, token.owner_id = digest(secret), principal.user_id
    session.add(token)
    session.flush()
    after = {"uses": token.uses_left, **fields_of(token, "expires_at", "needs_approval", "node_id")}
    audit.record(session, principal, Action.on("join_token_created", token, after=after))
    (shown,) = _with_makers(session, [token])
    return NewJoinToken(shown, secret)


def list_join_tokens(
    session: Session, principal: Principal, cluster_id: int, paging: PageRequest, now: datetime
) -> Page[JoinTokenOutput]:
    cluster(session, principal, cluster_id, Role.ADMIN)
    page = repository.join_tokens(session, cluster_id, now, paging)
    return Page(items=_with_makers(session, page.rows), next_cursor=page.next_cursor)


def _with_makers(session: Session, tokens: Sequence[JoinToken]) -> list[JoinTokenOutput]:
    names = account_repository.names_of(session, {token.owner_id for token in tokens if token.owner_id is not None})
    return [JoinTokenOutput.of_row(token, made_by=names.get(token.owner_id or 0)) for token in tokens]


def revoke_join_token(session: Session, principal: Principal, token_id: int) -> None:
    row = session.get(JoinToken, token_id)
    token = principal.require_row(Role.ADMIN, row, JOIN_TOKEN_NOT_FOUND(token_id=token_id))
    before = {"uses": token.uses_left, **fields_of(token, "expires_at")}
    session.delete(token)
    audit.record(session, principal, Action("join_token_revoked", "join_token", token_id, token.cluster_id, before))


def enroll(
    session: Session, request: EnrollRequest, access: AgentAccess, address: str | None, now: datetime
) -> EnrollReply:
    """Return the identity of a new node, a pending node, or the token's own node.

    Raise WIRE_VERSION_UNSUPPORTED, JOIN_TOKEN_REFUSED, NODE_NAME_TAKEN, or NODE_IN_USE if a load may still run on the
    token's own node.
    """
    if request.wire_version not in SPOKEN_VERSIONS:
        raise strange_version(request.wire_version)
    secret = request.join_token.partition(".")[0]
    token = repository.use_join_token(session, digest(secret), now)
    if token is None:
        raise JOIN_TOKEN_REFUSED()
    newcomer = _Newcomer(request, access, address, now)
    if token.node_id is not None:
        return _enroll_again(session, token.node_id, newcomer)
    return _have_wait(session, token, newcomer) if token.needs_approval else _enroll_new(session, token, newcomer)


@dataclass(frozen=True, slots=True)
class _Newcomer:
    request: EnrollRequest
    access: AgentAccess
    address: str | None
    now: datetime


def _enroll_new(session: Session, token: JoinToken, newcomer: _Newcomer) -> EnrollReply:
    request = newcomer.request
    node = Node(
        cluster_id=token.cluster_id,
        name=request.node_name,
        role=request.role,
        owner_id=token.owner_id,
        created_at=newcomer.now,
        agent_version=request.agent_version,
        wire_version=request.wire_version,
        facts=request.facts,
        # Placeholders until `credentials.give`, which needs the id for the Redis user's name.
        token_sha256=digest(new_secret()),
        redis_password_sha256=digest(new_secret()),
    )
    with savepoint(session, NODE_NAME_TAKEN(name=request.node_name)):
        session.add(node)
    given = credentials.give(session, node, newcomer.access, newcomer.now)
    _record(session, "node_enrolled", node, newcomer.address)
    return _reply(session, node.id, node.name, token.cluster_id, given)


def _enroll_again(session: Session, node_id: int, newcomer: _Newcomer) -> EnrollReply:
    node = repository.locked_node(session, node_id)
    if node is None or node.retired_at is not None:
        raise JOIN_TOKEN_REFUSED()
    # The host cannot rule out a load, because it may never have had these orders.
    loads = repository.claimed_runs(session, node_id)
    if loads:
        raise NODE_IN_USE(node=node.name, run_ids=loads)
    node.revoked_at = node.agent_instance = node.boot_id = None
    repository.forget_heartbeat(session, node_id)
    given = credentials.give(session, node, newcomer.access, newcomer.now)
    _record(session, "node_enrolled_again", node, newcomer.address)
    return _reply(session, node.id, node.name, node.cluster_id, given)


def _have_wait(session: Session, token: JoinToken, newcomer: _Newcomer) -> EnrollReply:
    request = newcomer.request
    if request.node_name in repository.living_node_names(session, token.cluster_id):
        raise NODE_NAME_TAKEN(name=request.node_name)
    node_id = identity_repository.next_node_id(session)
    node_token, password = new_secret(NODE_TOKEN_PREFIX), new_secret()
    waiting = PendingNode(
        id=node_id,
        cluster_id=token.cluster_id,
        name=request.node_name,
        role=request.role,
        address=newcomer.address,
        owner_id=token.owner_id,
        asked_at=newcomer.now,
        expires_at=newcomer.now + pending.PENDING_FOR,
        token_sha256=digest(node_token),
        redis_password_sha256=digest(password),
        agent_version=request.agent_version,
        wire_version=request.wire_version,
        facts=request.facts,
    )
    pending.add(session, waiting)
    given = NewCredentials(node_token=node_token, broker=newcomer.access.broker(node_id, password))
    reply = _reply(session, node_id, waiting.name, token.cluster_id, given)
    return reply.model_copy(update={"pending_until": waiting.expires_at})


def _record(session: Session, action: str, node: Node, address: str | None) -> None:
    principal = Principal(PrincipalKind.NODE, node.id, node.name, address)
    after = {"name": node.name, "role": node.role}
    live.record(session, principal, Action.on(action, node, after=after))


def _reply(session: Session, node_id: int, name: str, cluster_id: int, given: NewCredentials) -> EnrollReply:
    return EnrollReply(
        node_id=node_id,
        node_name=name,
        cluster=session.get_one(Cluster, cluster_id).name,
        node_token=given.node_token,
        broker=given.broker,
    )
