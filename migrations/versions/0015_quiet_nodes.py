"""what others used of a node before and during a run"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("node_order", sa.Column("foreign_load", postgresql.JSONB(), nullable=True))


def downgrade() -> None:
    op.drop_column("node_order", "foreign_load")
