"""Removal of superseded series, after an upgrade that marked them."""

from typing import Final

from sqlalchemy import BigInteger, bindparam, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session

from iotide_server.results.models import Series

SUPERSEDED: Final = "superseded"
"""Kind of work, requested by migrations; the key is always 0. It also undoes what an earlier release's worker
computed.
"""

# Points decide headlines and outliers. Release 0.2 stored values beyond 1e30.
_STATEMENTS: Final = (
    """
    INSERT INTO work (kind, key, due_at)
    SELECT 'points', cell_id, now() FROM (
        SELECT run.cell_id FROM run_headline JOIN run ON run.id = run_headline.run_id WHERE series_id = ANY(:ids)
        UNION
        SELECT run.cell_id FROM run JOIN cluster ON cluster.id = run.cluster_id AND cluster.origin <> 'published'
        WHERE run.flags @> '[{"code": "OUTLIER"}]'
        UNION
        SELECT cell_id FROM point WHERE NOT (low BETWEEN -1e30 AND 1e30 AND high BETWEEN -1e30 AND 1e30)
    ) AS touched
    ON CONFLICT (kind, key) DO UPDATE SET version = work.version + 1, sends = 0, due_at = excluded.due_at
    """,
    """
    INSERT INTO work (kind, key, due_at)
    SELECT DISTINCT 'peers', run.campaign_id, now() FROM sample JOIN run ON run.id = sample.run_id
    WHERE series_id = ANY(:ids) AND run.flags @> '[{"code": "PEER_ODD"}]'
    ON CONFLICT (kind, key) DO UPDATE SET version = work.version + 1, sends = 0, due_at = excluded.due_at
    """,
    """
    INSERT INTO work (kind, key, due_at)
    SELECT DISTINCT 'alerts', series_id, now() FROM alert WHERE series_id = ANY(:ids)
    ON CONFLICT (kind, key) DO UPDATE SET version = work.version + 1, sends = 0, due_at = excluded.due_at
    """,
    "UPDATE change_point SET gone_at = coalesce(gone_at, now()), over_at = NULL WHERE series_id = ANY(:ids)",
    "DELETE FROM run_headline WHERE series_id = ANY(:ids)",
    "DELETE FROM point WHERE series_id = ANY(:ids)",
    "DELETE FROM series_course WHERE series_id = ANY(:ids)",
    "DELETE FROM event_effect WHERE series_id = ANY(:ids)",
)


def settle_superseded(session: Session, key: int) -> None:
    """Remove points and analyses of superseded series. Safe to repeat."""
    del key
    ids = list(session.scalars(select(Series.id).where(Series.superseded != "")))
    for statement in _STATEMENTS:
        session.execute(text(statement).bindparams(bindparam("ids", type_=ARRAY(BigInteger))), {"ids": ids})
