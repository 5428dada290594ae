"""stages that fill what was made on a scratch set

Compatible with the previous release, which has no campaigns on scratch sets.
"""

from alembic import op

revision = "0068"
down_revision = "0067"
branch_labels = None
depends_on = None

_DOES = "ck_campaign_stage_does"


def upgrade() -> None:
    op.drop_constraint(op.f(_DOES), "campaign_stage")
    op.create_check_constraint(op.f(_DOES), "campaign_stage", "does IN ('measure', 'make', 'fill', 'clean')")


def downgrade() -> None:
    op.execute("UPDATE campaign_stage SET does = 'make' WHERE does = 'fill'")
    op.drop_constraint(op.f(_DOES), "campaign_stage")
    op.create_check_constraint(op.f(_DOES), "campaign_stage", "does IN ('measure', 'make', 'clean')")
