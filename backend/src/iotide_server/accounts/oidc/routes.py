"""API of sign-in through the OpenID provider."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Final
from urllib.parse import urlencode

import structlog
from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import RedirectResponse

from iotide_server.accounts.oidc import people as outside_people
from iotide_server.accounts.oidc.errors import (
    NO_PROVIDER,
    PROVIDER_REFUSED,
    SIGN_IN_STALE,
)
from iotide_server.accounts.oidc.flow import HOME, LONGEST_SIGN_IN, Flow, begin_flow, read_flow
from iotide_server.accounts.oidc.provider import PROVIDER, Claims, Provider
from iotide_server.accounts.roles.rules import Anyone
from iotide_server.accounts.sessions import service as sessions
from iotide_server.accounts.sessions import throttle
from iotide_server.accounts.sessions.cookies import (
    SIGN_IN_COOKIE,
    drop_cookie,
    keep_session,
    keep_sign_in,
    read_cookie,
)
from iotide_server.accounts.sessions.routes import AskedBy
from iotide_server.accounts.sessions.service import NewSession, Visitor
from iotide_server.accounts.sessions.throttle import AttemptKind, SignInAttempt
from iotide_server.kit.db import DATABASE, Database
from iotide_server.kit.errors import IotideError, NotAuthenticatedError
from iotide_server.kit.web import Now, errors

CALLBACK: Final = "/session/provider/callback"
_SEE_OTHER: Final = 303
_AT_ONCE: Final = 8
_log = structlog.get_logger(__name__)
router = APIRouter(tags=["sessions"])


async def _provider(request: Request) -> AsyncIterator[Provider]:
    provider = PROVIDER.of(request.app.state)
    if provider is None:
        raise NO_PROVIDER()
    yield provider


# An unresponsive provider must not block all threads.
ProviderHere = Annotated[Provider, Depends(_provider, scope="function", max_concurrency=_AT_ONCE)]


@router.get(
    "/session/provider",
    summary="Sign in through the OpenID provider",
    status_code=_SEE_OTHER,
    response_class=RedirectResponse,
    responses=errors(404),
)
def go_to_provider(
    _: Anyone,
    request: Request,
    now: Now,
    provider: ProviderHere,
    landing: Annotated[
        str, Query(alias="next", max_length=1000, description="Path of the page to open afterwards")
    ] = HOME,
) -> RedirectResponse:
    """Redirect the browser to the provider. It returns signed in."""
    flow = begin_flow(landing, now)
    try:
        url = provider.sign_in_url(flow, now)
    except IotideError as error:
        return _back_to_login(error, flow.landing)
    keep_sign_in(request, flow.cookie, int(LONGEST_SIGN_IN.total_seconds()))
    return RedirectResponse(url, _SEE_OTHER)


@router.get(
    CALLBACK,
    summary="Return from the OpenID provider",
    status_code=_SEE_OTHER,
    response_class=RedirectResponse,
    responses=errors(404),
)
def come_back_from_provider(
    _: Anyone,
    request: Request,
    now: Now,
    provider: ProviderHere,
    visitor: AskedBy,
    state: Annotated[str, Query(max_length=200)] = "",
    code: Annotated[str, Query(max_length=4000)] = "",
    error: Annotated[str, Query(max_length=200, description="The provider's reason for refusing")] = "",
) -> RedirectResponse:
    """The provider redirects browsers here.

    The response sets the session cookie and redirects to the requested page.
    """
    cookie = read_cookie(request, SIGN_IN_COOKIE)
    drop_cookie(request, SIGN_IN_COOKIE)
    flow = read_flow(cookie, now) if cookie else None
    if flow is None or not flow.accepts(state, now):
        return _back_to_login(SIGN_IN_STALE(), HOME)
    if error or not code:
        return _back_to_login(PROVIDER_REFUSED(why=error or "it sent no code"), flow.landing)
    # Between two transactions, so that no connection waits for the provider.
    database = DATABASE.of(request.app.state)
    claims = _claims(database, provider, code, flow, visitor, now)
    if isinstance(claims, IotideError):
        return _back_to_login(claims, flow.landing)
    with database.transaction() as session:
        outcome = outside_people.sign_in(session, claims, provider.terms, visitor, now)
    if not isinstance(outcome, NewSession):
        return _back_to_login(outcome, flow.landing)
    keep_session(request, outcome.secret)
    return RedirectResponse(flow.landing, _SEE_OTHER)


def _claims(
    database: Database, provider: Provider, code: str, flow: Flow, visitor: Visitor, now: datetime
) -> Claims | IotideError:
    attempt = SignInAttempt(AttemptKind.PROVIDER, visitor.browser.address)
    try:
        with database.transaction() as session:
            throttle.admit(session, attempt, now)
        return provider.claims(code, flow, now)
    except NotAuthenticatedError as error:
        with database.transaction() as session:
            sessions.note_failure(session, attempt, None, now)
        return error
    except IotideError as error:
        return error


def _back_to_login(error: IotideError, landing: str) -> RedirectResponse:
    """Redirect to the sign-in page with the error code. The message may be the provider's, so it is only logged."""
    _log.warning("sign_in_at_provider_failed", code=error.code, why=error.message)
    query = {"error": error.code} | ({"next": landing} if landing != HOME else {})
    return RedirectResponse(f"/login?{urlencode(query)}", _SEE_OTHER)
