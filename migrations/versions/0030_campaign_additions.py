"""repeats that were added to campaigns

The previous release goes on: it neither reads nor writes the new table.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "campaign_addition",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=True),
        sa.Column("repeats", sa.BigInteger(), nullable=False),
        sa.Column("cell_ids", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("idempotency_key", sa.String(), nullable=True),
        sa.Column("request_sha256", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_campaign_addition_campaign_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["user_account.id"], name=op.f("fk_campaign_addition_owner_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaign_addition")),
        sa.UniqueConstraint("owner_id", "idempotency_key", name=op.f("uq_campaign_addition_owner_id_idempotency_key")),
    )
    op.create_index("ix_campaign_addition_campaign_id", "campaign_addition", ["campaign_id"])


def downgrade() -> None:
    op.drop_table("campaign_addition")
