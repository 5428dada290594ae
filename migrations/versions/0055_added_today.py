"""daily counts of what people add to a cluster, and the person a run waits for

Compatible with the previous release, which neither reads nor needs to write these.
"""

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "added_today",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["cluster.id"], name=op.f("fk_added_today_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("cluster_id", "kind", "user_id", name=op.f("pk_added_today")),
    )
    op.add_column("run", sa.Column("asked_by", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("run", "asked_by")
    op.drop_table("added_today")
