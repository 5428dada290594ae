"""retention rule for raw output and per-second values, and the runs it was applied to

Compatible with the previous release, which reads thinned curves like others, without their ranges.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # First, because this commits the preceding statements. The migration can then be repeated from the beginning.
    with op.get_context().autocommit_block():
        # An interrupted build leaves an invalid index.
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_artefact_sha256")
        op.create_index("ix_artefact_sha256", "artefact", ["sha256"], postgresql_concurrently=True)
    op.create_table(
        "retention",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("raw_output_days", sa.BigInteger(), nullable=True),
        sa.Column("curve_days", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("id = 1", name=op.f("ck_retention_one")),
        sa.CheckConstraint("raw_output_days >= 1 AND curve_days >= 1", name=op.f("ck_retention_days")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_retention")),
    )
    op.create_table(
        "kept_campaign",
        sa.Column("campaign_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_kept_campaign_campaign_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("campaign_id", name=op.f("pk_kept_campaign")),
    )
    op.create_table(
        "thinned_run",
        sa.Column("run_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("raw_removed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("curves_thinned_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_thinned_run_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_thinned_run")),
    )
    op.add_column("curve_chunk", sa.Column("lows", postgresql.ARRAY(sa.REAL()), nullable=True))
    op.add_column("curve_chunk", sa.Column("highs", postgresql.ARRAY(sa.REAL()), nullable=True))


def downgrade() -> None:
    op.drop_index("ix_artefact_sha256", "artefact")
    op.drop_column("curve_chunk", "highs")
    op.drop_column("curve_chunk", "lows")
    op.drop_table("thinned_run")
    op.drop_table("kept_campaign")
    op.drop_table("retention")
