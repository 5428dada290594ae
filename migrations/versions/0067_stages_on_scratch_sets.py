"""stages that make a file system on a scratch set, and the campaign that holds a set

Compatible with the previous release, which has no campaigns on scratch sets.
"""

import sqlalchemy as sa
from alembic import op

revision = "0067"
down_revision = "0066"
branch_labels = None
depends_on = None

_ROLE = "ck_cell_node_step_role"


def upgrade() -> None:
    op.add_column("scratch_set", sa.Column("campaign_id", sa.BigInteger()))
    op.add_column("campaign_stage", sa.Column("does", sa.String(), server_default="measure", nullable=False))
    op.add_column("campaign_stage", sa.Column("scratch_set_id", sa.BigInteger()))
    op.create_foreign_key(
        op.f("fk_campaign_stage_scratch_set_id"),
        "campaign_stage",
        "scratch_set",
        ["scratch_set_id"],
        ["id"],
        ondelete="SET NULL",
    )
    op.create_check_constraint(op.f("ck_campaign_stage_does"), "campaign_stage", "does IN ('measure', 'make', 'clean')")
    op.drop_constraint(op.f(_ROLE), "cell_node")
    op.create_check_constraint(op.f(_ROLE), "cell_node", "step_role IN ('sender', 'receiver', 'maker')")


def downgrade() -> None:
    op.execute("DELETE FROM cell_node WHERE step_role = 'maker'")
    op.drop_constraint(op.f(_ROLE), "cell_node")
    op.create_check_constraint(op.f(_ROLE), "cell_node", "step_role IN ('sender', 'receiver')")
    op.drop_constraint(op.f("fk_campaign_stage_scratch_set_id"), "campaign_stage")
    op.drop_column("campaign_stage", "scratch_set_id")
    op.drop_column("campaign_stage", "does")
    op.drop_column("scratch_set", "campaign_id")
