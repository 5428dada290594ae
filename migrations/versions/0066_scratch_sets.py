"""scratch sets that nodes announce, and those that admins enabled

Compatible with the previous release, which does not know the table: its rows go with their node or cluster.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0066"
down_revision = "0065"
branch_labels = None
depends_on = None

_TABLE = "scratch_set"
_REFERENCES = {
    "cluster_id": ("cluster", "CASCADE"),
    "node_id": ("node", "CASCADE"),
    "target_id": ("target", "SET NULL"),
}
_ENABLED = "num_nulls(enabled_sha256, enabled_disks, enabled_at, enabled_by) IN (0, 4)"


def upgrade() -> None:
    op.create_table(
        _TABLE,
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("node_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("announced", postgresql.JSONB(), nullable=False),
        sa.Column("disks_sha256", sa.String(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("enabled_sha256", sa.String()),
        sa.Column("enabled_disks", postgresql.JSONB()),
        sa.Column("enabled_at", sa.DateTime(timezone=True)),
        sa.Column("enabled_by", sa.String()),
        sa.Column("allows_schedules", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("allows_tokens", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("target_id", sa.BigInteger()),
        *(
            sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(f"fk_{_TABLE}_{column}"), ondelete=ondelete)
            for column, (table, ondelete) in _REFERENCES.items()
        ),
        sa.CheckConstraint(_ENABLED, name=op.f(f"ck_{_TABLE}_enabled")),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{_TABLE}")),
        sa.UniqueConstraint("node_id", "name", name=op.f(f"uq_{_TABLE}_node_id_name")),
    )
    op.create_index(f"ix_{_TABLE}_cluster_id", _TABLE, ["cluster_id"])
    op.create_index(f"ix_{_TABLE}_target_id", _TABLE, ["target_id"])


def downgrade() -> None:
    op.drop_table(_TABLE)
