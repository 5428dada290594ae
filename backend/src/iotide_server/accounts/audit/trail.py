"""Records every change in the audit log and, on commit, in the server's log."""

from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.accounts.models import AuditEntry, User
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.kit.db import Json, after_commit

_log = structlog.get_logger(__name__)


class Subject(Protocol):
    __tablename__: Any
    id: Any
    cluster_id: Any


@dataclass(frozen=True, slots=True)
class Action:
    name: str  # past tense: `cluster_created`
    subject_kind: str
    subject_id: int
    cluster_id: int | None  # whose administrators may read the entry; None: administrators of all clusters
    # before, after: changed fields, without secrets
    before: Json | None = None
    after: Json | None = None

    @classmethod
    def on(cls, name: str, row: Subject, before: Json | None = None, after: Json | None = None) -> Self:
        return cls(name, row.__tablename__, row.id, row.cluster_id, before, after)


def record(session: Session, principal: Principal, action: Action) -> None:
    action = _named(session, action)
    entry = _entry(principal, action.name, action.subject_kind, action.subject_id)
    entry.cluster_id, entry.before, entry.after = action.cluster_id, action.before, action.after
    session.add(entry)
    logged = {f"{action.subject_kind}_id": action.subject_id, "cluster_id": action.cluster_id, "by": principal.name}
    after_commit(session, lambda: _log.info(action.name, **logged))


def actor_of(session: Session, name: str, subject_kind: str, subject_id: int) -> Principal | None:
    """Return who did something, without rights, for an action that follows from it; None if its entry is gone."""
    same = (AuditEntry.action == name, AuditEntry.subject_kind == subject_kind, AuditEntry.subject_id == subject_id)
    found = session.scalar(select(AuditEntry).where(*same).order_by(AuditEntry.id).limit(1))
    if found is None:
        return None
    return Principal(PrincipalKind(found.principal_kind), found.principal_id, found.principal_name)


def record_refusal(session: Session, principal: Principal, user_id: int | None, after: Json) -> None:
    """Record a failed sign-in, without `user_id` if the name is unknown."""
    entry = _entry(principal, "sign_in_refused", "user", user_id)
    entry.after = _name_of(session, user_id) | after
    session.add(entry)


def _named(session: Session, action: Action) -> Action:
    """Complete an entry about a person with the person's name."""
    if action.subject_kind != "user" or any("name" in values for values in (action.before, action.after) if values):
        return action
    name = _name_of(session, action.subject_id)
    before = None if action.before is None else name | action.before
    return replace(action, before=before, after=(name | (action.after or {})) or None)


def _name_of(session: Session, user_id: int | None) -> Json:
    user = None if user_id is None else session.get(User, user_id)
    return {} if user is None else {"name": user.name}


def _entry(principal: Principal, name: str, subject_kind: str, subject_id: int | None) -> AuditEntry:
    return AuditEntry(
        principal_kind=principal.kind,
        principal_id=principal.id,
        principal_name=principal.name,
        address=principal.address,
        action=name,
        subject_kind=subject_kind,
        subject_id=subject_id,
    )
