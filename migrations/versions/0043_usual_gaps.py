"""usual gap of each series, to detect stale series even without a schedule

Compatible with the previous release, which neither reads nor writes the column.
"""

from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # In a separate transaction, so that no lock is held while the gaps are computed. Repeatable.
    with op.get_context().autocommit_block():
        op.execute("ALTER TABLE series_course ADD COLUMN IF NOT EXISTS usual_gap_seconds double precision")
    op.execute(
        """
        UPDATE series_course SET usual_gap_seconds = (
            SELECT CASE WHEN count(gap) >= 3 THEN percentile_cont(0.5) WITHIN GROUP (ORDER BY gap)
                        WHEN (SELECT count(*) FROM (SELECT FROM point WHERE series_id = series_course.series_id
                                                    LIMIT 500) AS many) = 500 THEN 86400 END
            FROM (
                SELECT extract(epoch FROM day - lag(day) OVER (ORDER BY day)) AS gap
                FROM (
                    SELECT DISTINCT date_trunc('day', at, 'UTC') AS day
                    FROM (SELECT at FROM point WHERE series_id = series_course.series_id ORDER BY at DESC LIMIT 500)
                         AS newest
                    ORDER BY day DESC LIMIT 21
                ) AS measured
            ) AS known
        )
        """
    )


def downgrade() -> None:
    op.drop_column("series_course", "usual_gap_seconds")
