"""ten minutes of a curve stay in their row: a value of the TOAST table would be written anew by each beat that adds to it"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE curve_chunk ALTER COLUMN values SET STORAGE MAIN")


def downgrade() -> None:
    op.execute("ALTER TABLE curve_chunk ALTER COLUMN values SET STORAGE EXTENDED")
