"""number of series that shifted at an event, and the p up to which that is no chance"""

import sqlalchemy as sa
from alembic import op

revision = "0059"
down_revision = "0057"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("event", sa.Column("judged_series", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("event", sa.Column("shifted_series", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("event", sa.Column("most_p", sa.Float(), nullable=True))


def downgrade() -> None:
    op.drop_column("event", "most_p")
    op.drop_column("event", "shifted_series")
    op.drop_column("event", "judged_series")
