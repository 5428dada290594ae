"""series with wrongly timed or duplicate numbers are superseded; outliers are evaluated again

Compatible with the previous release: it ignores the mark, and its results start new series.
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

# Reasons and rules of `results/ingest/superseded.py` at that time, for results of older agents.
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


def upgrade() -> None:
    # In a separate transaction, so that no lock is held while the series are searched. Repeatable.
    with op.get_context().autocommit_block():
        op.execute("ALTER TABLE series ADD COLUMN IF NOT EXISTS superseded varchar NOT NULL DEFAULT ''")
    connection = op.get_bind()
    found = connection.execute(_FOUND).all()
    marked = {
        "ids": [row.id for row in found],
        "reasons": [row.because for row in found],
        "keys": [_key(row) for row in found],
    }
    connection.execute(_MARK, marked)
    # This release's worker removes their points. The previous release's worker does not know this work and would
    # compute the points again by its own rules.
    op.execute(
        "INSERT INTO work (kind, key, due_at) SELECT 'superseded', 0, now() WHERE EXISTS (SELECT FROM series)"
        " ON CONFLICT DO NOTHING"
    )


def downgrade() -> None:
    # Series that were created in their place meanwhile have their keys. These stay separate, without points.
    op.drop_column("series", "superseded")


def _key(row: sa.Row[Any]) -> str:
    """Return the key of `results/ingest/keys.py` with the reason as a part."""
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
