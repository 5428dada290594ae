"""SQL of the change feed."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, func, or_, select, text
from sqlalchemy.orm import Session

from iotide_server.change_feed.models import Change

KEPT_FOR: Final = timedelta(hours=1)
MOST_REPEATED: Final = 4000
_OVERLAP: Final = timedelta(seconds=30)
"""Longest expected time between an insert and its commit."""

_INSERT: Final = text(
    """
    WITH inserted AS (
        INSERT INTO change (kind, subject_id, cluster_id) SELECT * FROM unnest(
            CAST(:kinds AS text[]), CAST(:subject_ids AS bigint[]), CAST(:cluster_ids AS bigint[]))
        RETURNING id, kind, subject_id, cluster_id
    )
    SELECT pg_notify(:channel, row_to_json(inserted)::text) FROM inserted
    """
)


def insert(
    session: Session,
    channel: str,
    kinds: Sequence[str],
    subject_ids: Sequence[int | None],
    cluster_ids: Sequence[int | None],
) -> None:
    rows = {"kinds": list(kinds), "subject_ids": list(subject_ids), "cluster_ids": list(cluster_ids)}
    session.execute(_INSERT, {**rows, "channel": channel})


def latest_id(session: Session) -> int:
    return session.scalar(select(func.max(Change.id))) or 0


def missed_since(session: Session, last_id: int) -> list[Change] | None:
    """Return changes after row `last_id`, oldest first, or None if too old or too many.

    Only the latest change per subject: a hundred running runs write thousands of rows per minute.

    Ids become visible on commit, so a reader may have seen 11 before 10. Rows slightly older than the last one are
    therefore repeated.
    """
    last_at = session.scalar(select(Change.at).where(Change.id == last_id))
    if last_at is None:
        return None
    latest = (
        select(func.max(Change.id))
        .where(or_(Change.id > last_id, Change.at > last_at - _OVERLAP), Change.id != last_id)
        .group_by(Change.kind, Change.subject_id, Change.cluster_id)
        .limit(MOST_REPEATED + 1)
    )
    rows = list(session.scalars(select(Change).where(Change.id.in_(latest)).order_by(Change.id)))
    return rows if len(rows) <= MOST_REPEATED else None


def forget_old(session: Session, now: datetime) -> None:
    session.execute(delete(Change).where(Change.at < now - KEPT_FOR))
