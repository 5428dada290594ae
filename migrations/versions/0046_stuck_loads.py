"""loads that no signal ends: their node is stuck, and what they hold stays held

The previous release goes on: it neither reads nor writes the columns, and so goes on giving back what such loads hold.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0046"
down_revision = "0052"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # First, as this commits what stands before it, and the migration may be tried again from the beginning.
    with op.get_context().autocommit_block():
        op.execute("ALTER TABLE node_order ADD COLUMN IF NOT EXISTS stuck_since timestamptz")
        # Of a build that was broken off an invalid one is left.
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_node_order_stuck")
        op.create_index(
            "ix_node_order_stuck",
            "node_order",
            ["node_id"],
            postgresql_where=sa.text("stuck_since IS NOT NULL"),
            postgresql_concurrently=True,
        )
    # Without it the planner takes the new column to be set in nearly every row, and a pass of the scheduler reads them all.
    op.execute("ANALYZE node_order (stuck_since)")
    op.add_column("node", sa.Column("stuck", postgresql.JSONB(none_as_null=True), nullable=True))
    op.drop_constraint(op.f("ck_delivery_kind"), "delivery", type_="check")
    op.create_check_constraint(op.f("ck_delivery_kind"), "delivery", "kind IN ('alert', 'digest', 'stuck', 'test')")


def downgrade() -> None:
    op.drop_index("ix_node_order_stuck", "node_order")
    op.execute("DELETE FROM delivery WHERE kind = 'stuck'")
    op.drop_constraint(op.f("ck_delivery_kind"), "delivery", type_="check")
    op.create_check_constraint(op.f("ck_delivery_kind"), "delivery", "kind IN ('alert', 'digest', 'test')")
    op.drop_column("node_order", "stuck_since")
    op.drop_column("node", "stuck")
