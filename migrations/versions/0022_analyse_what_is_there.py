"""every series that has points is analysed once, not only after its next one

The worker of the previous release does not know such work: it notes that, and the new one does it.
"""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "INSERT INTO work (kind, key, due_at) SELECT DISTINCT 'analysis', series_id, now() FROM point"
        " ON CONFLICT (kind, key) DO NOTHING"
    )


def downgrade() -> None:
    op.execute("DELETE FROM work WHERE kind = 'analysis'")
