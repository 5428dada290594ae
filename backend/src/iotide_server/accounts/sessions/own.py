"""The list of one's own sessions, and how sessions are ended from elsewhere."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts import repository
from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.errors import (
    OWN_ACCOUNT,
    SESSION_NOT_FOUND,
    USER_DISABLED,
    USER_NOT_FOUND,
)
from iotide_server.accounts.models import Role, User, UserSession
from iotide_server.accounts.roles.principal import Principal
from iotide_server.accounts.sessions import repository as session_repository
from iotide_server.accounts.sessions import service as sessions
from iotide_server.accounts.sessions.rotation import SessionTerms


def list_own(session: Session, principal: Principal, now: datetime, terms: SessionTerms) -> Sequence[UserSession]:
    """Return the caller's open sessions, the one last seen first; raise PERSON_WANTED for a program."""
    user_id = principal.require_person("see sessions")
    return session_repository.sessions_of(session, user_id, now, idle_since=now - terms.idle)


def end_own(session: Session, principal: Principal, session_id: int) -> None:
    """End one of the caller's sessions; raise PERSON_WANTED for a program, or SESSION_NOT_FOUND."""
    user_id = principal.require_person("end sessions")
    if not session_repository.end_session(session, user_id, session_id):
        raise SESSION_NOT_FOUND(session_id=session_id)
    audit.record(session, principal, Action("session_ended", "session", session_id, None))


def end_others(session: Session, principal: Principal) -> int:
    """End all of the caller's sessions but this one and count them; raise PERSON_WANTED for a program."""
    user_id = principal.require_person("end sessions")
    count = session_repository.end_sessions_of(session, user_id, keep_id=principal.session_id)
    audit.record(session, principal, Action("sessions_ended", "user", user_id, None, after={"count": count}))
    return count


def end_all_of(session: Session, principal: Principal, user_id: int) -> int:
    """End all sessions of a user and count them, for administrators of all clusters; raise USER_NOT_FOUND."""
    user = _require_user(session, principal, user_id)
    count = session_repository.end_sessions_of(session, user.id)
    audit.record(session, principal, Action("sessions_ended", "user", user.id, None, after={"count": count}))
    return count


def reset_password(session: Session, principal: Principal, user_id: int, public_url: str, now: datetime) -> str:
    """Return a link to set another password; raise PERSON_WANTED, OWN_ACCOUNT, USER_NOT_FOUND or USER_DISABLED."""
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
    return sessions.make_link(session, user.id, public_url, now)


def _require_user(session: Session, principal: Principal, user_id: int) -> User:
    principal.require(Role.ADMIN, None)
    user = session.get(User, user_id)
    if user is None:
        raise USER_NOT_FOUND(user_id=user_id)
    return user
