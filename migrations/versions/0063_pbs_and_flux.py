"""launchers PBS and Flux

Compatible with the previous release, which offers neither.
"""

from alembic import op

revision = "0063"
down_revision = "0062"
branch_labels = None
depends_on = None

_SYSTEMS = "'slurm', 'lsf', 'pbs', 'flux'"


def upgrade() -> None:
    _check("cluster", "launcher", f"'direct', {_SYSTEMS}")
    _check("batch_job", "system", _SYSTEMS)


def downgrade() -> None:
    _check("cluster", "launcher", "'direct', 'slurm', 'lsf'")
    _check("batch_job", "system", "'slurm', 'lsf'")


def _check(table: str, column: str, values: str) -> None:
    op.drop_constraint(op.f(f"ck_{table}_{column}"), table, type_="check")
    op.create_check_constraint(op.f(f"ck_{table}_{column}"), table, f"{column} IN ({values})")
