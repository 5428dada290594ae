"""nodes: approval at enrolment, rotation and revocation of credentials

Compatible with the previous release: its join tokens need no approval, and a revoked node has no digest that a secret
could match.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("join_token", sa.Column("needs_approval", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("join_token", sa.Column("node_id", sa.BigInteger(), nullable=True))
    op.create_foreign_key(op.f("fk_join_token_node_id"), "join_token", "node", ["node_id"], ["id"], ondelete="CASCADE")
    now = sa.text("now()")
    op.add_column("node", sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("node", sa.Column("credentials_at", sa.DateTime(timezone=True), server_default=now, nullable=False))
    op.add_column("node", sa.Column("rotation_wanted_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("node", sa.Column("next_token_sha256", sa.String(), nullable=True))
    op.add_column("node", sa.Column("next_redis_password_sha256", sa.String(), nullable=True))
    op.create_unique_constraint(op.f("uq_node_next_token_sha256"), "node", ["next_token_sha256"])
    op.create_table(
        "pending_node",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=True),
        sa.Column("owner_id", sa.BigInteger(), nullable=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("token_sha256", sa.String(), nullable=False),
        sa.Column("redis_password_sha256", sa.String(), nullable=False),
        sa.Column("agent_version", sa.String(), nullable=False),
        sa.Column("wire_version", sa.BigInteger(), nullable=False),
        sa.Column("facts", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["cluster.id"], name=op.f("fk_pending_node_cluster_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["user_account.id"], name=op.f("fk_pending_node_owner_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pending_node")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_pending_node_token_sha256")),
    )
    op.create_index("ix_pending_node_cluster_id", "pending_node", ["cluster_id"])


def downgrade() -> None:
    op.drop_table("pending_node")
    op.drop_constraint(op.f("uq_node_next_token_sha256"), "node")
    for column in ("next_redis_password_sha256", "next_token_sha256", "rotation_wanted_at", "credentials_at"):
        op.drop_column("node", column)
    op.drop_column("node", "revoked_at")
    op.drop_column("join_token", "node_id")
    op.drop_column("join_token", "needs_approval")
