"""stored plans: dd's file size is explicit where it was the default of 1 GiB, which is now twice the memory

Compatible with the previous release, which reads it as a given size.
"""

from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

_SIZE_BYTES = 1024**3
_TABLES = ("campaign", "schedule", "template")
_LEFT_OUT = (
    "choice ->> 'workload' = 'dd' AND NOT coalesce(choice -> 'options', '{}') ? 'file_size_bytes'"
    " AND NOT coalesce(choice -> 'sweep', '{}') ? 'file_size_bytes'"
)


def upgrade() -> None:
    for table in _TABLES:
        op.execute(
            f"""
            UPDATE {table} SET plan = jsonb_set(plan, '{{workloads}}', (
                SELECT jsonb_agg(
                    CASE WHEN {_LEFT_OUT} THEN jsonb_set(
                        choice, '{{options}}',
                        coalesce(choice -> 'options', '{{}}') || '{{"file_size_bytes": {_SIZE_BYTES}}}'
                    ) ELSE choice END ORDER BY place)
                FROM jsonb_array_elements(plan -> 'workloads') WITH ORDINALITY AS chosen (choice, place)))
            WHERE EXISTS (SELECT FROM jsonb_array_elements(plan -> 'workloads') AS choice WHERE {_LEFT_OUT})
            """  # noqa: S608 - made of the constants above
        )


def downgrade() -> None:
    """Nothing to do: an explicit size means the same there."""
