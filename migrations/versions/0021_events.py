"""events, and what they did to series

The previous release goes on: it neither reads nor writes these tables.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "event",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("node_ids", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("target_ids", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("told_by", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("kind IN ('environment', 'manual')", name=op.f("ck_event_kind")),
        sa.CheckConstraint("since <= at", name=op.f("ck_event_at")),
        sa.ForeignKeyConstraint(["cluster_id"], ["cluster.id"], name=op.f("fk_event_cluster_id")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_event_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
    )
    op.create_index("ix_event_cluster_id_at", "event", ["cluster_id", "at"])
    op.create_index("ix_event_run_id", "event", ["run_id"])
    op.create_table(
        "event_effect",
        sa.Column("event_id", sa.BigInteger(), nullable=False),
        sa.Column("series_id", sa.BigInteger(), nullable=False),
        sa.Column("look", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("effect", sa.String(), server_default="pending", nullable=False),
        sa.Column("points_before", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("points_after", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("shift_ratio", sa.Float(), nullable=True),
        sa.Column("p_value", sa.Float(), nullable=True),
        sa.CheckConstraint(
            "effect IN ('too_few_before', 'pending', 'none_shown', 'shifted')", name=op.f("ck_event_effect_effect")
        ),
        sa.ForeignKeyConstraint(["event_id"], ["event.id"], name=op.f("fk_event_effect_event_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["series_id"], ["series.id"], name=op.f("fk_event_effect_series_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("event_id", "series_id", name=op.f("pk_event_effect")),
    )
    op.create_index("ix_event_effect_series_id", "event_effect", ["series_id"])


def downgrade() -> None:
    op.drop_table("event_effect")
    op.drop_table("event")
