"""what is drained, nodes that an operator calls dead, and every target of a run in its lines"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_PRIVATE_TARGETS = """
UPDATE line_place SET private_target_ids = ARRAY(
    SELECT target.id FROM run JOIN cell_target USING (cell_id) JOIN target ON target.id = cell_target.target_id
    WHERE run.id = line_place.run_id AND target.scope = 'node' ORDER BY target.id)
"""


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
    empty = sa.text("'{}'")
    op.add_column(
        "line_place",
        sa.Column("private_target_ids", postgresql.ARRAY(sa.BigInteger()), server_default=empty, nullable=False),
    )
    op.execute(_PRIVATE_TARGETS)


def downgrade() -> None:
    op.drop_column("line_place", "private_target_ids")
    op.drop_column("node", "declared_dead_at")
    op.drop_table("drain")
