"""alerts, their rules and groups, and whether a target's suspects are confirmed by runs

The previous release goes on: it neither reads nor writes these tables, and leaves the column of targets as it is. Its
worker does not know the work `alerts`, which the new one does.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "alert_group",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("window_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("window_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("node_ids", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("is_environment", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("told_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("kind IN ('change', 'missing')", name=op.f("ck_alert_group_kind")),
        sa.ForeignKeyConstraint(["cluster_id"], ["cluster.id"], name=op.f("fk_alert_group_cluster_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_group")),
    )
    op.create_index("ix_alert_group_cluster_id_at", "alert_group", ["cluster_id", "at"])
    op.create_table(
        "alert_rule",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("target_id", sa.BigInteger(), nullable=True),
        sa.Column("workload", sa.String(), nullable=True),
        sa.Column("metric", sa.String(), nullable=True),
        sa.Column("least_shift_ratio", sa.Float(), nullable=False),
        sa.Column("directions", sa.String(), nullable=False),
        sa.Column("missing_runs", sa.Boolean(), nullable=False),
        sa.Column("control_workload", sa.String(), nullable=True),
        sa.Column("muted_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("directions IN ('worse', 'both')", name=op.f("ck_alert_rule_directions")),
        sa.CheckConstraint("least_shift_ratio > 0", name=op.f("ck_alert_rule_least_shift_ratio")),
        sa.ForeignKeyConstraint(["cluster_id"], ["cluster.id"], name=op.f("fk_alert_rule_cluster_id")),
        sa.ForeignKeyConstraint(["target_id"], ["target.id"], name=op.f("fk_alert_rule_target_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_rule")),
    )
    op.create_index(
        "uq_alert_rule_cluster_id_name",
        "alert_rule",
        ["cluster_id", "name"],
        unique=True,
        postgresql_where=sa.text("removed_at IS NULL"),
    )
    op.create_table(
        "alert_rule_channel",
        sa.Column("rule_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["channel_id"], ["channel.id"], name=op.f("fk_alert_rule_channel_channel_id")),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["alert_rule.id"], name=op.f("fk_alert_rule_channel_rule_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("rule_id", "channel_id", name=op.f("pk_alert_rule_channel")),
    )
    op.create_index("ix_alert_rule_channel_channel_id", "alert_rule_channel", ["channel_id"])
    op.create_table(
        "series_mute",
        sa.Column("series_id", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["series_id"], ["series.id"], name=op.f("fk_series_mute_series_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("series_id", name=op.f("pk_series_mute")),
    )
    op.create_table(
        "alert",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("series_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("change_point_id", sa.BigInteger(), nullable=True),
        sa.Column("silent_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("schedule_id", sa.BigInteger(), nullable=True),
        sa.Column("rule_id", sa.BigInteger(), nullable=True),
        sa.Column("group_id", sa.BigInteger(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("window_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("window_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("raised_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("event_id", sa.BigInteger(), nullable=True),
        sa.Column("closed_because", sa.String(), nullable=True),
        sa.Column("state_before", sa.String(), nullable=True),
        sa.Column("baseline_level", sa.Float(), nullable=True),
        sa.Column("baseline_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("confirmation_id", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("(kind = 'missing') = (silent_since IS NOT NULL)", name=op.f("ck_alert_silent_since")),
        sa.CheckConstraint("(state = 'closed') = (closed_because IS NOT NULL)", name=op.f("ck_alert_closed")),
        sa.CheckConstraint("kind IN ('change', 'missing')", name=op.f("ck_alert_kind")),
        sa.CheckConstraint(
            "state IN ('suspect', 'untriaged', 'acknowledged', 'investigating', 'expected', 'noise', 'wont_fix',"
            " 'fixed', 'verified', 'recovered', 'closed')",
            name=op.f("ck_alert_state"),
        ),
        sa.CheckConstraint("(baseline_at IS NULL) = (baseline_level IS NULL)", name=op.f("ck_alert_baseline")),
        sa.ForeignKeyConstraint(
            ["change_point_id"], ["change_point.id"], name=op.f("fk_alert_change_point_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["cluster_id"], ["cluster.id"], name=op.f("fk_alert_cluster_id")),
        sa.ForeignKeyConstraint(["confirmation_id"], ["campaign.id"], name=op.f("fk_alert_confirmation_id")),
        sa.ForeignKeyConstraint(["event_id"], ["event.id"], name=op.f("fk_alert_event_id"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["group_id"], ["alert_group.id"], name=op.f("fk_alert_group_id")),
        sa.ForeignKeyConstraint(["owner_id"], ["user_account.id"], name=op.f("fk_alert_owner_id"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["rule_id"], ["alert_rule.id"], name=op.f("fk_alert_rule_id")),
        sa.ForeignKeyConstraint(["schedule_id"], ["schedule.id"], name=op.f("fk_alert_schedule_id")),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name=op.f("fk_alert_series_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert")),
        sa.UniqueConstraint("change_point_id", name=op.f("uq_alert_change_point_id")),
        sa.UniqueConstraint("series_id", "silent_since", name=op.f("uq_alert_series_id_silent_since")),
    )
    op.create_index("ix_alert_cluster_id_id", "alert", ["cluster_id", "id"])
    op.create_index("ix_alert_group_id", "alert", ["group_id"])
    op.create_index("ix_alert_rule_id", "alert", ["rule_id"])
    op.create_index(
        "uq_alert_suspect", "alert", ["series_id"], unique=True, postgresql_where=sa.text("state = 'suspect'")
    )
    op.create_table(
        "alert_action",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("alert_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("who", sa.String(), nullable=True),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("comment", sa.String(), nullable=False),
        sa.Column("before", postgresql.JSONB(), nullable=False),
        sa.Column("after", postgresql.JSONB(), nullable=False),
        sa.ForeignKeyConstraint(["alert_id"], ["alert.id"], name=op.f("fk_alert_action_alert_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_action")),
    )
    op.create_index("ix_alert_action_alert_id", "alert_action", ["alert_id", "id"])
    op.add_column("target", sa.Column("confirms_suspects", sa.Boolean(), server_default="false", nullable=False))


def downgrade() -> None:
    op.drop_column("target", "confirms_suspects")
    op.drop_table("alert_action")
    op.drop_table("alert")
    op.drop_table("series_mute")
    op.drop_table("alert_rule_channel")
    op.drop_table("alert_rule")
    op.drop_table("alert_group")
    op.execute("DELETE FROM work WHERE kind IN ('alerts', 'alert_group', 'oversight')")
