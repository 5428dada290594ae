import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import structlog
from sqlalchemy.orm import Session

from iotide_server.accounts import repository
from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import GrantSource, Role, User
from iotide_server.accounts.oidc.errors import ACCOUNT_DISABLED, NO_ROLE
from iotide_server.accounts.oidc.terms import OidcTerms, groups_in, roles_of
from iotide_server.accounts.roles.principal import ANONYMOUS
from iotide_server.accounts.sessions import repository as session_repository
from iotide_server.accounts.sessions import service as sessions
from iotide_server.accounts.sessions.service import NewSession, Visitor
from iotide_server.kit.db import Json
from iotide_server.kit.errors import IotideError

_LONGEST_NAME: Final = 40
_NAMELESS: Final = "person"
_log = structlog.get_logger(__name__)


def sign_in(
    session: Session,
    claims: Mapping[str, Any],
    oidc: OidcTerms,
    visitor: Visitor,
    now: datetime,
) -> NewSession | IotideError:
    """Return a session, or the reason for refusal. Revoked roles are removed in both cases."""
    # Never take over a local user with the same name or mail address.
    session_repository.hold(session, [f"{oidc.issuer} {claims['sub']}"])
    groups = groups_in(claims, oidc.roles_claim) or frozenset()
    given = _by_cluster_id(session, roles_of(groups, oidc.roles))
    user = repository.user_of_provider(session, oidc.issuer, claims["sub"])
    if user is None and not given and not oidc.admits_without_role:
        return _refused(session, None, visitor)
    if user is None:
        user = User(
            name=repository.free_name(session, wanted_name(claims)),
            created_at=now,
            issuer=oidc.issuer,
            subject=claims["sub"],
        )
        session.add(user)
        session.flush()
        _note(session, user, visitor, Action("user_created", "user", user.id, None, after=_shown(user, {})))
    if user.disabled_at is not None:
        _note_refusal(session, user, visitor, "account_disabled")
        return ACCOUNT_DISABLED()
    if not _renew(session, user, given, visitor) and not oidc.admits_without_role:
        return _refused(session, user, visitor)
    return sessions.begin(session, user, visitor, now, by="provider")


def wanted_name(claims: Mapping[str, Any]) -> str:
    for claim in ("preferred_username", "nickname", "email", "name"):
        claimed = claims.get(claim)
        if isinstance(claimed, str):
            name = re.sub(r"[^A-Za-z0-9._-]+", "-", claimed.partition("@")[0]).lstrip("._-")[:_LONGEST_NAME].rstrip("-")
            if name:
                return name
    return _NAMELESS


def _by_cluster_id(session: Session, roles: Mapping[str | None, Role]) -> dict[int | None, Role]:
    names = {name for name in roles if name is not None}
    ids = repository.clusters_named(session, names)
    for name in sorted(names - ids.keys()):
        _log.warning("role_for_unknown_cluster", cluster=name)
    return {None if name is None else ids[name]: role for name, role in roles.items() if name is None or name in ids}


def _renew(session: Session, user: User, given: Mapping[int | None, Role], visitor: Visitor) -> bool:
    """Return whether the user has any role."""
    grants = repository.grants(session, user.id)
    held = {row.cluster_id: Role(row.role) for row in grants if row.source == GrantSource.PROVIDER}
    if held != given:
        grants = repository.replace_grants(session, user.id, given, GrantSource.PROVIDER)
        action = Action("roles_renewed", "user", user.id, None, _shown(user, held), _shown(user, given))
        _note(session, user, visitor, action)
    return bool(grants)


def _refused(session: Session, user: User | None, visitor: Visitor) -> IotideError:
    if user is not None:
        session_repository.end_sessions_of(session, user.id)
    _note_refusal(session, user, visitor, "no_role")
    return NO_ROLE()


def _note_refusal(session: Session, user: User | None, visitor: Visitor, why: str) -> None:
    principal = replace(ANONYMOUS, address=visitor.browser.address)
    audit.record_refusal(session, principal, user.id if user else None, {"by": "provider", "why": why})


def _note(session: Session, user: User, visitor: Visitor, action: Action) -> None:
    principal = replace(ANONYMOUS, name=f"{user.name} (by the provider)", address=visitor.browser.address)
    audit.record(session, principal, action)


def _shown(user: User, roles: Mapping[int | None, Role]) -> Json:
    return {
        "name": user.name,
        "roles": [{"cluster_id": cluster_id, "role": role.value} for cluster_id, role in roles.items()],
    }
