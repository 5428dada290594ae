"""number of series that a node's results started today"""

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

# The new worker also searches for points beyond 1e30. Release 0.2 does not know this work.
_SETTLE = """
INSERT INTO work (kind, key, due_at) SELECT 'superseded', 0, now() WHERE EXISTS (SELECT FROM point)
ON CONFLICT (kind, key) DO UPDATE SET version = work.version + 1, sends = 0, due_at = excluded.due_at
"""


def upgrade() -> None:
    op.execute(_SETTLE)
    op.add_column("node_beat", sa.Column("series_on", sa.Date(), nullable=True))
    op.add_column("node_beat", sa.Column("new_series", sa.BigInteger(), server_default="0", nullable=False))


def downgrade() -> None:
    op.drop_column("node_beat", "new_series")
    op.drop_column("node_beat", "series_on")
