"""stages that mount the export of a scratch set on clients

Compatible with the previous release, which has no campaigns on scratch sets.
"""

from alembic import op

revision = "0069"
down_revision = "0068"
branch_labels = None
depends_on = None

_DOES = "ck_campaign_stage_does"


def upgrade() -> None:
    op.drop_constraint(op.f(_DOES), "campaign_stage")
    op.create_check_constraint(op.f(_DOES), "campaign_stage", "does IN ('measure', 'make', 'fill', 'mount', 'clean')")


def downgrade() -> None:
    op.execute("DELETE FROM campaign_stage WHERE does = 'mount'")
    op.drop_constraint(op.f(_DOES), "campaign_stage")
    op.create_check_constraint(op.f(_DOES), "campaign_stage", "does IN ('measure', 'make', 'fill', 'clean')")
