"""runs behind each flag of a point, and the flags that its series usually has

Compatible with the previous release, which neither reads nor needs to write these.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("point", sa.Column("flag_runs", postgresql.JSONB(), nullable=True))
    for table in ("point", "cell"):
        usual = sa.Column("usual_flags", postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False)
        op.add_column(table, usual)


def downgrade() -> None:
    op.drop_column("cell", "usual_flags")
    op.drop_column("point", "usual_flags")
    op.drop_column("point", "flag_runs")
