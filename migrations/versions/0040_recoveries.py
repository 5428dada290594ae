"""recoveries from earlier changes; series with a drift or several changes are analysed again

A drift is now measured from the start of its line: no percentage is shown until the series is analysed again.
Compatible with the previous release, which leaves the columns empty.
"""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("change_point", sa.Column("recovered_by_id", sa.BigInteger(), nullable=True))
    op.add_column("change_point", sa.Column("recovered_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("change_point", sa.Column("healthy_level", sa.Double(), nullable=True))
    op.add_column("change_point", sa.Column("healthy_until", sa.DateTime(timezone=True), nullable=True))
    op.add_column("change_point", sa.Column("is_recovery", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.create_foreign_key(
        op.f("fk_change_point_recovered_by_id"), "change_point", "change_point", ["recovered_by_id"], ["id"]
    )
    op.create_check_constraint(
        op.f("ck_change_point_recovered"), "change_point", "(recovered_by_id IS NULL) = (recovered_at IS NULL)"
    )
    op.create_check_constraint(
        op.f("ck_change_point_healthy"), "change_point", "(healthy_level IS NULL) = (healthy_until IS NULL)"
    )
    op.create_check_constraint(
        op.f("ck_change_point_is_recovery"), "change_point", "NOT is_recovery OR healthy_level IS NOT NULL"
    )
    op.create_index(
        "ix_change_point_recovered_by_id",
        "change_point",
        ["recovered_by_id"],
        postgresql_where=sa.text("recovered_by_id IS NOT NULL"),
    )
    op.execute(
        "INSERT INTO work (kind, key, due_at) SELECT 'analysis', series_id, now() FROM series_course"
        " WHERE course = 'drift'"
        " OR (SELECT count(*) FROM change_point WHERE series_id = series_course.series_id AND gone_at IS NULL) > 1"
        " ON CONFLICT (kind, key) DO UPDATE SET version = work.version + 1, sends = 0, due_at = now()"
    )


def downgrade() -> None:
    op.drop_column("change_point", "is_recovery")
    op.drop_column("change_point", "healthy_until")
    op.drop_column("change_point", "healthy_level")
    op.drop_column("change_point", "recovered_at")
    op.drop_column("change_point", "recovered_by_id")
