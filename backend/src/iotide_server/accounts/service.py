"""User management for administrators of all clusters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts import repository
from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.errors import (
    GRANTED_CLUSTER_NOT_FOUND,
    OWN_ACCOUNT,
    USER_DISABLED,
    USER_NAME_TAKEN,
    USER_NOT_FOUND,
)
from iotide_server.accounts.models import GrantSource, Role, RoleGrant, User
from iotide_server.accounts.roles.principal import Principal
from iotide_server.accounts.schemas import RoleGrantOutput, UserChange, UserInput, UserOutput, roles_by
from iotide_server.accounts.sessions import service as sessions
from iotide_server.accounts.tokens import service as tokens
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.db import Json, savepoint
from iotide_server.kit.pagination import Page, PageRequest

ENDS_WITH_USER: Final[AppValue["Ending"]] = AppValue("ends_with_user")

Ending = Callable[[Session, Principal, int], None]


@dataclass(frozen=True, slots=True)
class AccountChange:
    wanted: UserChange
    ends_too: Ending


def list_users(session: Session, principal: Principal, paging: PageRequest, now: datetime) -> Page[UserOutput]:
    """Requires an administrator of all clusters."""
    principal.require(Role.ADMIN, None)
    page = repository.users(session, paging)
    return Page(items=shown_users(session, page.rows, now), next_cursor=page.next_cursor)


def shown_users(session: Session, users: Sequence[User], now: datetime) -> list[UserOutput]:
    ids = [user.id for user in users]
    grants, standings = repository.grants_of(session, ids), repository.standings(session, ids, now)
    return [UserOutput.of(user, grants[user.id], standings[user.id]) for user in users]


def create_user(session: Session, principal: Principal, wanted: UserInput, now: datetime) -> UserOutput:
    """Raise USER_NAME_TAKEN or GRANTED_CLUSTER_NOT_FOUND."""
    principal.require(Role.ADMIN, None)
    user = User(name=wanted.name, created_at=now)
    with savepoint(session, USER_NAME_TAKEN(name=wanted.name)):
        session.add(user)
    _replace_grants(session, user.id, wanted.roles)
    after: Json = {"name": user.name, "roles": _shown(wanted.roles)}
    audit.record(session, principal, Action("user_created", "user", user.id, None, after=after))
    return shown_users(session, [user], now)[0]


def change_user(
    session: Session, principal: Principal, user_id: int, change: AccountChange, now: datetime
) -> UserOutput:
    """Raise USER_NOT_FOUND, OWN_ACCOUNT or GRANTED_CLUSTER_NOT_FOUND."""
    principal.require(Role.ADMIN, None)
    user = repository.locked_user(session, user_id)
    if user is None:
        raise USER_NOT_FOUND(user_id=user_id)
    if user.id == principal.user_id:
        raise OWN_ACCOUNT(user_id=user_id, what="change your own roles or disable yourself")
    held = roles_by(GrantSource.LOCAL, repository.grants(session, user.id))
    roles, is_disabled = change.wanted.roles, change.wanted.disabled
    before: Json = {"name": user.name, "roles": _shown(held), "disabled": user.disabled_at is not None}
    _replace_grants(session, user.id, roles)
    after: Json = {"name": user.name, "roles": _shown(roles), "disabled": is_disabled}
    audit.record(session, principal, Action("user_changed", "user", user.id, None, before=before, after=after))
    if is_disabled and user.disabled_at is None:
        user.disabled_at = now
        _shut_out(session, principal, user, change.ends_too, now)
    elif not is_disabled:
        user.disabled_at = None
    session.flush()
    return shown_users(session, [user], now)[0]


def _shut_out(session: Session, principal: Principal, user: User, ends_too: Ending, now: datetime) -> None:
    session_count = repository.end_access(session, user.id)
    if session_count:
        ended = Action("sessions_ended", "user", user.id, None, {"sessions": session_count}, {"sessions": 0})
        audit.record(session, principal, ended)
    tokens.revoke_all(session, principal, user, repository.unrevoked(session, user.id), now)
    ends_too(session, principal, user.id)


def invite(session: Session, principal: Principal, user_id: int, public_url: str, now: datetime) -> str:
    """Raise PERSON_WANTED, OWN_ACCOUNT, USER_NOT_FOUND or USER_DISABLED."""
    principal.require(Role.ADMIN, None)
    principal.require_person("make sign-in links")
    if user_id == principal.user_id:
        raise OWN_ACCOUNT(user_id=user_id, what="make a sign-in link for yourself")
    user = session.get(User, user_id)
    if user is None:
        raise USER_NOT_FOUND(user_id=user_id)
    return link_for(session, principal, user, public_url, now)


def link_for(session: Session, principal: Principal, user: User, public_url: str, now: datetime) -> str:
    """Return a sign-in link without checking permissions. Raise USER_DISABLED."""
    if user.disabled_at is not None:
        raise USER_DISABLED(name=user.name)
    link = sessions.make_link(session, user.id, public_url, now)
    after = {"name": user.name, "expires_at": (now + sessions.LINK_LIFETIME).isoformat()}
    audit.record(session, principal, Action("link_made", "user", user.id, None, after=after))
    return link


def _replace_grants(session: Session, user_id: int, grants: list[RoleGrantOutput]) -> list[RoleGrant]:
    named = {grant.cluster_id for grant in grants if grant.cluster_id is not None}
    unknown = named - repository.existing_clusters(session, named)
    if unknown:
        raise GRANTED_CLUSTER_NOT_FOUND(cluster_ids=unknown, lowest=min(unknown))
    return repository.replace_grants(session, user_id, {grant.cluster_id: grant.role for grant in grants})


def _shown(grants: list[RoleGrantOutput]) -> list[Json]:
    return [grant.model_dump(mode="json") for grant in grants]


def member(session: Session, name: str, cluster_id: int) -> int | None:
    user = repository.user_by_name(session, name)
    if user is None or user.disabled_at is not None:
        return None
    may_see = any(grant.cluster_id in {None, cluster_id} for grant in repository.grants(session, user.id))
    return user.id if may_see else None
