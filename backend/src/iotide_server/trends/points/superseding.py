"""Takes superseded series out of trends, lists and alerts, once after an upgrade that marked them."""

from typing import Final

from sqlalchemy import BigInteger, bindparam, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session

from iotide_server.results.models import Series

SUPERSEDED: Final = "superseded"
"""Kind of that work; its key is always 0. A migration that marks series asks for it.

The worker of an earlier release does not know it. Whatever that worker computed by its own rules is undone here.
"""

# Points say which number each run is known by and which lie far from the others. Release 0.2 stored any number; beyond
# 1e30 it counts no more. A drift without a start was stored by
# a release that measured it relative to the median.
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
    """
    INSERT INTO work (kind, key, due_at)
    SELECT 'analysis', series_id, now() FROM series_course
    WHERE course = 'drift' AND drift -> 'start' IS NULL AND series_id <> ALL(:ids)
    ON CONFLICT (kind, key) DO UPDATE SET version = work.version + 1, sends = 0, due_at = excluded.due_at
    """,
    "UPDATE change_point SET gone_at = now() WHERE gone_at IS NULL AND series_id = ANY(:ids)",
    "DELETE FROM run_headline WHERE series_id = ANY(:ids)",
    "DELETE FROM point WHERE series_id = ANY(:ids)",
    "DELETE FROM series_course WHERE series_id = ANY(:ids)",
    "DELETE FROM event_effect WHERE series_id = ANY(:ids)",
)


def settle_superseded(session: Session, key: int) -> None:
    """Remove the points of superseded series and all that follows from them; harmless to do twice."""
    del key
    ids = list(session.scalars(select(Series.id).where(Series.superseded != "")))
    for statement in _STATEMENTS:
        session.execute(text(statement).bindparams(bindparam("ids", type_=ARRAY(BigInteger))), {"ids": ids})
