"""what is drained, and nodes that an operator calls dead"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    cluster = sa.ForeignKey("cluster.id", name=op.f("fk_drain_cluster_id"), ondelete="CASCADE")
    op.create_table(
        "drain",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("subject_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), cluster, nullable=True),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("kind IN ('all', 'cluster', 'node', 'target')", name=op.f("ck_drain_kind")),
        sa.CheckConstraint("(kind = 'all') = (cluster_id IS NULL)", name=op.f("ck_drain_cluster")),
        sa.PrimaryKeyConstraint("kind", "subject_id", name=op.f("pk_drain")),
    )
    op.add_column("node", sa.Column("declared_dead_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column("node", "declared_dead_at")
    op.drop_table("drain")
