"""How people sign in: by a one-time link or by name and password, and what their browser then holds."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Final

import structlog
from pwdlib import PasswordHash
from sqlalchemy.orm import Session

from iotide_server.accounts import audit, repository
from iotide_server.accounts.audit import Action
from iotide_server.accounts.authentication import digest, new_secret, user_principal
from iotide_server.accounts.errors import LinkSpentError, PersonWantedError, UserNotFoundError, WrongCredentialsError
from iotide_server.accounts.models import LoginLink, Role, RoleGrant, User, UserSession
from iotide_server.accounts.principal import Principal, PrincipalKind

SESSION_LIFETIME: Final = timedelta(days=30)
LINK_LIFETIME: Final = timedelta(days=1)
FIRST_ADMIN: Final = "admin"
_log = structlog.get_logger(__name__)
_passwords = PasswordHash.recommended()


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A new session: who it is, and the secret for the browser's cookie."""

    principal: Principal
    secret: str


def sign_in_by_link(session: Session, secret: str, address: str | None, now: datetime) -> SignedIn:
    """Spend a one-time link.

    Raises:
        LinkSpentError: unknown, expired or used before, or its user is disabled.
    """
    user = repository.spend_link(session, digest(secret), now)
    if user is None:
        raise LinkSpentError
    return _begin(session, user, address, now, how="link")


def sign_in_by_password(session: Session, name: str, password: str, address: str | None, now: datetime) -> SignedIn:
    """Check name and password, in the same time and with the same answer whether or not there is such a user.

    Raises:
        WrongCredentialsError: they do not belong together.
    """
    user = repository.user_by_name(session, name)
    stored = user.password_hash if user else None
    matches, renewed = _passwords.verify_and_update(password, stored or _hash_of_nobody())
    if user is None or stored is None or user.disabled_at is not None or not matches:
        _log.info("sign_in_refused", name=name, address=address)
        raise WrongCredentialsError
    if renewed is not None:
        user.password_hash = renewed
    return _begin(session, user, address, now, how="password")


def sign_out(session: Session, principal: Principal, secret: str | None) -> None:
    """End the session of that cookie."""
    if secret is not None and principal.kind is PrincipalKind.USER and principal.id is not None:
        repository.end_session(session, digest(secret))
        audit.record(session, principal, Action("signed_out", "user", principal.id, None))


def set_password(session: Session, principal: Principal, secret: str | None, old: str | None, new: str) -> None:
    """Give the caller a new password and end all of their other sessions.

    Args:
        secret: the cookie of the session that goes on.
        old: the password so far; not looked at when there is none.

    Raises:
        PersonWantedError: the caller is a program.
        WrongCredentialsError: `old` is not the password.
    """
    user = session.get(User, principal.user_id) if principal.kind is PrincipalKind.USER else None
    if user is None or secret is None:
        raise PersonWantedError("change a password")
    if user.password_hash is not None and not _passwords.verify(old or "", user.password_hash):
        raise WrongCredentialsError
    user.password_hash = _passwords.hash(new)
    repository.end_sessions_of(session, user.id, keep_sha256=digest(secret))
    audit.record(session, principal, Action("password_changed", "user", user.id, None))


def make_link(session: Session, user_id: int, public_url: str, now: datetime) -> str:
    """A URL that signs the user in once, within a day.

    Raises:
        UserNotFoundError: there is no such user.
    """
    if session.get(User, user_id) is None:
        raise UserNotFoundError(user_id)
    secret = new_secret()
    session.add(LoginLink(user_id=user_id, secret_sha256=digest(secret), expires_at=now + LINK_LIFETIME))
    # Behind the hash sign it reaches no log and no Referer header.
    return f"{public_url.rstrip('/')}/login#token={secret}"


def admin_link(session: Session, public_url: str, now: datetime) -> str:
    """A sign-in link for the first administrator of all clusters, who is made when there is none."""
    principal = console_principal(session, now)
    administrator = _first_administrator(session, now)
    audit.record(session, principal, Action("link_made", "user", administrator.id, None))
    return make_link(session, administrator.id, public_url, now)


def console_principal(session: Session, now: datetime) -> Principal:
    """Whoever may read the server's settings acts as the first administrator, who is made when there is none."""
    return user_principal(session, _first_administrator(session, now), address=None)


def first_admin_link(session: Session, public_url: str, now: datetime) -> str | None:
    """As `admin_link`, until somebody has signed in for the first time; from then on None."""
    return None if repository.anyone_signed_in(session) else admin_link(session, public_url, now)


def forget_expired(session: Session, now: datetime) -> None:
    """Delete sessions and links that open nothing any more; the scheduler calls it now and then."""
    repository.delete_expired(session, now)


def _first_administrator(session: Session, now: datetime) -> User:
    user = repository.first_administrator(session)
    if user is None:
        user = User(name=repository.free_name(session, FIRST_ADMIN), created_at=now)
        session.add(user)
        session.flush()
        session.add(RoleGrant(user_id=user.id, cluster_id=None, role=Role.ADMIN))
        session.flush()
        after = {"name": user.name, "roles": [{"cluster_id": None, "role": Role.ADMIN.value}]}
        principal = user_principal(session, user, address=None)
        audit.record(session, principal, Action("user_created", "user", user.id, None, after=after))
    return user


def _begin(session: Session, user: User, address: str | None, now: datetime, *, how: str) -> SignedIn:
    secret = new_secret()
    session.add(
        UserSession(
            user_id=user.id,
            secret_sha256=digest(secret),
            created_at=now,
            last_seen_at=now,
            expires_at=now + SESSION_LIFETIME,
        )
    )
    principal = user_principal(session, user, address)
    audit.record(session, principal, Action("signed_in", "user", user.id, None, after={"by": how}))
    return SignedIn(principal, secret)


@cache
def _hash_of_nobody() -> str:
    """What the password of an unknown user is compared with, so that it takes as long as a known one's."""
    return _passwords.hash(new_secret())
