"""What a caller ought to be answered: by the route's rule and by whose the thing is, and by nothing else."""

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


class Whose(StrEnum):
    """To whom what the request names belongs."""

    NOBODYS = "nobody's"
    CLUSTERS = "the cluster's"
    ALL_CLUSTERS = "all clusters'"
    ORDERS_NODE = "the order's node's"
    A_PERSONS = "the person's who made it"


@dataclass(frozen=True)
class Request:
    """How a route is called, so that nothing but the caller decides the answer.

    Attributes:
        whose: what the request names; of NOBODYS things each caller gets to see only what they may.
        body: from the ids of the site.
        answer: the status for whoever is let in, where it is not the one that the route declares.
        names: for a parameter of the path the key of its id, where that is another one.
        wants: the role in the cluster, where the rule alone does not say it.
        by_person: whether no token does it.
        by_operating: whether a token does it only where it is an operator's.
        owner: who made it, where it is a person's.
        or_admins: administrators of all clusters may do it to what others made.
        to_pending: what a host that waits to be let in is answered, where it is asked and not let in.
        unanswered: for nodes that do not have the order, where it is not 404.
        shows: whether a viewer is shown something of the cluster.
        streams: it changes nothing and reads beside its own transaction, on another connection.
    """

    whose: Whose = Whose.CLUSTERS
    body: Callable[[Ids], object] | None = None
    query: str = ""
    answer: int | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    headers: Callable[[Ids], Mapping[str, str]] | None = None
    wants: Role | None = None
    by_person: bool = False
    by_operating: bool = False
    owner: str | None = None
    or_admins: bool = False
    to_pending: str | None = None
    unanswered: str | None = None
    shows: bool = True
    streams: bool = False


def expected(route: DeclaredRoute, request: Request, caller: Caller) -> str:
    """The status, with a word behind it where the answer alone says that nothing was done."""
    (rule,) = route.rules
    let_in = str(request.answer or route.status)
    match rule:
        case Public():
            return let_in
        case IsNode():
            return _for_nodes(rule, request, caller) or let_in
        case _:
            return _for_persons(rule, route.method, request, caller) or let_in


def _for_nodes(rule: IsNode, request: Request, caller: Caller) -> str | None:
    if caller.proof in {Proof.TOKEN, Proof.DEAD_TOKEN}:
        return NOT_ALLOWED
    if caller.proof is Proof.PENDING_NODE and not isinstance(rule, ConfirmsToken):
        return request.to_pending if isinstance(rule, IsNodeOrWaits) else NOT_ALLOWED
    if caller.proof is not Proof.NODE:
        return NOT_AUTHENTICATED
    is_foreign = request.whose is Whose.ORDERS_NODE and caller.node != "n1"
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
    wanted = request.wants or (rule.role if isinstance(rule, HasRole) else Role.VIEWER)
    refusal = _by_owner(request, wanted, caller)
    if refusal is None and request.by_person and caller.proof is Proof.TOKEN:
        return NOT_ALLOWED
    reads_alone = caller.proof is Proof.TOKEN and not caller.may_somewhere(Role.OPERATOR)
    return NOT_ALLOWED if refusal is None and request.by_operating and reads_alone else refusal


def _by_owner(request: Request, wanted: Role, caller: Caller) -> str | None:
    match request.whose:
        case Whose.CLUSTERS if not caller.may(Role.VIEWER):
            return NOT_FOUND
        case Whose.CLUSTERS if not caller.may(wanted):
            return NOT_ALLOWED
        case Whose.ALL_CLUSTERS if not caller.may(wanted, everywhere=True):
            return NOT_ALLOWED
        case Whose.A_PERSONS if request.or_admins and caller.may(Role.ADMIN, everywhere=True):
            return None
        case Whose.A_PERSONS if caller.name != request.owner:
            is_refused_first = request.by_person and caller.proof is Proof.TOKEN
            return NOT_ALLOWED if is_refused_first else NOT_FOUND
        case _:
            return None
