"""node_beat: raw output that a node has sent today

Compatible with the previous release, which neither reads nor needs to write the columns.
"""

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("node_beat", sa.Column("raw_on", sa.Date(), nullable=True))
    op.add_column("node_beat", sa.Column("raw_bytes", sa.BigInteger(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("node_beat", "raw_bytes")
    op.drop_column("node_beat", "raw_on")
