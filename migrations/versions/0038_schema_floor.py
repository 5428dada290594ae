"""how old code may be that works on the schema, so that a release can start beside the next one

The previous release goes on: it asks for none of this.
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
