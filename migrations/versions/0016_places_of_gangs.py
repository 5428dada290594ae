"""places in lines say of how many nodes their run is

The previous release goes on with the wider index; what it lets wait meanwhile says 0, and its nodes are read.
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("line_place", sa.Column("node_count", sa.BigInteger(), server_default="0", nullable=False))
    op.execute(
        """
        UPDATE line_place SET node_count = counted.nodes
        FROM (SELECT run_id, count(*) AS nodes FROM line_place GROUP BY run_id) AS counted
        WHERE counted.run_id = line_place.run_id
        """
    )
    op.drop_index("ix_line_place_line", table_name="line_place")
    op.create_index(
        "ix_line_place_line",
        "line_place",
        ["node_id", "owner_id", "sort_key", "run_id"],
        unique=False,
        postgresql_include=["not_before", "target_ids", "shared_target_ids", "node_count"],
    )


def downgrade() -> None:
    op.drop_index("ix_line_place_line", table_name="line_place")
    op.create_index(
        "ix_line_place_line",
        "line_place",
        ["node_id", "owner_id", "sort_key", "run_id"],
        unique=False,
        postgresql_include=["not_before", "target_ids", "shared_target_ids"],
    )
    op.drop_column("line_place", "node_count")
