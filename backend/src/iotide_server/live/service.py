"""News for browsers: a row for who reconnects, a notification for who is listening."""

from sqlalchemy import text
from sqlalchemy.orm import Session

CHANNEL = "iotide_change"


def publish(session: Session, kind: str, subject_id: int, cluster_id: int | None) -> None:
    """Tell whoever may see the cluster (None: every signed-in principal) that the thing changed, at commit.

    Args:
        kind: `campaign`, `run`, `node`, `target` or `cluster`.
    """
    session.execute(
        text(
            "WITH news AS (INSERT INTO change (kind, subject_id, cluster_id)"
            " VALUES (:kind, :subject_id, :cluster_id) RETURNING id, kind, subject_id, cluster_id)"
            " SELECT pg_notify(:channel, row_to_json(news)::text) FROM news"
        ),
        {"kind": kind, "subject_id": subject_id, "cluster_id": cluster_id, "channel": CHANNEL},
    )
