"""shifts that came and ended, scatter of series, and their analyses by another detector

Compatible with the previous release, which leaves the columns empty and does not know the work.
"""

import sqlalchemy as sa
from alembic import op

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None

_REANALYSE = """
INSERT INTO work (kind, key, due_at) SELECT 'reanalysis', 0, now() WHERE EXISTS (SELECT FROM series_course)
ON CONFLICT (kind, key) DO UPDATE SET version = work.version + 1, sends = 0, due_at = excluded.due_at
"""


def upgrade() -> None:
    op.execute(_REANALYSE)
    op.add_column("series_course", sa.Column("scatter_ratio", sa.Double(), nullable=True))
    op.add_column("series_course", sa.Column("detector_since", sa.DateTime(timezone=True), nullable=True))
    op.add_column("change_point", sa.Column("over_at", sa.DateTime(timezone=True), nullable=True))
    op.drop_index("ix_change_point_told", table_name="change_point")
    op.create_index(
        "ix_change_point_listed",
        "change_point",
        ["id"],
        postgresql_where=sa.text("confirmed_at IS NOT NULL AND (gone_at IS NULL OR over_at IS NOT NULL)"),
    )


def downgrade() -> None:
    op.drop_index("ix_change_point_listed", table_name="change_point")
    op.create_index(
        "ix_change_point_told",
        "change_point",
        ["id"],
        postgresql_where=sa.text("confirmed_at IS NOT NULL AND gone_at IS NULL"),
    )
    op.drop_column("change_point", "over_at")
    op.drop_column("series_course", "detector_since")
    op.drop_column("series_course", "scatter_ratio")
