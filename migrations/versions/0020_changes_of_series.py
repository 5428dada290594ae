"""how each series went, and since when

The previous release goes on: it neither reads nor writes these tables.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "series_course",
        sa.Column("series_id", sa.BigInteger(), nullable=False),
        sa.Column("course", sa.String(), nullable=False),
        sa.Column("point_count", sa.BigInteger(), nullable=False),
        sa.Column("missing_points", sa.BigInteger(), nullable=False),
        sa.Column("memory", sa.Float(), nullable=False),
        sa.Column("drift", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("suspect", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("detector", sa.String(), nullable=False),
        sa.Column("analysed_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "course IN ('too_short', 'steady', 'changed', 'drift')", name=op.f("ck_series_course_course")
        ),
        sa.CheckConstraint("(course = 'drift') = (drift IS NOT NULL)", name=op.f("ck_series_course_drift")),
        sa.ForeignKeyConstraint(
            ["series_id"], ["series.id"], name=op.f("fk_series_course_series_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("series_id", name=op.f("pk_series_course")),
    )
    op.create_table(
        "change_point",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("series_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("previous_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("cell_id", sa.BigInteger(), nullable=False),
        sa.Column("points_before", sa.BigInteger(), nullable=False),
        sa.Column("points_after", sa.BigInteger(), nullable=False),
        sa.Column("median_before", sa.Float(), nullable=False),
        sa.Column("median_after", sa.Float(), nullable=False),
        sa.Column("shift_ratio", sa.Float(), nullable=True),
        sa.Column("p_value", sa.Float(), nullable=False),
        sa.Column("found_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("found_points", sa.BigInteger(), nullable=False),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("gone_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("detector", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["cell_id"], ["cell.id"], name=op.f("fk_change_point_cell_id")),
        sa.ForeignKeyConstraint(
            ["series_id"], ["series.id"], name=op.f("fk_change_point_series_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_change_point")),
    )
    op.create_index("ix_change_point_series_id_at", "change_point", ["series_id", "at"])
    op.create_index(
        "ix_change_point_told",
        "change_point",
        ["id"],
        postgresql_where=sa.text("confirmed_at IS NOT NULL AND gone_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_table("change_point")
    op.drop_table("series_course")
