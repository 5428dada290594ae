"""oldest code that works on the schema, so that two releases can run during an upgrade

Compatible with the previous release, which does not read it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "schema_floor",
        sa.Column("revision", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("revision", name=op.f("pk_schema_floor")),
    )


def downgrade() -> None:
    op.drop_table("schema_floor")
