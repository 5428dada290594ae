"""Pages and exports of the audit log."""

import csv
import json
import re
from collections.abc import Iterator
from datetime import datetime
from io import StringIO
from typing import Final

from sqlalchemy import ColumnElement, Select, func, literal_column, or_, select, tuple_
from sqlalchemy.orm import Session

from iotide_server.accounts.audit.schemas import AuditEntryOutput, AuditFile, AuditFilter
from iotide_server.accounts.errors import CURSOR_OF_NOTHING, NO_WORD, UNSTORABLE_FILTER
from iotide_server.accounts.models import AUDIT_WORDS, AuditEntry, Role
from iotide_server.accounts.models import AuditEntry as AuditRow
from iotide_server.accounts.roles.principal import Principal
from iotide_server.kit.db import EXPORT_STATEMENT_SECONDS, Database, any_of
from iotide_server.kit.pagination import PageRequest, Slice
from iotide_server.kit.web import is_storable

_WORD: Final = re.compile(r"[^\W_]+")
_PIECE_ENTRIES: Final = 1000
Clusters = frozenset[int] | None


def readable(principal: Principal, wanted: AuditFilter) -> Clusters:
    """Return the clusters whose entries the caller may read; None means all."""
    # Raise NO_WORD and UNSTORABLE_FILTER here, because PostgreSQL would fail after the export has begun.
    for field in ("actor", "action", "subject_kind", "address", "text"):
        if not is_storable(getattr(wanted, field) or ""):
            raise UNSTORABLE_FILTER(field=field)
    if wanted.text is not None and query_of(wanted.text) is None:
        raise NO_WORD(text=wanted.text)
    if wanted.cluster_id is not None:
        principal.require(Role.ADMIN, wanted.cluster_id)
    return principal.clusters_with(Role.ADMIN)


def page(session: Session, principal: Principal, wanted: AuditFilter, paging: PageRequest) -> Slice[AuditRow]:
    """Raise CURSOR_OF_NOTHING, or an error of `readable`."""
    clusters = readable(principal, wanted)
    last = None
    if paging.last_id is not None:
        last = entry(session, paging.last_id)
        if last is None:
            raise CURSOR_OF_NOTHING(entry_id=paging.last_id)
    found = session.scalars(entries(clusters, wanted, last).limit(paging.limit + 1)).all()
    return paging.cut(found, key=lambda row: row.id)


def written(database: Database, clusters: Clusters, wanted: AuditFilter, written_as: AuditFile) -> Iterator[str]:
    """Yield matching entries, newest first, as CSV with a header or as JSON lines."""
    if written_as is AuditFile.CSV:
        yield _csv_line(list(AuditEntryOutput.model_fields))
    last: AuditRow | None = None
    while True:
        with database.transaction(statement_seconds=EXPORT_STATEMENT_SECONDS) as session:
            rows = session.scalars(entries(clusters, wanted, last).limit(_PIECE_ENTRIES)).all()
            session.expunge_all()
        yield "".join(_line(row, written_as) for row in rows)
        if len(rows) < _PIECE_ENTRIES:
            return
        last = rows[-1]


def _line(row: AuditRow, written_as: AuditFile) -> str:
    entry = AuditEntryOutput.model_validate(row)
    if written_as is AuditFile.JSON_LINES:
        return entry.model_dump_json() + "\n"
    return _csv_line([getattr(entry, name) for name in AuditEntryOutput.model_fields])


def _csv_line(cells: list[object]) -> str:
    line = StringIO()
    csv.writer(line, lineterminator="\n").writerow([_csv_cell(cell) for cell in cells])
    return line.getvalue()


def _csv_cell(value: object) -> object:
    match value:
        case dict():
            return json.dumps(value, sort_keys=True, ensure_ascii=False)
        case datetime():
            return value.isoformat()
        case _:
            return value


def entry(session: Session, entry_id: int) -> AuditEntry | None:
    return session.get(AuditEntry, entry_id)


def entries(cluster_ids: frozenset[int] | None, wanted: AuditFilter, last: AuditEntry | None) -> Select[AuditEntry]:
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
        stands_before = AuditEntry.principal_name.startswith(f"{wanted.actor} (", autoescape=True)
        conditions.append(or_(AuditEntry.principal_name == wanted.actor, stands_before))
    if wanted.since is not None:
        conditions.append(AuditEntry.at >= wanted.since)
    if wanted.until is not None:
        conditions.append(AuditEntry.at <= wanted.until)
    if wanted.text is not None:
        query = func.to_tsquery(literal_column("'simple'"), query_of(wanted.text))
        conditions.append(literal_column(AUDIT_WORDS).op("@@")(query))
    return conditions


def query_of(typed: str) -> str | None:
    return " & ".join(f"{word}:*" for word in _WORD.findall(typed)) or None
