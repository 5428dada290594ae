"""who read raw output when, and what former readings said"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "reading",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("order_id", sa.BigInteger(), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), nullable=False),
        sa.Column("workload_revision", sa.BigInteger(), nullable=False),
        sa.Column("parser_version", sa.String(), nullable=True),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("read_by", sa.String(), nullable=True),
        sa.Column("flags", postgresql.JSONB(), nullable=False),
        sa.Column("samples", postgresql.JSONB(), nullable=True),
        sa.ForeignKeyConstraint(["order_id"], ["node_order.id"], name=op.f("fk_reading_order_id")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_reading_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reading")),
        sa.UniqueConstraint("order_id", "ordinal", name=op.f("uq_reading_order_id_ordinal")),
    )
    op.create_index("ix_reading_run_id", "reading", ["run_id"])


def downgrade() -> None:
    op.drop_table("reading")
