"""Expected answer to a caller: decided only by the route's rule and the owner of the object."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from access.callers import Caller, Proof
from factories.routes import DeclaredRoute

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.rules import AccessRule, AnyPerson, HasRole, Public
from iotide_server.clusters.agents.rules import ConfirmsToken, IsNode, IsNodeOrWaits

Ids = Mapping[str, Any]
NOT_AUTHENTICATED, NOT_ALLOWED, NOT_FOUND = "401", "403", "404"
_SAFE_METHODS = frozenset({"GET", "HEAD"})


class Ownership(StrEnum):
    """Owner of the object that a request names."""

    UNOWNED = "no one"
    CLUSTERS = "cluster"
    ALL_CLUSTERS = "all clusters"
    ORDERS_NODE = "node of the order"
    A_PERSONS = "its creator"


@dataclass(frozen=True)
class Request:
    """A request of a route that only the caller's permissions can fail.

    Attributes:
        ownership: of the object; UNOWNED lists show each caller only what they may see.
        body: from the ids of the site.
        answer: the status of success, if it is not the one that the route declares.
        names: for a path parameter the key of its id, if it differs.
        by_person: whether tokens are refused.
        by_operating: whether only tokens of operators are accepted.
        owner: the person who made the object, if a person owns it.
        or_admins: whether admins of all clusters may do it to objects of others.
        to_pending: the answer to a pending node, if it is asked and not approved.
        unanswered: for nodes that do not have the order, if it is not 404.
        shows: whether a viewer is shown something of the cluster.
        streams: whether it changes nothing and reads outside its transaction, on another connection.
    """

    ownership: Ownership = Ownership.CLUSTERS
    body: Callable[[Ids], object] | None = None
    query: str = ""
    answer: int | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    headers: Callable[[Ids], Mapping[str, str]] | None = None
    by_person: bool = False
    by_operating: bool = False
    owner: str | None = None
    or_admins: bool = False
    to_pending: str | None = None
    unanswered: str | None = None
    shows: bool = True
    streams: bool = False


def expected(route: DeclaredRoute, request: Request, caller: Caller) -> str:
    """Return the status, with a remark if only the answer shows that nothing was done."""
    (rule,) = route.rules
    admitted = str(request.answer or route.status)
    match rule:
        case Public():
            return admitted
        case IsNode():
            return _for_nodes(rule, request, caller) or admitted
        case _:
            return _for_persons(rule, route.method, request, caller) or admitted


def _for_nodes(rule: IsNode, request: Request, caller: Caller) -> str | None:
    if caller.proof in {Proof.TOKEN, Proof.DEAD_TOKEN}:
        return NOT_ALLOWED
    if caller.proof is Proof.PENDING_NODE and not isinstance(rule, ConfirmsToken):
        return request.to_pending if isinstance(rule, IsNodeOrWaits) else NOT_ALLOWED
    if caller.proof is not Proof.NODE:
        return NOT_AUTHENTICATED
    is_foreign = request.ownership is Ownership.ORDERS_NODE and caller.node != "n1"
    return (request.unanswered or NOT_FOUND) if is_foreign else None


def _for_persons(rule: AccessRule, method: str, request: Request, caller: Caller) -> str | None:
    if not caller.is_person:
        return NOT_AUTHENTICATED
    if caller.proof is Proof.BARE_COOKIE and method not in _SAFE_METHODS:
        return NOT_ALLOWED
    if caller.proof is Proof.READING and (method not in _SAFE_METHODS or isinstance(rule, AnyPerson)):
        return NOT_AUTHENTICATED
    if isinstance(rule, HasRole) and not caller.may_somewhere(rule.role):
        return NOT_AUTHENTICATED if caller.proof is Proof.READING else NOT_ALLOWED
    wanted = rule.role if isinstance(rule, HasRole) else Role.VIEWER
    refusal = _by_owner(request, wanted, caller)
    if refusal is None and request.by_person and caller.proof is Proof.TOKEN:
        return NOT_ALLOWED
    reads_alone = caller.proof is Proof.TOKEN and not caller.may_somewhere(Role.OPERATOR)
    return NOT_ALLOWED if refusal is None and request.by_operating and reads_alone else refusal


def _by_owner(request: Request, wanted: Role, caller: Caller) -> str | None:
    match request.ownership:
        case Ownership.CLUSTERS if not caller.may(Role.VIEWER):
            return NOT_FOUND
        case Ownership.CLUSTERS if not caller.may(wanted):
            return NOT_ALLOWED
        case Ownership.ALL_CLUSTERS if not caller.may(wanted, everywhere=True):
            return NOT_ALLOWED
        case Ownership.A_PERSONS if request.or_admins and caller.may(Role.ADMIN, everywhere=True):
            return None
        case Ownership.A_PERSONS if caller.name != request.owner:
            is_refused_first = request.by_person and caller.proof is Proof.TOKEN
            return NOT_ALLOWED if is_refused_first else NOT_FOUND
        case _:
            return None
