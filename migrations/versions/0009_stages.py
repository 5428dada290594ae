"""campaigns in stages, each of which an operator confirms; nodes that are asked what they have mounted"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "campaign_stage",
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("variant", sa.String(), nullable=False),
        sa.Column("pause", sa.String(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("paused_at", _TIME, nullable=True),
        sa.Column("looked_at", _TIME, nullable=True),
        sa.Column("opened_at", _TIME, nullable=True),
        sa.Column("confirmed_by", sa.String(), nullable=True),
        sa.Column("found", postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False),
        sa.CheckConstraint("state IN ('held', 'paused', 'open')", name=op.f("ck_campaign_stage_state")),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_campaign_stage_campaign_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("campaign_id", "ordinal", name=op.f("pk_campaign_stage")),
    )
    op.create_index(
        "ix_campaign_stage_held", "campaign_stage", ["campaign_id"], postgresql_where=sa.text("state = 'held'")
    )
    op.add_column("cell", sa.Column("stage", sa.BigInteger(), server_default="1", nullable=False))
    op.add_column("cell", sa.Column("variant", sa.String(), server_default="", nullable=False))
    op.add_column("series", sa.Column("variant", sa.String(), server_default="", nullable=False))
    op.add_column("node", sa.Column("told_at", _TIME, nullable=True))
    op.add_column("node", sa.Column("hello_wanted", sa.Boolean(), server_default="false", nullable=False))


def downgrade() -> None:
    op.drop_column("node", "hello_wanted")
    op.drop_column("node", "told_at")
    op.drop_column("series", "variant")
    op.drop_column("cell", "variant")
    op.drop_column("cell", "stage")
    op.drop_table("campaign_stage")
