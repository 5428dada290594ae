"""series that results of a node begin in a day; points beyond any measured value are computed again

Release 0.2 and those before it stored any number. Such samples no longer count, but their points stayed.

Searching the points takes longest, and comes before the table of heartbeats is locked.
"""

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

# Due in a day: the worker of the release before, which goes on meanwhile, would compute the same points again.
_COMPUTE_AGAIN = """
INSERT INTO work (kind, key, due_at)
SELECT DISTINCT 'points', cell_id, now() + interval '1 day' FROM point
WHERE NOT (low BETWEEN -1e30 AND 1e30 AND high BETWEEN -1e30 AND 1e30)
ON CONFLICT (kind, key) DO UPDATE SET version = work.version + 1, sends = 0, due_at = excluded.due_at
"""


def upgrade() -> None:
    op.execute(_COMPUTE_AGAIN)
    op.add_column("node_beat", sa.Column("series_on", sa.Date(), nullable=True))
    op.add_column("node_beat", sa.Column("new_series", sa.BigInteger(), server_default="0", nullable=False))


def downgrade() -> None:
    op.drop_column("node_beat", "new_series")
    op.drop_column("node_beat", "series_on")
