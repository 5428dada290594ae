"""nodes: clock offset from the server, and wire version of the agent

Compatible with the previous release, which writes neither.
"""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("node", sa.Column("wire_version", sa.BigInteger(), nullable=True))
    op.add_column("node_beat", sa.Column("clock_offset_seconds", sa.Float(), nullable=True))
    op.add_column("node_beat", sa.Column("clock_uncertainty_seconds", sa.Float(), nullable=True))


def downgrade() -> None:
    op.drop_column("node_beat", "clock_uncertainty_seconds")
    op.drop_column("node_beat", "clock_offset_seconds")
    op.drop_column("node", "wire_version")
