"""loads that ignore all signals: their node is stuck and keeps its locks

Compatible with the previous release, which neither reads nor writes the columns and releases the locks of such loads.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0046"
down_revision = "0052"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # First, because this commits the preceding statements. The migration can then be repeated from the beginning.
    with op.get_context().autocommit_block():
        op.execute("ALTER TABLE node_order ADD COLUMN IF NOT EXISTS stuck_since timestamptz")
        # An interrupted build leaves an invalid index.
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_node_order_stuck")
        op.create_index(
            "ix_node_order_stuck",
            "node_order",
            ["node_id"],
            postgresql_where=sa.text("stuck_since IS NOT NULL"),
            postgresql_concurrently=True,
        )
    # Without it, the planner assumes that nearly all rows have a value, and each pass of the scheduler reads all of
    # them.
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
