"""Routes of accounts: API tokens, users and the audit."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from iotide_server.accounts import service
from iotide_server.accounts.rules import Admin, Person
from iotide_server.accounts.schemas import (
    AuditEntry,
    RoleGrant,
    SignInLink,
    Token,
    TokenCreated,
    TokenInput,
    User,
    UserChange,
    UserInput,
)
from iotide_server.kit.pagination import LARGEST_ID, Page, Paging
from iotide_server.kit.web import Id, Now, Tx, errors

router = APIRouter(tags=["accounts"])


@router.get("/tokens", summary="List API tokens")
def list_tokens(principal: Person, session: Tx, paging: Paging) -> Page[Token]:
    """Your own tokens, newest first."""
    return service.list_tokens(session, principal, paging).page(Token.of)


@router.post("/tokens", summary="Create an API token", status_code=201)
def create_token(principal: Person, session: Tx, now: Now, body: TokenInput) -> TokenCreated:
    """A token for programs, with your roles cut down to its scopes; made by a person in a browser only."""
    new = service.NewToken(body.name, body.scopes, body.expires_at)
    token, secret = service.create_token(session, principal, new, now)
    return TokenCreated(**Token.of(token).model_dump(), token=secret)


@router.delete("/tokens/{token_id}", summary="Revoke an API token", status_code=204, responses=errors(404))
def revoke_token(principal: Person, session: Tx, now: Now, token_id: Id) -> None:
    """The token opens nothing from now on."""
    service.revoke_token(session, principal, token_id, now)


@router.get("/users", summary="List users")
def list_users(principal: Admin, session: Tx, paging: Paging) -> Page[User]:
    """All people with their roles, newest first; for administrators of all clusters."""
    return service.list_users(session, principal, paging).page(User.of)


@router.post("/users", summary="Create a user", status_code=201, responses=errors(404, 409))
def create_user(principal: Admin, session: Tx, body: UserInput) -> User:
    """A new person; make a sign-in link to let them in. For administrators of all clusters."""
    return User.of(service.create_user(session, principal, body.name, _grants(body.roles)))


@router.put("/users/{user_id}", summary="Change a user", responses=errors(404, 409))
def change_user(principal: Admin, session: Tx, now: Now, user_id: Id, body: UserChange) -> User:
    """Replace the roles, disable or enable; for administrators of all clusters, not for their own account."""
    disabled_at = now if body.disabled else None
    return User.of(service.change_user(session, principal, user_id, _grants(body.roles), disabled_at))


@router.post("/users/{user_id}/link", summary="Make a sign-in link", status_code=201, responses=errors(404, 409))
def make_sign_in_link(principal: Admin, session: Tx, now: Now, request: Request, user_id: Id) -> SignInLink:
    """A URL that signs another person in once, within a day; made by an administrator of all clusters in a browser."""
    return SignInLink(url=service.invite(session, principal, user_id, request.app.state.public_url, now))


@router.get("/audit", summary="List changes", responses=errors(404))
def list_audit(
    principal: Admin,
    session: Tx,
    paging: Paging,
    cluster_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Only changes in this cluster")] = None,
) -> Page[AuditEntry]:
    """Who changed what in the clusters that you administer, newest first."""
    return service.list_audit(session, principal, cluster_id, paging).page(AuditEntry.of)


def _grants(roles: list[RoleGrant]) -> list[service.Grant]:
    return [service.Grant(role.cluster_id, role.role) for role in roles]
