"""channels, deliveries, and work that rests or is out

The previous release goes on: it neither reads nor writes the new tables, and its worker knows no errands.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0027"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "channel",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("settings", postgresql.JSONB(), nullable=False),
        sa.Column("sealed", sa.String(), nullable=True),
        sa.Column("quiet_hours", postgresql.JSONB(), nullable=True),
        sa.Column("digest", postgresql.JSONB(), nullable=True),
        sa.Column("digest_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("owner_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failure", sa.String(), nullable=True),
        sa.CheckConstraint("kind IN ('email', 'webhook', 'slack', 'mattermost')", name=op.f("ck_channel_kind")),
        sa.CheckConstraint("(digest IS NULL) = (digest_due_at IS NULL)", name=op.f("ck_channel_digest")),
        sa.ForeignKeyConstraint(["cluster_id"], ["cluster.id"], name=op.f("fk_channel_cluster_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["user_account.id"], name=op.f("fk_channel_owner_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_channel")),
        sa.UniqueConstraint(
            "cluster_id", "name", name=op.f("uq_channel_cluster_id_name"), postgresql_nulls_not_distinct=True
        ),
    )
    op.create_table(
        "delivery",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("message_id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=True),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("data", postgresql.JSONB(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False),
        sa.CheckConstraint("kind IN ('alert', 'digest', 'test')", name=op.f("ck_delivery_kind")),
        sa.CheckConstraint("state IN ('waiting', 'delivered', 'failed')", name=op.f("ck_delivery_state")),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channel.id"], name=op.f("fk_delivery_channel_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["cluster.id"], name=op.f("fk_delivery_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery")),
        sa.UniqueConstraint("channel_id", "key", name=op.f("uq_delivery_channel_id_key")),
    )
    op.create_index("ix_delivery_created_at", "delivery", ["created_at"])
    op.create_index("ix_delivery_channel_id_id", "delivery", ["channel_id", "id"])
    op.add_column("work", sa.Column("held_until", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.execute("DELETE FROM work WHERE kind IN ('delivery', 'digest')")
    op.drop_column("work", "held_until")
    op.drop_table("delivery")
    op.drop_table("channel")
