"""a node's answer to a request to look around names the request"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("node", sa.Column("look_asked", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("node", sa.Column("look_answered", sa.BigInteger(), server_default="0", nullable=False))
    op.execute("UPDATE node SET look_asked = 1 WHERE hello_wanted")
    op.drop_column("node", "hello_wanted")


def downgrade() -> None:
    op.add_column("node", sa.Column("hello_wanted", sa.Boolean(), server_default="false", nullable=False))
    op.execute("UPDATE node SET hello_wanted = true WHERE look_asked > look_answered")
    op.drop_column("node", "look_answered")
    op.drop_column("node", "look_asked")
