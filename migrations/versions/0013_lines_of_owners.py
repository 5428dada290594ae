"""lines are kept for each owner, who stand back for what their runs used

The previous release goes on with the wider index; what it lets wait meanwhile has no owner, and of its targets only the
shared ones hold it back.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "fair_share",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("owner_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("nodes_used", sa.Float(), nullable=False),
        sa.Column("stands_back_seconds", sa.Float(), nullable=False),
        sa.Column("sampled_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["cluster.id"], name=op.f("fk_fair_share_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("cluster_id", "owner_id", name=op.f("pk_fair_share")),
    )
    targets = postgresql.ARRAY(sa.BigInteger())
    op.add_column("line_place", sa.Column("owner_id", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("line_place", sa.Column("target_ids", targets, server_default=sa.text("'{}'"), nullable=False))
    op.execute(
        """
        UPDATE line_place SET owner_id = coalesce(campaign.owner_id, 0),
               target_ids = ARRAY(SELECT target_id FROM cell_target WHERE cell_id = run.cell_id ORDER BY target_id)
        FROM run JOIN campaign ON campaign.id = run.campaign_id WHERE run.id = line_place.run_id
        """
    )
    op.drop_index("ix_line_place_line", table_name="line_place")
    op.create_index(
        "ix_line_place_line",
        "line_place",
        ["node_id", "owner_id", "sort_key", "run_id"],
        unique=False,
        postgresql_include=["not_before", "target_ids", "shared_target_ids"],
    )
    op.create_index("ix_line_place_owner_id", "line_place", ["owner_id"], unique=False)
    op.create_index(
        "ix_target_mount_problem",
        "target_mount",
        ["node_id"],
        unique=False,
        postgresql_where=sa.text("problem IS NOT NULL"),
    )
    op.create_index("ix_run_overdue", "run", ["id"], unique=False, postgresql_where=sa.text("overdue"))
    op.create_index(
        "ix_node_order_silent",
        "node_order",
        ["node_id"],
        unique=False,
        postgresql_where=sa.text("silent_since IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_node_order_silent", table_name="node_order")
    op.drop_index("ix_run_overdue", table_name="run")
    op.drop_index("ix_target_mount_problem", table_name="target_mount")
    op.drop_index("ix_line_place_owner_id", table_name="line_place")
    op.drop_index("ix_line_place_line", table_name="line_place")
    op.create_index("ix_line_place_line", "line_place", ["node_id", "sort_key", "run_id"], unique=False)
    op.drop_column("line_place", "target_ids")
    op.drop_column("line_place", "owner_id")
    op.drop_table("fair_share")
