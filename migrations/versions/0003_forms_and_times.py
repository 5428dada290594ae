"""how long a run takes where its options say so; forms keep the order of their fields"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_ZERO = sa.text("""'{"kind": "number", "value": 0}'""")


def upgrade() -> None:
    op.add_column("workload", sa.Column("run_seconds", postgresql.JSONB(), server_default=_ZERO, nullable=False))

    _options_schema_as("json")


def downgrade() -> None:
    _options_schema_as("jsonb")
    op.drop_column("workload", "run_seconds")


def _options_schema_as(kind: str) -> None:
    op.execute(f"ALTER TABLE workload ALTER COLUMN options_schema TYPE {kind} USING options_schema::{kind}")
