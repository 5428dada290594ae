"""nodes of a cell that send or receive, where the receiving one listens, and workloads that can be split so"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("cell_node", sa.Column("step_role", sa.String(), nullable=True))
    op.create_check_constraint(op.f("ck_cell_node_step_role"), "cell_node", "step_role IN ('sender', 'receiver')")
    op.add_column("node_order", sa.Column("endpoint", postgresql.JSONB(), nullable=True))
    op.add_column(
        "workload", sa.Column("step_roles", postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False)
    )


def downgrade() -> None:
    op.drop_column("workload", "step_roles")
    op.drop_column("node_order", "endpoint")
    op.drop_constraint(op.f("ck_cell_node_step_role"), "cell_node")
    op.drop_column("cell_node", "step_role")
