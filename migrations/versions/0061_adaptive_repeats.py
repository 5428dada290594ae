"""cells of adaptive plans

Compatible with the previous release, which does not write this table.
"""

import sqlalchemy as sa
from alembic import op

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "adaptive_cell",
        sa.Column("cell_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("runs", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("half_width_ratio", sa.Float(), nullable=True),
        sa.Column("resembles_before", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_because", sa.String(), nullable=True),
        sa.CheckConstraint(
            "ended_because IN ('narrow', 'most', 'budget', 'failed', 'gone', 'cancelled')",
            name=op.f("ck_adaptive_cell_ended_because"),
        ),
        sa.CheckConstraint("(ended_at IS NULL) = (ended_because IS NULL)", name=op.f("ck_adaptive_cell_ended")),
        sa.ForeignKeyConstraint(["cell_id"], ["cell.id"], name=op.f("fk_adaptive_cell_cell_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("cell_id", name=op.f("pk_adaptive_cell")),
    )
    op.create_index("ix_adaptive_cell_campaign_id", "adaptive_cell", ["campaign_id"])
    op.create_index(
        "ix_adaptive_cell_open", "adaptive_cell", ["campaign_id"], postgresql_where=sa.text("ended_at IS NULL")
    )


def downgrade() -> None:
    op.drop_table("adaptive_cell")
