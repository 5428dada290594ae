"""clusters say where their results come from, and published results where they were printed

No release has read `made_up`, which `origin` takes the place of.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("cluster", sa.Column("origin", sa.String(), server_default="own", nullable=False))
    op.execute("UPDATE cluster SET origin = 'made_up' WHERE made_up")
    op.drop_column("cluster", "made_up")
    op.create_check_constraint(op.f("ck_cluster_origin"), "cluster", "origin IN ('own', 'made_up', 'published')")
    op.create_index(
        "ix_cluster_published", "cluster", ["id"], postgresql_where=sa.text("origin = 'published'"), unique=False
    )
    op.create_table(
        "published_source",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("edition_sha256", sa.String(), nullable=False),
        sa.Column("printed", postgresql.JSONB(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_published_source")),
        sa.UniqueConstraint("key", name=op.f("uq_published_source_key")),
    )
    op.create_table(
        "published_campaign",
        sa.Column("campaign_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("source_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"],
            ["campaign.id"],
            name=op.f("fk_published_campaign_campaign_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["source_id"],
            ["published_source.id"],
            name=op.f("fk_published_campaign_source_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("campaign_id", name=op.f("pk_published_campaign")),
    )
    op.create_index("ix_published_campaign_source_id", "published_campaign", ["source_id"])


def downgrade() -> None:
    op.drop_table("published_campaign")
    op.drop_table("published_source")
    op.drop_index("ix_cluster_published", "cluster")
    op.add_column("cluster", sa.Column("made_up", sa.Boolean(), server_default="false", nullable=False))
    op.execute("UPDATE cluster SET made_up = true WHERE origin = 'made_up'")
    op.drop_column("cluster", "origin")
