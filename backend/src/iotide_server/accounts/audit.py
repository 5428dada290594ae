"""Every change leaves a row: who, what, before, after, from where; and, once it is committed, a line of log."""

from dataclasses import dataclass

import structlog
from sqlalchemy.orm import Session

from iotide_server.accounts.models import AuditEntry
from iotide_server.accounts.principal import Principal
from iotide_server.kit.db import Json, after_commit

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Action:
    """Something that was done.

    Attributes:
        name: in the past tense: `cluster_created`.
        cluster_id: whose administrators may read of it; None: those of all clusters.
        before, after: the fields that changed; never a secret.
    """

    name: str
    subject_kind: str
    subject_id: int
    cluster_id: int | None
    before: Json | None = None
    after: Json | None = None


def record(session: Session, principal: Principal, action: Action) -> None:
    """Write down a change in the transaction that makes it."""
    session.add(
        AuditEntry(
            principal_kind=principal.kind,
            principal_id=principal.id,
            principal_name=principal.name,
            address=principal.address,
            action=action.name,
            subject_kind=action.subject_kind,
            subject_id=action.subject_id,
            cluster_id=action.cluster_id,
            before=action.before,
            after=action.after,
        )
    )
    subject = {f"{action.subject_kind}_id": action.subject_id, "cluster_id": action.cluster_id, "by": principal.name}
    after_commit(session, lambda: _log.info(action.name, **subject))


def record_refusal(session: Session, principal: Principal, user_id: int | None, after: Json) -> None:
    """Write down that somebody was not let in; `user_id` is None where the name is nobody's."""
    session.add(
        AuditEntry(
            principal_kind=principal.kind,
            principal_id=principal.id,
            principal_name=principal.name,
            address=principal.address,
            action="sign_in_refused",
            subject_kind="user",
            subject_id=user_id,
            cluster_id=None,
            before=None,
            after=after,
        )
    )
