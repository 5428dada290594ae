"""one MPI program over all nodes of a gang: its roles, which workloads have one, reasons of orders

Stored plans of ior and mdtest with several nodes at once keep their meaning: each node starts its own program. The
previous release starts none of these plans, since its ior and mdtest have no such option.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0069"
down_revision = "0068"
branch_labels = None
depends_on = None

_ROLE = "ck_cell_node_step_role"
_TABLES = ("campaign", "schedule", "template")
_OPTION = "program_per_node"
_OF_SEVERAL_NODES = (
    "choice ->> 'workload' IN ('ior', 'mdtest')"
    " AND coalesce(nullif(choice -> 'nodes_at_once', 'null'), plan -> 'nodes_at_once', 'false')"
    " NOT IN ('false', 'null', '[1]')"
    f" AND NOT coalesce(nullif(choice -> 'options', 'null'), '{{}}') ? '{_OPTION}'"
    f" AND NOT coalesce(nullif(choice -> 'sweep', 'null'), '{{}}') ? '{_OPTION}'"
)


def upgrade() -> None:
    op.add_column(
        "workload",
        sa.Column(
            "own_programs", JSONB(), server_default=sa.text("""'{"kind": "number", "value": 1}'"""), nullable=False
        ),
    )
    op.add_column("node_order", sa.Column("reason_code", sa.String()))
    op.drop_constraint(op.f(_ROLE), "cell_node")
    roles = "step_role IN ('sender', 'receiver', 'maker', 'head', 'member')"
    op.create_check_constraint(op.f(_ROLE), "cell_node", roles)
    for table in _TABLES:
        _change(table, _OF_SEVERAL_NODES, f"""|| '{{"{_OPTION}": true}}'""")


def downgrade() -> None:
    for table in _TABLES:
        _change(
            table, f"choice ->> 'workload' IN ('ior', 'mdtest') AND choice -> 'options' ? '{_OPTION}'", f"- '{_OPTION}'"
        )
    op.execute("UPDATE cell_node SET step_role = NULL WHERE step_role IN ('head', 'member')")
    op.drop_constraint(op.f(_ROLE), "cell_node")
    op.create_check_constraint(op.f(_ROLE), "cell_node", "step_role IN ('sender', 'receiver', 'maker')")
    op.drop_column("node_order", "reason_code")
    op.drop_column("workload", "own_programs")


def _change(table: str, of_choice: str, change: str) -> None:
    op.execute(
        f"""
        UPDATE {table} SET plan = jsonb_set(plan, '{{workloads}}', (
            SELECT jsonb_agg(
                CASE WHEN {of_choice} THEN jsonb_set(
                    choice, '{{options}}', coalesce(nullif(choice -> 'options', 'null'), '{{}}') {change}
                ) ELSE choice END ORDER BY place)
            FROM jsonb_array_elements(plan -> 'workloads') WITH ORDINALITY AS chosen (choice, place)))
        WHERE EXISTS (SELECT FROM jsonb_array_elements(plan -> 'workloads') AS choice WHERE {of_choice})
        """  # noqa: S608 - made of the constants above
    )
