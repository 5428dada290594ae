"""since when a series scatters more, and every series analysed once more by the detector that finds it

The previous release goes on: it leaves the column empty.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0024"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("series_course", sa.Column("noise", postgresql.JSONB(none_as_null=True), nullable=True))
    op.execute(
        "INSERT INTO work (kind, key, due_at) SELECT 'analysis', series_id, now() FROM series_course"
        " ON CONFLICT (kind, key) DO UPDATE SET version = work.version + 1, sends = 0, due_at = now()"
    )


def downgrade() -> None:
    op.drop_column("series_course", "noise")
