"""where a target is mounted, which directory of the file system, and the file system's own name"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_COLUMNS = ("mount_point", "root", "identity")


def upgrade() -> None:
    for name in _COLUMNS:
        op.add_column("target_mount", sa.Column(name, sa.String()))


def downgrade() -> None:
    for name in reversed(_COLUMNS):
        op.drop_column("target_mount", name)
