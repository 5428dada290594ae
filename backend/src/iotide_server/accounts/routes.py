"""Routes of accounts: signing in and out, API tokens and users."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from iotide_server.accounts import service, sessions, tokens
from iotide_server.accounts.rules import SESSION_COOKIE, Admin, Anyone, Person, caller_address
from iotide_server.accounts.schemas import (
    CredentialsInput,
    LinkInput,
    PasswordInput,
    RoleGrant,
    SessionState,
    SignInLink,
    Token,
    TokenCreated,
    TokenInput,
    User,
    UserChange,
    UserInput,
)
from iotide_server.kit.pagination import Page, Paging
from iotide_server.kit.web import Id, Now, Tx, errors

router = APIRouter(tags=["accounts"])


@router.post("/session/link", summary="Sign in by link", responses=errors(401))
def sign_in_by_link(
    _: Anyone, session: Tx, now: Now, request: Request, response: Response, body: LinkInput
) -> SessionState:
    """Spend a one-time link; the answer sets the session cookie."""
    signed_in = sessions.sign_in_by_link(session, body.token, caller_address(request), now)
    return _with_cookie(request, response, signed_in)


@router.post("/session", summary="Sign in", responses=errors(401))
def sign_in(
    _: Anyone, session: Tx, now: Now, request: Request, response: Response, body: CredentialsInput
) -> SessionState:
    """By name and password; the answer sets the session cookie."""
    address = caller_address(request)
    return _with_cookie(
        request, response, sessions.sign_in_by_password(session, body.name, body.password, address, now)
    )


@router.get("/session", summary="Show who is calling")
def get_session(principal: Person) -> SessionState:
    """The caller with their roles."""
    return SessionState.of(principal)


@router.delete("/session", summary="Sign out", status_code=204)
def sign_out(principal: Person, session: Tx, request: Request, response: Response) -> None:
    """End this browser's session."""
    sessions.sign_out(session, principal, request.cookies.get(SESSION_COOKIE))
    response.delete_cookie(SESSION_COOKIE)


@router.put("/session/password", summary="Set a password", status_code=204)
def set_password(principal: Person, session: Tx, request: Request, body: PasswordInput) -> None:
    """Set or change your own password; all your other sessions end."""
    secret = request.cookies.get(SESSION_COOKIE)
    sessions.set_password(session, principal, secret, body.old_password, body.new_password)


@router.get("/tokens", summary="List API tokens")
def list_tokens(
    principal: Person,
    session: Tx,
    paging: Paging,
    whose: Annotated[tokens.Whose, Query(description="`all`: for administrators of all clusters")] = "mine",
) -> Page[Token]:
    """Your own tokens or everybody's that were not revoked, expired ones too, newest first."""
    return tokens.list_tokens(session, principal, whose, paging).page(lambda row: Token.of(*row))


@router.post("/tokens", summary="Create an API token", status_code=201)
def create_token(principal: Person, session: Tx, now: Now, body: TokenInput) -> TokenCreated:
    """A token for programs, with your roles cut down to its scopes; made by a person in a browser only."""
    new = tokens.NewToken(body.name, body.scopes, body.expiry(now))
    token, owner, secret = tokens.create_token(session, principal, new, now)
    return TokenCreated(**Token.of(token, owner).model_dump(), token=secret)


@router.delete("/tokens/{token_id}", summary="Revoke an API token", status_code=204, responses=errors(404))
def revoke_token(principal: Person, session: Tx, now: Now, token_id: Id) -> None:
    """The token opens nothing from now on; one of somebody else's is revoked by an administrator of all clusters."""
    tokens.revoke_token(session, principal, token_id, now)


@router.get("/users", summary="List users")
def list_users(principal: Admin, session: Tx, now: Now, paging: Paging) -> Page[User]:
    """All people with their roles, newest first; for administrators of all clusters."""
    return service.list_users(session, principal, paging, now).page(User.of)


@router.post("/users", summary="Create a user", status_code=201, responses=errors(404, 409))
def create_user(principal: Admin, session: Tx, now: Now, body: UserInput) -> User:
    """A new person; make a sign-in link to let them in. For administrators of all clusters."""
    return User.of(service.create_user(session, principal, body.name, _grants(body.roles), now))


@router.put("/users/{user_id}", summary="Change a user", responses=errors(404, 409))
def change_user(principal: Admin, session: Tx, now: Now, request: Request, user_id: Id, body: UserChange) -> User:
    """Replace the roles, disable or enable; for administrators of all clusters, not for their own account.

    Who is disabled loses sessions, sign-in links and API tokens for good, and their schedules pause.
    """
    change = service.Change(_grants(body.roles), body.disabled, request.app.state.ends_with_user)
    return User.of(service.change_user(session, principal, user_id, change, now))


@router.post("/users/{user_id}/link", summary="Make a sign-in link", status_code=201, responses=errors(404, 409))
def make_sign_in_link(principal: Admin, session: Tx, now: Now, request: Request, user_id: Id) -> SignInLink:
    """A URL that signs another person in once, within a day; made by an administrator of all clusters in a browser."""
    return SignInLink(url=service.invite(session, principal, user_id, request.app.state.public_url, now))


def _with_cookie(request: Request, response: Response, signed_in: sessions.SignedIn) -> SessionState:
    response.set_cookie(
        SESSION_COOKIE,
        signed_in.secret,
        max_age=int(sessions.SESSION_LIFETIME.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=request.app.state.public_url.startswith("https:"),
    )
    return SessionState.of(signed_in.principal)


def _grants(roles: list[RoleGrant]) -> list[service.Grant]:
    return [service.Grant(role.cluster_id, role.role) for role in roles]
