"""nodes, targets and clusters that stay idle for a while after a run"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_LEASABLE = ("cluster", "node", "target")
_MANY = ("node", "target")


def upgrade() -> None:
    for table in _LEASABLE:
        op.add_column(table, sa.Column("cooling_until", sa.DateTime(timezone=True), nullable=True))
    for table in _MANY:
        op.create_index(
            f"ix_{table}_cooling_until", table, ["cooling_until"], postgresql_where=sa.text("cooling_until IS NOT NULL")
        )
    op.add_column("run", sa.Column("cool_down_seconds", sa.Float(), server_default="0", nullable=False))


def downgrade() -> None:
    op.drop_column("run", "cool_down_seconds")
    for table in _MANY:
        op.drop_index(f"ix_{table}_cooling_until", table_name=table)
    for table in _LEASABLE:
        op.drop_column(table, "cooling_until")
