"""what never changes of a run is no longer carried by its places in lines

The previous release goes on: it reads the nodes of runs whose places do not say how many they are, and the rows of places
where the index lacks what it asks. `line_place.node_count` stays for it.
"""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_KEY = ["node_id", "owner_id", "sort_key", "run_id"]


def upgrade() -> None:
    op.drop_index("ix_line_place_line", table_name="line_place")
    op.create_index(
        "ix_line_place_line", "line_place", _KEY, unique=False, postgresql_include=["not_before", "target_ids"]
    )


def downgrade() -> None:
    op.drop_index("ix_line_place_line", table_name="line_place")
    op.create_index(
        "ix_line_place_line",
        "line_place",
        _KEY,
        unique=False,
        postgresql_include=["not_before", "target_ids", "shared_target_ids", "node_count"],
    )
