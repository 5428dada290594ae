"""nodes that observe a cell's runs, and what the node of an order said of itself"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "cell_observer",
        sa.Column("cell_id", sa.BigInteger(), nullable=False),
        sa.Column("node_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["cell_id"], ["cell.id"], name=op.f("fk_cell_observer_cell_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["node_id"], ["node.id"], name=op.f("fk_cell_observer_node_id")),
        sa.PrimaryKeyConstraint("cell_id", "node_id", name=op.f("pk_cell_observer")),
    )
    op.create_index("ix_cell_observer_node_id", "cell_observer", ["node_id"])
    op.add_column("node_order", sa.Column("environment_sha256", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("node_order", "environment_sha256")
    op.drop_table("cell_observer")
