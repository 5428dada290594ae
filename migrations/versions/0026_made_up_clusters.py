"""clusters that were made up, with their history, are marked as such"""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("cluster", sa.Column("made_up", sa.Boolean(), server_default="false", nullable=False))


def downgrade() -> None:
    op.drop_column("cluster", "made_up")
