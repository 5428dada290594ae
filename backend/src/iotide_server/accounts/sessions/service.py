"""Sign-in by link or password, and session management."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

import structlog
from sqlalchemy.orm import Session

from iotide_server.accounts import passwords, repository
from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.errors import (
    LINK_SPENT,
    OWN_ACCOUNT,
    PASSWORD_ELSEWHERE,
    PERSON_WANTED,
    SESSION_NOT_FOUND,
    USER_DISABLED,
    USER_NOT_FOUND,
    WRONG_CREDENTIALS,
)
from iotide_server.accounts.models import LoginLink, Role, RoleGrant, User, UserSession
from iotide_server.accounts.roles.authentication import session_ended, user_principal
from iotide_server.accounts.roles.principal import ANONYMOUS, Principal, PrincipalKind
from iotide_server.accounts.sessions import repository as session_repository
from iotide_server.accounts.sessions import throttle
from iotide_server.accounts.sessions.rotation import Browser, SessionTerms, exchange
from iotide_server.accounts.sessions.throttle import AttemptKind, SignInAttempt
from iotide_server.kit.db import Json
from iotide_server.kit.digests import digest, new_secret
from iotide_server.kit.errors import IotideError

LINK_LIFETIME: Final = timedelta(days=1)
FIRST_ADMIN: Final = "admin"
BegunBy = Literal["link", "password", "provider"]
Transaction = Callable[[], AbstractContextManager[Session]]
_LONGEST_BROWSER: Final = 300
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Visitor:
    browser: Browser
    terms: SessionTerms
    cookie: str | None = None  # ends, so that its secret is never reused


@dataclass(frozen=True, slots=True)
class NewSession:
    principal: Principal
    secret: str


def sign_in_by_link(session: Session, secret: str, visitor: Visitor, now: datetime) -> NewSession | IotideError:
    """Raise TOO_MANY_ATTEMPTS."""
    attempt = SignInAttempt(AttemptKind.LINK, visitor.browser.address)
    throttle.admit(session, attempt, now)
    user = repository.spend_link(session, digest(secret), now)
    if user is None:
        note_failure(session, attempt, None, now)
        return LINK_SPENT()
    return begin(session, user, visitor, now, by="link")


def sign_in_by_password(
    transaction: Transaction, name: str, password: str, visitor: Visitor, now: datetime
) -> NewSession | IotideError:
    """Return the session, or the reason for refusal, the same whether or not the user exists.

    No connection waits for hashing. The attempt counts as failed in advance, so that simultaneous ones all count.
    Raise TOO_MANY_ATTEMPTS without checking the password.
    """
    attempt = SignInAttempt(AttemptKind.PASSWORD, visitor.browser.address, name)
    with transaction() as session:
        throttle.admit(session, attempt, now)
        must_wait = throttle.note_failure(session, attempt, now)
        found = repository.user_by_name(session, name)
        user_id, stored = (None, None) if found is None else (found.id, found.password_hash)
    matches, renewed = passwords.matches(password, stored)
    with transaction() as session:
        user = None if user_id is None else session.get(User, user_id)
        if user is None or user.disabled_at is not None or not (matches and _is_still(user, stored, password)):
            _record_refusal(session, attempt, user, must_wait=must_wait)
            return WRONG_CREDENTIALS()
        if renewed is not None:
            user.password_hash = renewed
        throttle.forgive(session, attempt)
        return begin(session, user, visitor, now, by="password")


def _is_still(user: User, stored: str | None, password: str) -> bool:
    """Return whether the password is current, though another sign-in may have renewed its hash."""
    return user.password_hash == stored or passwords.matches(password, user.password_hash)[0]


def note_failure(session: Session, attempt: SignInAttempt, user: User | None, now: datetime) -> None:
    """Count a failure, and record it for known names. An unknown name may be a password."""
    _record_refusal(session, attempt, user, must_wait=throttle.note_failure(session, attempt, now))


def _record_refusal(session: Session, attempt: SignInAttempt, user: User | None, *, must_wait: bool) -> None:
    principal = replace(ANONYMOUS, address=attempt.address)
    name = user.name if user else None
    after: Json = {"by": attempt.kind.value, "name": name, "must_wait": must_wait}
    audit.record_refusal(session, principal, user.id if user else None, after)
    _log.info("sign_in_refused", by=attempt.kind.value, user_id=user and user.id, address=attempt.address)


def sign_out(session: Session, principal: Principal) -> bool:
    if principal.session_id is None or principal.user_id is None:
        return False
    row = session.get_one(UserSession, principal.session_id)
    session_repository.end_session(session, principal.user_id, principal.session_id)
    audit.record(session, principal, Action("signed_out", "user", principal.user_id, None))
    return row.begun_by == "provider"


def set_password(
    transaction: Transaction, principal: Principal, old: str | None, new: str, now: datetime
) -> str | IotideError:
    """Set a password, and end other sessions and links. Return the next secret, or why `old` is rejected."""
    # Hash and count like `sign_in_by_password`. Ignore `old` if no password is set.
    if principal.kind is not PrincipalKind.USER or principal.session_id is None:
        raise PERSON_WANTED(what="change a password")
    with transaction() as session:
        user = session.get_one(User, principal.user_id)
        if user.issuer is not None:
            raise PASSWORD_ELSEWHERE()
        attempt = SignInAttempt(AttemptKind.PASSWORD, principal.address, user.name)
        throttle.admit(session, attempt, now)
        stored = user.password_hash
        must_wait = stored is not None and throttle.note_failure(session, attempt, now)
    matches = stored is None or passwords.matches(old or "", stored)[0]
    hashed = passwords.hashed(new) if matches else None
    with transaction() as session:
        user = session.get_one(User, principal.user_id, with_for_update=True)
        if session.get(UserSession, principal.session_id, with_for_update=True) is None:
            raise session_ended()
        if hashed is None or not _is_still(user, stored, old or ""):
            _record_refusal(session, attempt, user, must_wait=must_wait)
            return WRONG_CREDENTIALS()
        user.password_hash = hashed
        if stored is not None:
            throttle.forgive(session, attempt)
        session_repository.end_sessions_of(session, user.id, keep_id=principal.session_id)
        repository.end_links(session, user.id)
        audit.record(session, principal, Action("password_changed", "user", user.id, None))
        return exchange(session, principal.session_id, now)


def make_link(session: Session, user_id: int, public_url: str, now: datetime) -> str:
    """Return a URL that signs the user in once, within a day. Raise USER_NOT_FOUND."""
    if session.get(User, user_id) is None:
        raise USER_NOT_FOUND(user_id=user_id)
    secret = new_secret()
    session.add(LoginLink(user_id=user_id, secret_sha256=digest(secret), expires_at=now + LINK_LIFETIME))
    # Neither logs nor Referer headers contain the fragment.
    return f"{public_url.rstrip('/')}/login#token={secret}"


def admin_link(session: Session, public_url: str, now: datetime) -> str:
    """Return a link for the first administrator, who is created if needed."""
    principal = console_principal(session, now)
    administrator = _first_administrator(session, now)
    audit.record(session, principal, Action("link_made", "user", administrator.id, None))
    return make_link(session, administrator.id, public_url, now)


def console_principal(session: Session, now: datetime) -> Principal:
    return user_principal(session, _first_administrator(session, now), address=None)


def first_admin_link(session: Session, public_url: str, now: datetime) -> str | None:
    """Return `admin_link`, or None after the first sign-in."""
    return None if repository.anyone_signed_in(session) else admin_link(session, public_url, now)


def forget_expired(session: Session, now: datetime) -> None:
    repository.delete_expired(session, now)
    session_repository.delete_attempts_before(session, now - throttle.WINDOW)


def begin(session: Session, user: User, visitor: Visitor, now: datetime, *, by: BegunBy) -> NewSession:
    if visitor.cookie is not None:
        session_repository.end_session_of_secret(session, digest(visitor.cookie), now)
    secret = new_secret()
    row = UserSession(
        user_id=user.id,
        secret_sha256=digest(secret),
        created_at=now,
        last_seen_at=now,
        rotated_at=now,
        expires_at=now + visitor.terms.lifetime,
        address=visitor.browser.address,
        browser=(visitor.browser.name or "")[:_LONGEST_BROWSER] or None,
        begun_by=by,
    )
    session.add(row)
    session.flush()
    principal = replace(user_principal(session, user, visitor.browser.address), session_id=row.id)
    audit.record(session, principal, Action("signed_in", "user", user.id, None, after={"by": by}))
    return NewSession(principal, secret)


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


def list_own(session: Session, principal: Principal, now: datetime, terms: SessionTerms) -> Sequence[UserSession]:
    """Raise PERSON_WANTED."""
    user_id = principal.require_person("see sessions")
    return session_repository.sessions_of(session, user_id, now, idle_since=now - terms.idle)


def end_own(session: Session, principal: Principal, session_id: int) -> None:
    """Raise PERSON_WANTED or SESSION_NOT_FOUND."""
    user_id = principal.require_person("end sessions")
    if not session_repository.end_session(session, user_id, session_id):
        raise SESSION_NOT_FOUND(session_id=session_id)
    audit.record(session, principal, Action("session_ended", "session", session_id, None))


def end_others(session: Session, principal: Principal) -> int:
    user_id = principal.require_person("end sessions")
    count = session_repository.end_sessions_of(session, user_id, keep_id=principal.session_id)
    audit.record(session, principal, Action("sessions_ended", "user", user_id, None, after={"count": count}))
    return count


def end_all_of(session: Session, principal: Principal, user_id: int) -> int:
    """Requires an administrator of all clusters. Raise USER_NOT_FOUND."""
    user = _require_user(session, principal, user_id)
    count = session_repository.end_sessions_of(session, user.id)
    audit.record(session, principal, Action("sessions_ended", "user", user.id, None, after={"count": count}))
    return count


def reset_password(session: Session, principal: Principal, user_id: int, public_url: str, now: datetime) -> str:
    """Raise PERSON_WANTED, OWN_ACCOUNT, USER_NOT_FOUND or USER_DISABLED."""
    user = _require_user(session, principal, user_id)
    principal.require_person("reset passwords")
    if user.id == principal.user_id:
        raise OWN_ACCOUNT(user_id=user_id, what="reset your own password")
    if user.disabled_at is not None:
        raise USER_DISABLED(name=user.name)
    had_password = user.password_hash is not None
    user.password_hash = None
    repository.end_access(session, user.id)
    before = {"has_password": had_password}
    audit.record(session, principal, Action("password_reset", "user", user.id, None, before, {"has_password": False}))
    return make_link(session, user.id, public_url, now)


def _require_user(session: Session, principal: Principal, user_id: int) -> User:
    principal.require(Role.ADMIN, None)
    user = session.get(User, user_id)
    if user is None:
        raise USER_NOT_FOUND(user_id=user_id)
    return user
