"""queue positions and copies of a cell's values are written without foreign key checks

A run's campaign and cluster are those of its cell, which it references. Nodes and runs are never deleted.
"""

from alembic import op

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None

_DROPPED = (("run", "campaign"), ("run", "cluster"), ("line_place", "node"), ("line_place", "run"))


def upgrade() -> None:
    for table, other in _DROPPED:
        op.drop_constraint(op.f(f"fk_{table}_{other}_id"), table, type_="foreignkey")


def downgrade() -> None:
    for table, other in _DROPPED:
        op.create_foreign_key(op.f(f"fk_{table}_{other}_id"), table, other, [f"{other}_id"], ["id"])
