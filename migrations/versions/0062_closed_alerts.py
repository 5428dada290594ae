"""the reason and the state before of closed alerts, which release 0.2.0 overwrote with each analysis

Compatible with the previous release, which reads both.
"""

from alembic import op

revision = "0062"
down_revision = "0061"
branch_labels = None
depends_on = None

_REPAIR = """
UPDATE alert SET state_before = step.before ->> 'state', closed_because = step.action
FROM (
    SELECT DISTINCT ON (alert_id) alert_id, action, before FROM alert_action
    WHERE before ->> 'state' IS NOT NULL AND after ->> 'state' = 'closed'
    ORDER BY alert_id, id DESC
) AS step
WHERE step.alert_id = alert.id AND alert.state = 'closed' AND alert.state_before = 'closed'
"""


def upgrade() -> None:
    op.execute(_REPAIR)


def downgrade() -> None:
    """Leave the repaired rows, which the previous release reads too."""
