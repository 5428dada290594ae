"""Routes that know who calls before they read a body, and read large ones within bounds."""

from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any, Final

from anyio import CapacityLimiter, to_thread
from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json
from starlette.responses import Response

from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.accounts.roles.rules import AccessRule, Knock, Public, introduce
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.bodies import BODIES, BODY_TOO_COMPLEX, LARGE_BYTES, BodyLimit, Caller, body_limit
from iotide_server.kit.clock import CLOCK
from iotide_server.kit.db import DATABASE

KNOCKS: Final[AppValue[CapacityLimiter]] = AppValue("knocks")


_MOST_FAULTS: Final = 1000
"""A body with more faults is refused as a whole: a list of them would take the memory that was saved."""
_read_bearer: Final = HTTPBearer(auto_error=False)
_Handle = Callable[[Request], Coroutine[Any, Any, Response]]


class KnownCallerRoute(APIRoute):
    """A route that asks its rule first, by the headers alone and in a transaction of its own.

    The rule is asked again in the transaction of the route: in between a token may be revoked. Nothing of the body is
    read before the first answer, and no connection to the database is held while it arrives.
    """

    def get_route_handler(self) -> _Handle:
        """Return FastAPI's handler; where the route has a body, it is called once the caller is known."""
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle
        [rule] = dict.fromkeys(_rules(self.dependant))
        of_body: Any = self.body_field.field_info.annotation
        read = _read_raw if of_body is bytes else partial(_read_json, TypeAdapter(of_body))

        async def handle_known(request: Request) -> Response:
            principal = await _knock(request, rule)
            bodies = BODIES.of(request.app.state)

            async def act(body: bytes) -> Response:
                await read(request, body, principal)
                del body  # the last to hold it: what was made of it is all that is needed
                return await handle(request)

            return await bodies.serve(request, _caller(request, principal), act, is_json=of_body is not bytes)

        return handle_known


def _rules(dependant: Dependant) -> Iterator[AccessRule]:
    call: object = dependant.call
    if isinstance(call, AccessRule):
        yield call
    for part in dependant.dependencies:
        yield from _rules(part)


def _caller(request: Request, principal: Principal) -> Caller:
    if principal.kind is not PrincipalKind.NODE:
        return Caller(PrincipalKind.USER, str(principal.user_id))
    # Nodes that wait for approval are counted by themselves, so one of them may have the number of a node.
    waits = "" if getattr(request.state, "waiting_node", None) is None else "waiting "
    return Caller(PrincipalKind.NODE, f"{waits}{principal.id}")


async def _knock(request: Request, rule: AccessRule) -> Principal:
    if isinstance(rule, Public):
        return await rule()
    if rule.is_for_people:
        await introduce(request)
    state = request.app.state
    bearer = await _read_bearer(request)

    def ask() -> Principal:
        database = DATABASE.of(state).beats
        with database.transaction() as session:
            return rule.knock(Knock(request, session, CLOCK.of(state)(), bearer))

    # One after the other on a connection of their own: whoever floods these holds up nobody's page and no heartbeat.
    return await to_thread.run_sync(ask, limiter=KNOCKS.of(state))


async def _read_raw(request: Request, body: bytes, _principal: Principal) -> None:
    request._body = request._json = body  # noqa: SLF001 - where Starlette keeps them


async def _read_json(adapter: TypeAdapter[Any], request: Request, body: bytes, principal: Principal) -> None:
    """Leave the typed value of a large body where FastAPI looks for its JSON, and takes it as it is."""
    # FastAPI makes the values of smaller ones itself, and says best what is wrong with them. Those of nodes are parsed
    # as large ones are: this parser refuses lone surrogates, which a form of a plug-in may hold anywhere.
    limit = body_limit(request.scope)
    if len(body) <= LARGE_BYTES:
        limit.check(body)
        request._body = body  # noqa: SLF001 - as above
        if body and principal.kind is PrincipalKind.NODE:
            request._json = _plain(body)  # noqa: SLF001 - as above
        return
    request._body = b"{}"  # noqa: SLF001 - as above: there is one
    request._json = await to_thread.run_sync(_parsed, adapter, limit, body)  # noqa: SLF001 - as above


def _parsed(adapter: TypeAdapter[Any], limit: BodyLimit, body: bytes) -> object:
    """Return the typed value of a body."""
    # By way of plain objects: pydantic's way straight from bytes copies the whole input into each of its errors, and so
    # took 150 MB for 300 KB of empty lists, of which these take 8 MB.
    limit.check(body)
    plain = _plain(body)
    try:
        return adapter.validate_python(plain)
    except ValidationError as error:
        if error.error_count() > _MOST_FAULTS:
            raise BODY_TOO_COMPLEX(what=f"{error.error_count()} faults") from None
        first = error.errors(include_url=False, include_input=False)[0]
        raise RequestValidationError([{**first, "loc": ("body", *first["loc"])}]) from None


def _plain(body: bytes) -> object:
    try:
        return from_json(body, cache_strings="keys")
    except ValueError as error:
        fault = {"type": "json_invalid", "loc": ("body",), "msg": "invalid JSON", "ctx": {"error": str(error)}}
        raise RequestValidationError([fault]) from None
