"""Routes that authenticate before reading a body, and limit large bodies."""

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
"""Beyond this, one error for all: their list would take too much memory."""
_read_bearer: Final = HTTPBearer(auto_error=False)
_Handle = Callable[[Request], Coroutine[Any, Any, Response]]


class KnownCallerRoute(APIRoute):
    """Route that checks its access rule from the headers before it reads the body.

    No connection is held while the body arrives. A token may be revoked meanwhile, so the route checks again.
    """

    def get_route_handler(self) -> _Handle:
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
                del body  # the last reference to the raw body
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
    # A pending node may have the same number as a node.
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
        database = DATABASE.of(state).heartbeats
        with database.transaction() as session:
            return rule.knock(Knock(request, session, CLOCK.of(state)(), bearer))

    # One at a time on separate connections, so that a flood delays neither pages nor heartbeats.
    return await to_thread.run_sync(ask, limiter=KNOCKS.of(state))


async def _read_raw(request: Request, body: bytes, _principal: Principal) -> None:
    request._body = request._json = body  # noqa: SLF001 - where Starlette caches the body


async def _read_json(adapter: TypeAdapter[Any], request: Request, body: bytes, principal: Principal) -> None:
    # FastAPI gives better errors for smaller bodies. Agents' bodies need this parser, which rejects lone surrogates.
    limit = body_limit(request.scope)
    if len(body) <= LARGE_BYTES:
        limit.check(body)
        request._body = body  # noqa: SLF001 - as above
        if body and principal.kind is PrincipalKind.NODE:
            request._json = _plain(body)  # noqa: SLF001 - as above
        return
    request._body = b"{}"  # noqa: SLF001 - as above; the body exists
    request._json = await to_thread.run_sync(_parsed, adapter, limit, body)  # noqa: SLF001 - as above


def _parsed(adapter: TypeAdapter[Any], limit: BodyLimit, body: bytes) -> object:
    # Not bytes directly: pydantic copies the whole input into each error. 300 KB of empty lists took 150 MB, now 8
    # MB.
    limit.check(body)
    plain = _plain(body)
    try:
        return adapter.validate_python(plain)
    except ValidationError as error:
        rejection = _rejection(error)
    raise rejection  # outside of the handler: as its context, the first error would keep the whole input


def _rejection(error: ValidationError) -> Exception:
    if error.error_count() > _MOST_FAULTS:
        return BODY_TOO_COMPLEX(what=f"{error.error_count()} validation errors")
    first = error.errors(include_url=False, include_input=False)[0]
    return RequestValidationError([{**first, "loc": ("body", *first["loc"])}])


def _plain(body: bytes) -> object:
    try:
        return from_json(body, cache_strings="keys")
    except ValueError as error:
        fault = {"type": "json_invalid", "loc": ("body",), "msg": "invalid JSON", "ctx": {"error": str(error)}}
        raise RequestValidationError([fault]) from None
