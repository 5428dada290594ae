"""lists of all runs: indexes to sort by, the number a run is known by, and views that people keep

The previous release goes on: it knows none of this. Runs that it finishes meanwhile have no such number until their
points are computed again.
"""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

# As `results/ingest/headlines.py` had it then: what a migration did does not change with the code.
_FILL = """
    INSERT INTO run_headline (run_id, workload, series_id, value)
    SELECT DISTINCT ON (number.run_id) number.run_id, series.workload, number.series_id, number.value
    FROM (
        SELECT sample.run_id, sample.series_id, min(sample.id) AS first_id,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY sample.value) AS value
        FROM run
        JOIN sample ON sample.run_id = run.id
        JOIN node_order ON node_order.id = sample.order_id
        JOIN attempt ON attempt.id = node_order.attempt_id AND attempt.state = 'finished'
        WHERE run.state = 'finished'
        GROUP BY sample.run_id, sample.series_id
    ) AS number
    JOIN series ON series.id = number.series_id
    JOIN run ON run.id = number.run_id
    JOIN cell ON cell.id = run.cell_id
    JOIN workload ON workload.id = cell.workload_id
    LEFT JOIN LATERAL jsonb_array_elements(workload.metrics) WITH ORDINALITY AS announced (metric, place)
           ON announced.metric ->> 'name' = series.metric
    ORDER BY number.run_id, series.metric <> 'total_throughput', series.better <> 'higher', announced.place,
             number.first_id
"""


def upgrade() -> None:
    op.create_table(
        "run_headline",
        sa.Column("run_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("workload", sa.String(), nullable=False),
        sa.Column("series_id", sa.BigInteger(), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_run_headline_run_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name=op.f("fk_run_headline_series_id")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_run_headline")),
    )
    op.create_index("ix_run_headline_workload_value_run_id", "run_headline", ["workload", "value", "run_id"])
    op.create_index("ix_run_headline_series_id", "run_headline", ["series_id"])
    op.execute(_FILL)
    moment = sa.text("coalesce(started_at, created_at)")
    op.create_index("ix_run_moment", "run", [moment, "id"])
    op.create_index("ix_run_cluster_id_moment", "run", ["cluster_id", moment, "id"])
    op.create_index(
        "ix_run_duration",
        "run",
        [sa.text("(ended_at - started_at)"), "id"],
        postgresql_where=sa.text("ended_at IS NOT NULL AND started_at IS NOT NULL"),
    )
    op.create_index(
        "ix_run_flags",
        "run",
        ["flags"],
        postgresql_using="gin",
        postgresql_ops={"flags": "jsonb_path_ops"},
        postgresql_where=sa.text("flags <> '[]'"),
    )
    op.create_index("ix_cell_workload_id", "cell", ["workload_id"])
    op.create_table(
        "saved_view",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("query", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user_account.id"], name=op.f("fk_saved_view_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_view")),
        sa.UniqueConstraint("user_id", "name", name=op.f("uq_saved_view_user_id_name")),
    )


def downgrade() -> None:
    op.drop_table("saved_view")
    op.drop_index("ix_cell_workload_id", "cell")
    op.drop_index("ix_run_flags", "run")
    op.drop_index("ix_run_duration", "run")
    op.drop_index("ix_run_cluster_id_moment", "run")
    op.drop_index("ix_run_moment", "run")
    op.drop_table("run_headline")
