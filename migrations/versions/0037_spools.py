"""size of agents' spools

Compatible with the previous release, which leaves the column empty.
"""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("node_beat", sa.Column("spool_bytes", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("node_beat", "spool_bytes")
