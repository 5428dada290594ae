"""SQL of news."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, func, or_, select, text
from sqlalchemy.orm import Session

from iotide_server.change_feed.models import Change

KEPT_FOR: Final = timedelta(hours=1)
MOST_REPEATED: Final = 4000
_OVERLAP: Final = timedelta(seconds=30)
"""A transaction that began this long before another may still have been open when the other's news went out."""

_INSERT: Final = text(
    """
    WITH news AS (
        INSERT INTO change (kind, subject_id, cluster_id) SELECT * FROM unnest(
            CAST(:kinds AS text[]), CAST(:subject_ids AS bigint[]), CAST(:cluster_ids AS bigint[]))
        RETURNING id, kind, subject_id, cluster_id
    )
    SELECT pg_notify(:channel, row_to_json(news)::text) FROM news
    """
)


def insert(
    session: Session,
    channel: str,
    kinds: Sequence[str],
    subject_ids: Sequence[int | None],
    cluster_ids: Sequence[int | None],
) -> None:
    """Add one row for each kind, subject and cluster, and send each as a notification on the channel."""
    rows = {"kinds": list(kinds), "subject_ids": list(subject_ids), "cluster_ids": list(cluster_ids)}
    session.execute(_INSERT, {**rows, "channel": channel})


def latest_id(session: Session) -> int:
    """The id of the latest news; 0 when there is none."""
    return session.scalar(select(func.max(Change.id))) or 0


def missed_since(session: Session, last_id: int) -> list[Change] | None:
    """What a reader may have missed who saw the row `last_id` last, oldest first; None when it is too old or too much.

    Of each thing its latest change alone: where a hundred runs go on, thousands of rows tell of them within a minute.

    Ids are given when a row is written and become visible when its transaction ends, so a reader may have seen 11
    before 10 was there: rows that are not much older than the last one are repeated, which does no harm.
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
