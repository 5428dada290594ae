"""series whose numbers were timed by the wrong clock, or said twice, are superseded; outliers are judged anew

The previous release goes on: it knows nothing of the mark, and what it stores meanwhile begins series of its own.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from iotide_server.kit.digests import canonical_sha256

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

# Reasons and rules as `results/superseded.py` had them then, of what agents of before it stored.
_FOUND = sa.text(
    """
    SELECT total.*,
           CASE WHEN total.workload = 'dd' OR (total.workload = 'fill' AND cardinality(total.target_ids) > 1)
                THEN 'node_clock'
                WHEN total.workload = 'fio' AND cardinality(total.target_ids) > 1 THEN 'mixed_targets'
                ELSE 'one_writer' END AS because
    FROM series AS total
    WHERE (total.metric IN ('total_throughput', 'first_done', 'last_done', 'fairness')
           AND (total.workload = 'dd' OR (total.workload IN ('fill', 'fio') AND cardinality(total.target_ids) > 1)))
       OR total.id IN (
           SELECT one.id
           FROM series AS one
           JOIN series AS part USING (cluster_id, node_ids, target_ids, workload, series_revision, options_sha256,
                                      variant)
           WHERE one.metric IN ('total_throughput', 'total_operation_rate')
             AND (cardinality(one.target_ids) <= 1 OR one.workload = 'iozone')
             AND part.metric = substr(one.metric, 7) AND part.labels - 'writer' = one.labels
           GROUP BY one.id HAVING count(*) = 1)
    """
)
_MARK = sa.text(
    """
    UPDATE series SET superseded = marked.because, key_sha256 = marked.key_sha256
    FROM unnest(:ids, :reasons, :keys) AS marked (id, because, key_sha256) WHERE series.id = marked.id
    """
).bindparams(
    sa.bindparam("ids", type_=postgresql.ARRAY(sa.BigInteger())),
    sa.bindparam("reasons", type_=postgresql.ARRAY(sa.Text())),
    sa.bindparam("keys", type_=postgresql.ARRAY(sa.Text())),
)
# Its points say which number each run is known by, and which lie far from the others, by the rules of this release.
_AFTERWARDS = (
    """
    INSERT INTO work (kind, key, due_at)
    SELECT 'points', cell_id, now() FROM (
        SELECT run.cell_id FROM run_headline JOIN run ON run.id = run_headline.run_id
        WHERE series_id IN (SELECT id FROM series WHERE superseded <> '')
        UNION
        SELECT run.cell_id FROM run JOIN cluster ON cluster.id = run.cluster_id AND cluster.origin <> 'published'
        WHERE run.flags @> '[{"code": "OUTLIER"}]'
    ) AS touched
    ON CONFLICT (kind, key) DO UPDATE SET version = work.version + 1, sends = 0, due_at = excluded.due_at
    """,
    """
    INSERT INTO work (kind, key, due_at)
    SELECT DISTINCT 'peers', run.campaign_id, now()
    FROM sample JOIN run ON run.id = sample.run_id
    WHERE series_id IN (SELECT id FROM series WHERE superseded <> '') AND run.flags @> '[{"code": "PEER_ODD"}]'
    ON CONFLICT (kind, key) DO UPDATE SET version = work.version + 1, sends = 0, due_at = excluded.due_at
    """,
    """
    INSERT INTO work (kind, key, due_at)
    SELECT DISTINCT 'alerts', series_id, now() FROM alert
    WHERE series_id IN (SELECT id FROM series WHERE superseded <> '')
    ON CONFLICT (kind, key) DO UPDATE SET version = work.version + 1, sends = 0, due_at = excluded.due_at
    """,
    """
    UPDATE change_point SET gone_at = now()
    WHERE gone_at IS NULL AND series_id IN (SELECT id FROM series WHERE superseded <> '')
    """,
    "DELETE FROM run_headline WHERE series_id IN (SELECT id FROM series WHERE superseded <> '')",
    "DELETE FROM point WHERE series_id IN (SELECT id FROM series WHERE superseded <> '')",
    "DELETE FROM series_course WHERE series_id IN (SELECT id FROM series WHERE superseded <> '')",
    "DELETE FROM event_effect WHERE series_id IN (SELECT id FROM series WHERE superseded <> '')",
)


def upgrade() -> None:
    op.add_column("series", sa.Column("superseded", sa.String(), server_default=sa.text("''"), nullable=False))
    connection = op.get_bind()
    found = connection.execute(_FOUND).all()
    marked = {
        "ids": [row.id for row in found],
        "reasons": [row.because for row in found],
        "keys": [_key(row) for row in found],
    }
    connection.execute(_MARK, marked)
    for statement in _AFTERWARDS:
        op.execute(statement)


def downgrade() -> None:
    # What came into their places meanwhile has their keys: they stay apart, without points.
    op.drop_column("series", "superseded")


def _key(row: sa.Row[Any]) -> str:
    """The key of `results/keys.py`, with the reason as a part."""
    return canonical_sha256(
        {
            "cluster": row.cluster_id,
            "nodes": sorted(row.node_ids),
            "targets": sorted(row.target_ids),
            "workload": row.workload,
            "series_revision": row.series_revision,
            "options": row.options_sha256,
            "metric": row.metric,
            "labels": row.labels,
        }
        | ({"variant": row.variant} if row.variant else {})
        | {"superseded": row.because}
    )
