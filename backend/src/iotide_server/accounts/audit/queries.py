"""SQL of the audit: what a search finds, newest first; each filter has an index that gives it in that order."""

import re
from typing import Final

from sqlalchemy import ColumnElement, Select, func, literal_column, or_, select, tuple_
from sqlalchemy.orm import Session

from iotide_server.accounts.audit.schemas import AuditFilter
from iotide_server.accounts.models import AUDIT_WORDS, AuditEntry
from iotide_server.kit.db import any_of

_WORD: Final = re.compile(r"[^\W_]+")


def entry(session: Session, entry_id: int) -> AuditEntry | None:
    return session.get(AuditEntry, entry_id)


def entries(cluster_ids: frozenset[int] | None, wanted: AuditFilter, last: AuditEntry | None) -> Select[AuditEntry]:
    """What the filter lets through of what was done in these clusters (None: everything), after `last`."""
    statement = select(AuditEntry).where(*_conditions(wanted))
    if cluster_ids is not None:
        statement = statement.where(AuditEntry.cluster_id == any_of(cluster_ids))
    place = tuple_(AuditEntry.at, AuditEntry.id)
    if last is not None:
        statement = statement.where(place < (last.at, last.id))
    return statement.order_by(AuditEntry.at.desc(), AuditEntry.id.desc())


def _conditions(wanted: AuditFilter) -> list[ColumnElement[bool]]:
    equal = {
        AuditEntry.action: wanted.action,
        AuditEntry.subject_kind: wanted.subject_kind,
        AuditEntry.subject_id: wanted.subject_id,
        AuditEntry.cluster_id: wanted.cluster_id,
        AuditEntry.address: wanted.address,
    }
    conditions = [column == value for column, value in equal.items() if value is not None]
    if wanted.actor is not None:
        conditions.append(_is_by(wanted.actor))
    if wanted.since is not None:
        conditions.append(AuditEntry.at >= wanted.since)
    if wanted.until is not None:
        conditions.append(AuditEntry.at <= wanted.until)
    if wanted.text is not None:
        query = func.to_tsquery(literal_column("'simple'"), query_of(wanted.text))
        conditions.append(literal_column(AUDIT_WORDS).op("@@")(query))
    return conditions


def _is_by(name: str) -> ColumnElement[bool]:
    """A person's name stands alone, or before what they did it by: `ada (token nightly)`."""
    return or_(AuditEntry.principal_name == name, AuditEntry.principal_name.startswith(f"{name} (", autoescape=True))


def query_of(typed: str) -> str | None:
    """Return a text query for all typed words, each as a prefix; None where no word was typed."""
    return " & ".join(f"{word}:*" for word in _WORD.findall(typed)) or None
