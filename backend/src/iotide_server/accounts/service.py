"""API tokens, users with their roles, and the reading of the audit."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from iotide_server.accounts import audit, repository, session_repository, sessions
from iotide_server.accounts.audit import Action
from iotide_server.accounts.authentication import API_TOKEN_PREFIX, Scope
from iotide_server.accounts.errors import (
    ExpiryPassedError,
    GrantOfUnknownClusterError,
    OwnAccountError,
    PersonWantedError,
    TokenNotFoundError,
    UserNameTakenError,
    UserNotFoundError,
)
from iotide_server.accounts.models import ApiToken, AuditEntry, GrantSource, Role, RoleGrant, User
from iotide_server.accounts.principal import Principal, PrincipalKind
from iotide_server.accounts.secret import digest, new_secret
from iotide_server.kit.db import Json
from iotide_server.kit.pagination import PageRequest, Slice


@dataclass(frozen=True, slots=True)
class Grant:
    """A role in one cluster, or in all where `cluster_id` is None."""

    cluster_id: int | None
    role: Role


@dataclass(frozen=True, slots=True)
class NewToken:
    """An API token to be made; without `expires_at` it opens things until it is revoked."""

    name: str
    scopes: list[Scope]
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class UserWithGrants:
    """A user and their roles."""

    user: User
    grants: list[RoleGrant]


def list_tokens(session: Session, principal: Principal, paging: PageRequest) -> Slice[ApiToken]:
    """The caller's tokens that were not revoked."""
    return repository.tokens_of(session, principal.user_id, paging)


def create_token(session: Session, principal: Principal, new: NewToken, now: datetime) -> tuple[ApiToken, str]:
    """A token that can do what its owner may, cut down to its scopes; the secret is only known here.

    Raises:
        PersonWantedError: the caller is a program; a token makes no stronger one.
        ExpiryPassedError: it would open nothing from the beginning.
    """
    if principal.kind is not PrincipalKind.USER or principal.user_id is None:
        raise PersonWantedError("make API tokens")
    if new.expires_at is not None and new.expires_at <= now:
        raise ExpiryPassedError(new.expires_at)
    secret = new_secret(API_TOKEN_PREFIX)
    token = ApiToken(
        user_id=principal.user_id,
        name=new.name,
        secret_sha256=digest(secret),
        scopes=new.scopes,
        expires_at=new.expires_at,
    )
    session.add(token)
    session.flush()
    expires_at = new.expires_at.isoformat() if new.expires_at else None
    after: Json = {"name": new.name, "scopes": new.scopes, "expires_at": expires_at}
    audit.record(session, principal, Action("token_created", "token", token.id, None, after=after))
    return token, secret


def revoke_token(session: Session, principal: Principal, token_id: int, now: datetime) -> None:
    """From now on the token opens nothing.

    Raises:
        PersonWantedError: the caller is a program.
        TokenNotFoundError: the caller has no such token.
    """
    if principal.kind is not PrincipalKind.USER:
        raise PersonWantedError("revoke API tokens")
    token = session.get(ApiToken, token_id)
    if token is None or token.user_id != principal.user_id or token.revoked_at is not None:
        raise TokenNotFoundError(token_id)
    token.revoked_at = now
    audit.record(session, principal, Action("token_revoked", "token", token.id, None, before={"name": token.name}))


def list_users(session: Session, principal: Principal, paging: PageRequest) -> Slice[UserWithGrants]:
    """All users with their roles; only for administrators of all clusters."""
    principal.require(Role.ADMIN, None)
    page = repository.users(session, paging)
    grants = repository.grants_of(session, [user.id for user in page.rows])
    return Slice([UserWithGrants(user, grants[user.id]) for user in page.rows], page.next_cursor)


def create_user(session: Session, principal: Principal, name: str, grants: list[Grant]) -> UserWithGrants:
    """A new person; a sign-in link (`sessions.make_link`) lets them in.

    Raises:
        UserNameTakenError: the name is in use.
        GrantOfUnknownClusterError: a role names a cluster that does not exist.
    """
    principal.require(Role.ADMIN, None)
    user = User(name=name)
    try:
        with session.begin_nested():
            session.add(user)
    except IntegrityError as error:
        raise UserNameTakenError(name) from error
    rows = _replace_grants(session, user.id, grants)
    after: Json = {"name": name, "roles": _shown(grants)}
    audit.record(session, principal, Action("user_created", "user", user.id, None, after=after))
    return UserWithGrants(user, rows)


def change_user(
    session: Session, principal: Principal, user_id: int, grants: list[Grant], disabled_at: datetime | None
) -> UserWithGrants:
    """Replace the roles that administrators gave; a user who is disabled loses all sessions, and tokens open nothing.

    Raises:
        UserNotFoundError: there is no such user.
        OwnAccountError: it is the caller.
        GrantOfUnknownClusterError: a role names a cluster that does not exist.
    """
    principal.require(Role.ADMIN, None)
    user = session.get(User, user_id)
    if user is None:
        raise UserNotFoundError(user_id)
    if user.id == principal.user_id:
        raise OwnAccountError(user_id, "change your own roles or disable yourself")
    held = [
        Grant(row.cluster_id, Role(row.role))
        for row in repository.grants(session, user.id)
        if row.source == GrantSource.LOCAL
    ]
    before: Json = {"roles": _shown(held), "disabled": user.disabled_at is not None}
    rows = _replace_grants(session, user.id, grants)
    user.disabled_at = disabled_at
    if disabled_at is not None:
        # They are refused anyway while disabled, and none comes to life again afterwards.
        session_repository.end_sessions_of(session, user.id)
    after: Json = {"roles": _shown(grants), "disabled": disabled_at is not None}
    audit.record(session, principal, Action("user_changed", "user", user.id, None, before=before, after=after))
    return UserWithGrants(user, rows)


def invite(session: Session, principal: Principal, user_id: int, public_url: str, now: datetime) -> str:
    """A sign-in link for another user; only for administrators of all clusters.

    Raises:
        PersonWantedError: the caller is a program; a link gives a session, which can do more than a token.
        OwnAccountError: it is the caller.
        UserNotFoundError: there is no such user.
    """
    principal.require(Role.ADMIN, None)
    if principal.kind is not PrincipalKind.USER:
        raise PersonWantedError("make sign-in links")
    if user_id == principal.user_id:
        raise OwnAccountError(user_id, "make a sign-in link for yourself")
    link = sessions.make_link(session, user_id, public_url, now)
    audit.record(session, principal, Action("link_made", "user", user_id, None))
    return link


def list_audit(
    session: Session, principal: Principal, cluster_id: int | None, paging: PageRequest
) -> Slice[AuditEntry]:
    """What was done in the clusters that the caller administers; the rest too for administrators of all."""
    if cluster_id is not None:
        principal.require(Role.ADMIN, cluster_id)
        return repository.audit_entries(session, frozenset({cluster_id}), paging)
    return repository.audit_entries(session, principal.clusters_with(Role.ADMIN), paging)


def _replace_grants(session: Session, user_id: int, grants: list[Grant]) -> list[RoleGrant]:
    named = {grant.cluster_id for grant in grants if grant.cluster_id is not None}
    unknown = named - repository.existing_clusters(session, named)
    if unknown:
        raise GrantOfUnknownClusterError(list(unknown))
    return repository.replace_grants(session, user_id, {grant.cluster_id: grant.role for grant in grants})


def _shown(grants: list[Grant]) -> list[Json]:
    return [{"cluster_id": grant.cluster_id, "role": grant.role.value} for grant in grants]


def member(session: Session, name: str, cluster_id: int) -> int | None:
    """The id of the enabled user of that name who may see the cluster; None: there is none."""
    user = repository.user_by_name(session, name)
    if user is None or user.disabled_at is not None:
        return None
    may_see = any(grant.cluster_id in {None, cluster_id} for grant in repository.grants(session, user.id))
    return user.id if may_see else None
