"""targets of storage nodes that others stand on"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    target = sa.ForeignKey("target.id", name=op.f("fk_target_backing_target_id"), ondelete="CASCADE")
    backing = sa.ForeignKey("target.id", name=op.f("fk_target_backing_backing_id"), ondelete="CASCADE")
    op.create_table(
        "target_backing",
        sa.Column("target_id", sa.BigInteger(), target, nullable=False),
        sa.Column("backing_id", sa.BigInteger(), backing, nullable=False),
        sa.CheckConstraint("target_id <> backing_id", name=op.f("ck_target_backing_itself")),
        sa.PrimaryKeyConstraint("target_id", "backing_id", name=op.f("pk_target_backing")),
    )
    op.create_index("ix_target_backing_backing_id", "target_backing", ["backing_id"])


def downgrade() -> None:
    op.drop_table("target_backing")
