"""the newest campaigns of every series are judged among their equals once, not only after their next point

Older runs stay as they are. The worker of the previous release does not know such work: it notes that, and the new one
does it.
"""

from alembic import op

revision = "0025"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "INSERT INTO work (kind, key, due_at) SELECT DISTINCT 'peers', newest.campaign_id, now()"
        " FROM (SELECT DISTINCT ON (series_id) campaign_id FROM point ORDER BY series_id, at DESC, id DESC) AS newest"
        " ON CONFLICT (kind, key) DO NOTHING"
    )


def downgrade() -> None:
    op.execute("DELETE FROM work WHERE kind = 'peers'")
