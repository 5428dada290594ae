"""incidents: groups of alerts with state, end, size, cause and owner, of all confirmed changes

Compatible with the previous release, which writes groups of kind `change` or `missing` and leaves the columns as they
are. It does not know the work.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0064"
down_revision = "0063"
branch_labels = None
depends_on = None

_COLUMNS: tuple[tuple[str, Any, dict[str, Any]], ...] = (
    ("state", sa.String(), {"server_default": "open", "nullable": False}),
    ("ended_at", sa.DateTime(timezone=True), {}),
    ("series_count", sa.BigInteger(), {"server_default": "0", "nullable": False}),
    ("worst_change_id", sa.BigInteger(), {}),
    ("worst_ratio", sa.Float(), {}),
    ("owner_id", sa.BigInteger(), {}),
    ("event_id", sa.BigInteger(), {}),
    ("is_event_set", sa.Boolean(), {"server_default": "false", "nullable": False}),
)
_REFERENCES = {"worst_change_id": "change_point", "owner_id": "user_account", "event_id": "event"}
_STATES = "state IN ('open', 'acknowledged', 'expected', 'ignored', 'ended', 'withdrawn')"
_JOIN_UP = """
INSERT INTO work (kind, key, due_at) SELECT 'incidents', 0, now()
WHERE EXISTS (SELECT FROM change_point WHERE confirmed_at IS NOT NULL) OR EXISTS (SELECT FROM alert)
ON CONFLICT (kind, key) DO UPDATE SET version = work.version + 1, sends = 0, due_at = excluded.due_at
"""
_FORGET = "DELETE FROM alert_group WHERE kind IN ('better', 'neither')"
_LEAVE = """
UPDATE alert SET group_id = NULL FROM alert_group AS incident
WHERE incident.id = alert.group_id AND incident.kind IN ('better', 'neither')
"""


def upgrade() -> None:
    for name, kind, more in _COLUMNS:
        op.add_column("alert_group", sa.Column(name, kind, **more))
    for column, table in _REFERENCES.items():
        name = op.f(f"fk_alert_group_{column}")
        op.create_foreign_key(name, "alert_group", table, [column], ["id"], ondelete="SET NULL")
        op.create_index(f"ix_alert_group_{column}", "alert_group", [column])
    op.create_check_constraint(op.f("ck_alert_group_state"), "alert_group", _STATES)
    _kinds("'change', 'missing', 'better', 'neither'")
    op.create_table(
        "incident_change",
        sa.Column("change_point_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("incident_id", sa.BigInteger(), nullable=False),
        *_foreign("incident_change", change_point_id="change_point", incident_id="alert_group"),
        sa.PrimaryKeyConstraint("change_point_id", name=op.f("pk_incident_change")),
    )
    op.create_index("ix_incident_change_incident_id", "incident_change", ["incident_id"])
    op.create_table(
        "incident_action",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("incident_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("comment", sa.String(), nullable=False),
        *_foreign("incident_action", incident_id="alert_group"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_incident_action")),
    )
    op.create_index("ix_incident_action_incident_id", "incident_action", ["incident_id", "id"])
    op.execute(_JOIN_UP)


def downgrade() -> None:
    op.execute("DELETE FROM work WHERE kind IN ('incidents', 'default_rule')")
    op.drop_table("incident_action")
    op.drop_table("incident_change")
    op.execute(_LEAVE)
    op.execute(_FORGET)
    _kinds("'change', 'missing'")
    op.drop_constraint(op.f("ck_alert_group_state"), "alert_group", type_="check")
    for name, _, _ in reversed(_COLUMNS):
        op.drop_column("alert_group", name)


def _kinds(kinds: str) -> None:
    op.drop_constraint(op.f("ck_alert_group_kind"), "alert_group", type_="check")
    op.create_check_constraint(op.f("ck_alert_group_kind"), "alert_group", f"kind IN ({kinds})")


def _foreign(table: str, **references: str) -> list[sa.ForeignKeyConstraint]:
    return [
        sa.ForeignKeyConstraint([column], [f"{other}.id"], name=op.f(f"fk_{table}_{column}"), ondelete="CASCADE")
        for column, other in references.items()
    ]
