"""schema of release 0.1.0, squashed from migrations 0001 to 0032

A database of that release has this revision and continues with 0033.
"""

from pathlib import Path

from alembic import op
from alembic.util.exc import CommandError

revision = "0032"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(Path(__file__).with_suffix(".sql").read_text())


def downgrade() -> None:
    raise CommandError("revision 0032 is the oldest schema, of release 0.1.0; restore a backup to go further back")
