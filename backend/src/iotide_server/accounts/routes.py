"""API of users and API tokens."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from iotide_server.accounts import service
from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Admin, Person
from iotide_server.accounts.schemas import (
    LoginInput,
    SignInLink,
    Token,
    TokenCreated,
    TokenInput,
    UserChange,
    UserInput,
    UserOutput,
)
from iotide_server.accounts.service import ENDS_WITH_USER
from iotide_server.accounts.tokens import service as tokens
from iotide_server.kit.pagination import Page, Paging
from iotide_server.kit.web import PUBLIC_URL, Id, Now, Tx, errors

router = APIRouter(tags=["accounts"], route_class=KnownCallerRoute)


@router.get("/tokens", summary="List API tokens")
def list_tokens(
    principal: Person,
    session: Tx,
    paging: Paging,
    whose: Annotated[tokens.TokenOwners, Query(description="`all` requires an administrator of all clusters")] = "mine",
) -> Page[Token]:
    """Tokens that were not revoked, including expired ones, newest first."""
    return tokens.list_tokens(session, principal, whose, paging)


@router.post("/tokens", summary="Create an API token", status_code=201)
def create_token(principal: Person, session: Tx, now: Now, body: TokenInput) -> TokenCreated:
    """Create a token with your roles, limited to its scopes. Requires a browser session."""
    return tokens.create_token(session, principal, body, now)


@router.post("/tokens/login", summary="Confirm a login of the command", status_code=201, responses=errors(409))
def confirm_login(principal: Person, session: Tx, now: Now, body: LoginInput) -> Token:
    """Make the secret that `iotide login` chose an API token of yours, once. Requires a browser session."""
    return tokens.confirm_login(session, principal, body, now)


@router.delete("/tokens/{token_id}", summary="Revoke an API token", status_code=204, responses=errors(404))
def revoke_token(principal: Person, session: Tx, now: Now, token_id: Id) -> None:
    """Revoke a token at once. Administrators of all clusters may revoke other users' tokens."""
    tokens.revoke_token(session, principal, token_id, now)


@router.get("/users", summary="List users")
def list_users(principal: Admin, session: Tx, now: Now, paging: Paging) -> Page[UserOutput]:
    """Users with their roles, newest first. Requires an administrator of all clusters."""
    return service.list_users(session, principal, paging, now)


@router.post("/users", summary="Create a user", status_code=201, responses=errors(404, 409))
def create_user(principal: Admin, session: Tx, now: Now, body: UserInput) -> UserOutput:
    """Create a user. Make a sign-in link to give them access. Requires an administrator of all clusters."""
    return service.create_user(session, principal, body, now)


@router.put("/users/{user_id}", summary="Change a user", responses=errors(404, 409))
def change_user(principal: Admin, session: Tx, now: Now, request: Request, user_id: Id, body: UserChange) -> UserOutput:
    """Replace roles, disable or enable another user. Requires an administrator of all clusters.

    Disabling a user permanently ends their sessions, sign-in links and API tokens, and pauses their schedules.
    """
    change = service.AccountChange(body, ENDS_WITH_USER.of(request.app.state))
    return service.change_user(session, principal, user_id, change, now)


@router.post("/users/{user_id}/link", summary="Make a sign-in link", status_code=201, responses=errors(404, 409))
def make_sign_in_link(principal: Admin, session: Tx, now: Now, request: Request, user_id: Id) -> SignInLink:
    """Create a URL that signs another user in once, within a day.

    Requires an administrator of all clusters in a browser.
    """
    return SignInLink(url=service.invite(session, principal, user_id, PUBLIC_URL.of(request.app.state), now))
