"""Access rules of the agents' routes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar, Final

from fastapi import Depends, Request
from fastapi.security.utils import get_authorization_scheme_param

from iotide_server.accounts.roles.authentication import NODE_TOKEN_PREFIX
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.accounts.roles.rules import AccessRule, Bearer, Knock
from iotide_server.accounts.sessions.cookies import caller_address
from iotide_server.clusters.agents import repository as identity_repository
from iotide_server.clusters.agents.repository import KnownNode
from iotide_server.clusters.errors import NODE_PENDING, TOO_MANY_HELLOS
from iotide_server.clusters.models import Node, PendingNode
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.digests import digest
from iotide_server.kit.errors import NotAllowedError, NotAuthenticatedError
from iotide_server.kit.one_each import Holder
from iotide_server.kit.rates import Rate
from iotide_server.kit.web import NodeTx, Now
from iotide_wire.nodes import fingerprint

HELLO_RATE: Final[AppValue["HelloRate"]] = AppValue("hello_rate")


OLDEST_VERSION: Final = 1  # for an agent that has not sent a hello


@dataclass(frozen=True)
class IsNode(AccessRule):
    """A node's agent; the principal's id is the node's."""

    is_for_people: ClassVar[bool] = False

    def knock(self, knock: Knock) -> Principal:
        return self(*knock)

    def __call__(self, request: Request, session: NodeTx, now: Now, bearer: Bearer) -> Principal:
        token_sha256 = _token(bearer)
        node = identity_repository.node_by_token(session, token_sha256)
        if node is not None:
            return _principal(request, node)
        waiting = identity_repository.pending_by_token(session, token_sha256, now)
        if waiting is None:
            raise _unknown()
        return self._admit_waiting(request, waiting)

    def _admit_waiting(self, request: Request, waiting: PendingNode) -> Principal:
        del request
        raise NODE_PENDING(name=waiting.name, fingerprint=fingerprint(waiting.token_sha256), until=waiting.expires_at)


class HelloRate:
    """Limits each node's hellos to this process.

    Hellos are expensive. A rejected agent repeats them within 10 s, so a restarting one passes as soon as its rate
    allows.
    """

    def __init__(self, a_minute: int) -> None:
        self._rate = Rate(a_minute)

    def admit(self, node: Principal, now: datetime, *, is_waiting: bool = False) -> None:
        # A pending node and a node may have the same id.
        wait_seconds = self._rate.wait_seconds((is_waiting, node.id), now)
        if wait_seconds:
            raise TOO_MANY_HELLOS(node=node.name, a_minute=self._rate.a_minute, wait_seconds=wait_seconds)


@dataclass(frozen=True)
class IsNodeOrWaits(IsNode):
    """Like IsNode, but also allows the agent of a pending node."""

    def knock(self, knock: Knock) -> Principal:
        principal = super().knock(knock)
        rate = HELLO_RATE.of(knock.request.app.state)
        rate.admit(principal, knock.now, is_waiting=waiting_node(knock.request) is not None)
        return principal

    def _admit_waiting(self, request: Request, waiting: PendingNode) -> Principal:
        request.state.waiting_node = waiting
        request.state.wire_version = waiting.wire_version
        return Principal(PrincipalKind.NODE, waiting.id, waiting.name, caller_address(request))


@dataclass(frozen=True)
class ConfirmsToken(IsNode):
    """Allows a node's agent with its current token, or with the next one, which gives no other access yet."""

    def __call__(self, request: Request, session: NodeTx, now: Now, bearer: Bearer) -> Principal:
        del now
        node = identity_repository.node_by_any_token(session, _token(bearer))
        if node is None:
            raise _unknown()
        return _principal(request, node)


def token_sha256_of(headers: Mapping[str, str]) -> str | None:
    scheme, token = get_authorization_scheme_param(headers.get("authorization"))
    is_of_node = scheme.lower() == "bearer" and token.startswith(NODE_TOKEN_PREFIX)
    return digest(token) if is_of_node else None


def node_holder(request: Request) -> Holder | None:
    """Identify the node without database access."""
    token_sha256 = token_sha256_of(request.headers)
    return None if token_sha256 is None else Holder(token_sha256)


def _token(bearer: Bearer) -> str:
    if bearer is None:
        raise NotAuthenticatedError(
            "the request has no node token", remedy="send the header Authorization: Bearer <node token>"
        )
    if not bearer.credentials.startswith(NODE_TOKEN_PREFIX):
        raise NotAllowedError("this route is for node agents", remedy="enroll the node and use its token")
    return digest(bearer.credentials)


def _principal(request: Request, node: Node | KnownNode) -> Principal:
    request.state.wire_version = node.wire_version
    request.state.waiting_node = None
    return Principal(PrincipalKind.NODE, node.id, node.name, caller_address(request))


def _unknown() -> NotAuthenticatedError:
    return NotAuthenticatedError(
        "unknown node token: the node was rejected, revoked or retired, or its approval was not given in time",
        remedy="enroll the node again with a new join token",
    )


def waiting_node(request: Request) -> PendingNode | None:
    waiting: PendingNode | None = getattr(request.state, "waiting_node", None)
    return waiting


def spoken_version(request: Request) -> int:
    version: int | None = getattr(request.state, "wire_version", None)
    return version or OLDEST_VERSION


NodeAgent = Annotated[Principal, Depends(IsNode(), scope="function")]
NodeOrWaiting = Annotated[Principal, Depends(IsNodeOrWaits(), scope="function")]
ConfirmingNode = Annotated[Principal, Depends(ConfirmsToken(), scope="function")]
