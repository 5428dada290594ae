"""indexes of hot reads; columns that nothing read are dropped at once, as no release has used them"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_constraint(op.f("uq_point_series_id_cell_id"), "point", type_="unique")
    op.create_unique_constraint(op.f("uq_point_cell_id_series_id"), "point", ["cell_id", "series_id"])
    op.create_index("ix_series_target_ids", "series", ["target_ids"], unique=False, postgresql_using="gin")
    op.drop_column("line_place", "exclusive")
    op.drop_column("target", "free_after_limit")
    op.drop_column("workload_baseline", "series_revision")


def downgrade() -> None:
    op.add_column("workload_baseline", sa.Column("series_revision", sa.BigInteger(), nullable=True))
    op.execute(
        "UPDATE workload_baseline SET series_revision = coalesce((SELECT max(revision) FROM workload"
        " WHERE workload.name = workload_baseline.name AND breaks_series), 1)"
    )
    op.alter_column("workload_baseline", "series_revision", nullable=False)
    op.add_column("target", sa.Column("free_after_limit", sa.Boolean(), server_default="false", nullable=False))
    op.add_column("line_place", sa.Column("exclusive", sa.String(), nullable=True))
    op.execute("UPDATE line_place SET exclusive = run.exclusive FROM run WHERE run.id = line_place.run_id")
    op.alter_column("line_place", "exclusive", nullable=False)
    op.drop_index("ix_series_target_ids", table_name="series", postgresql_using="gin")
    op.drop_constraint(op.f("uq_point_cell_id_series_id"), "point", type_="unique")
    op.create_unique_constraint(op.f("uq_point_series_id_cell_id"), "point", ["series_id", "cell_id"])
