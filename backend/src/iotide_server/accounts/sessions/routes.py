from collections.abc import AsyncIterator
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from sqlalchemy.orm import Session
from starlette.responses import JSONResponse

from iotide_server.accounts.oidc.provider import PROVIDER
from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Admin, Anyone, Person, PersonAhead, Reader
from iotide_server.accounts.schemas import SignInLink
from iotide_server.accounts.sessions import service as sessions
from iotide_server.accounts.sessions.cookies import caller_browser, drop_cookie, keep_session, read_cookie
from iotide_server.accounts.sessions.rotation import SESSION_TERMS, SessionTerms
from iotide_server.accounts.sessions.schemas import (
    BrowserSession,
    BrowserSessions,
    CredentialsInput,
    LinkInput,
    PasswordInput,
    SessionsEnded,
    SessionState,
    SignedOut,
    SignInWays,
)
from iotide_server.accounts.sessions.service import NewSession, Visitor
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.db import DATABASE
from iotide_server.kit.errors import IotideError
from iotide_server.kit.one_each import OneEach
from iotide_server.kit.web import PUBLIC_READ, PUBLIC_URL, Id, Now, Tx, errors, refusal, transaction

HASH_TURNS: Final[AppValue[OneEach]] = AppValue("one_hash")
router = APIRouter(tags=["sessions"], route_class=KnownCallerRoute)


def terms_of_sessions(request: Request) -> SessionTerms:
    return SESSION_TERMS.of(request.app.state)


def visitor_of(request: Request) -> Visitor:
    return Visitor(caller_browser(request), terms_of_sessions(request), read_cookie(request))


LinkTx = Annotated[Session, Depends(transaction, scope="function", max_concurrency=1)]
"""One at a time, so that public sign-ins take no connection from pages."""


async def _one_hash(request: Request) -> AsyncIterator[None]:
    async with HASH_TURNS.of(request.app.state).turn(request):
        yield


ONE_HASH = Depends(_one_hash, scope="function")
"""For routes that hash a password: one request per network, and one at a time."""
Terms = Annotated[SessionTerms, Depends(terms_of_sessions)]
AskedBy = Annotated[Visitor, Depends(visitor_of)]


@router.get("/session/ways", summary="List sign-in methods")
def get_sign_in_ways(_: Anyone, request: Request) -> SignInWays:
    """Sign-in methods for the sign-in page."""
    provider = PROVIDER.of(request.app.state)
    return SignInWays(
        provider_name=provider.terms.name if provider else None, is_open_for_reading=PUBLIC_READ.of(request.app.state)
    )


@router.post("/session/link", summary="Sign in by link", response_model=SessionState, responses=errors(401, 429))
def sign_in_by_link(
    _: Anyone, session: LinkTx, now: Now, request: Request, visitor: AskedBy, body: LinkInput
) -> SessionState | JSONResponse:
    """Sign in with a one-time link. The response sets the session cookie."""
    return _answer(request, sessions.sign_in_by_link(session, body.token, visitor, now))


@router.post(
    "/session",
    summary="Sign in",
    response_model=SessionState,
    dependencies=[ONE_HASH],
    responses=errors(401, 429),
)
def sign_in(
    _: Anyone, now: Now, request: Request, visitor: AskedBy, body: CredentialsInput
) -> SessionState | JSONResponse:
    """Sign in with name and password. The response sets the session cookie."""
    database = DATABASE.of(request.app.state)
    outcome = sessions.sign_in_by_password(database.transaction, body.name, body.password, visitor, now)
    return _answer(request, outcome)


@router.get("/session", summary="Show the caller")
def get_session(principal: Reader) -> SessionState:
    """The caller and their roles."""
    return SessionState.of(principal)


@router.delete("/session", summary="Sign out")
def sign_out(principal: Person, session: Tx, now: Now, request: Request) -> SignedOut:
    """End this browser's session.

    If it began at the OpenID provider, the response has the address to sign out there.
    """
    was_of_provider = sessions.sign_out(session, principal)
    drop_cookie(request)
    provider = PROVIDER.of(request.app.state)
    if provider is None or not was_of_provider:
        return SignedOut(provider_url=None)
    landing = f"{PUBLIC_URL.of(request.app.state).rstrip('/')}/login"
    return SignedOut(provider_url=provider.sign_out_url(landing, now))


@router.put(
    "/session/password",
    summary="Set a password",
    status_code=204,
    response_model=None,
    dependencies=[ONE_HASH],
    responses=errors(409, 429),
)
def set_password(principal: PersonAhead, now: Now, request: Request, body: PasswordInput) -> JSONResponse | None:
    """Set or change your password. Your other sessions and unused sign-in links end."""
    database = DATABASE.of(request.app.state)
    kept = sessions.set_password(database.transaction, principal, body.old_password, body.new_password, now)
    if isinstance(kept, IotideError):
        return refusal(kept)
    keep_session(request, kept)
    return None


@router.get("/sessions", summary="List your sessions")
def list_sessions(principal: Person, session: Tx, now: Now, terms: Terms) -> BrowserSessions:
    """Your signed-in browsers, most recently active first."""
    rows = sessions.list_own(session, principal, now, terms)
    return BrowserSessions(items=[BrowserSession.of(row, principal) for row in rows])


@router.delete("/sessions", summary="End your other sessions")
def end_other_sessions(principal: Person, session: Tx) -> SessionsEnded:
    """End all your sessions except this one."""
    return SessionsEnded(count=sessions.end_others(session, principal))


@router.delete("/sessions/{session_id}", summary="End one of your sessions", status_code=204, responses=errors(404))
def end_session(principal: Person, session: Tx, session_id: Id) -> None:
    """Sign that browser out at once."""
    sessions.end_own(session, principal, session_id)


@router.delete("/users/{user_id}/sessions", summary="End a user's sessions", responses=errors(404))
def end_sessions_of_user(principal: Admin, session: Tx, user_id: Id) -> SessionsEnded:
    """End all sessions of a user. Requires an administrator of all clusters."""
    return SessionsEnded(count=sessions.end_all_of(session, principal, user_id))


@router.post("/users/{user_id}/password-reset", summary="Reset a password", status_code=201, responses=errors(404, 409))
def reset_password(principal: Admin, session: Tx, now: Now, request: Request, user_id: Id) -> SignInLink:
    """Delete the password, sessions and unused links of a user, and create a new sign-in link.

    Requires an administrator of all clusters.
    """
    url = sessions.reset_password(session, principal, user_id, PUBLIC_URL.of(request.app.state), now)
    return SignInLink(url=url)


def _answer(request: Request, outcome: NewSession | IotideError) -> SessionState | JSONResponse:
    if not isinstance(outcome, NewSession):
        return refusal(outcome)
    keep_session(request, outcome.secret)
    return SessionState.of(outcome.principal)
