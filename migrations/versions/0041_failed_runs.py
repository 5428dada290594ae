"""index of failed runs, which trends mark

Compatible with the previous release, which does not use the index.
"""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # This commits the preceding statements, and the migration can be repeated from the beginning.
    with op.get_context().autocommit_block():
        # An interrupted build leaves an invalid index.
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_run_failed")
        op.create_index(
            "ix_run_failed",
            "run",
            ["cluster_id", sa.text("ended_at DESC")],
            postgresql_where=sa.text("state = 'failed'"),
            postgresql_concurrently=True,
        )


def downgrade() -> None:
    op.drop_index("ix_run_failed", "run")
