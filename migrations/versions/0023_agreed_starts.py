"""a gang starts at a moment on which all of its nodes agreed

The previous release goes on: it knows only the moment, and what it set counts as agreed once a load runs.
"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("attempt", sa.Column("go_agreed_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("attempt", sa.Column("go_put_offs", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("node_order", sa.Column("go_heard_at", sa.DateTime(timezone=True), nullable=True))
    op.execute("UPDATE attempt SET go_agreed_at = go_at WHERE go_at IS NOT NULL")


def downgrade() -> None:
    op.drop_column("node_order", "go_heard_at")
    op.drop_column("attempt", "go_put_offs")
    op.drop_column("attempt", "go_agreed_at")
