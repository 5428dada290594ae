"""schedules and their firings, windows of campaigns, blackouts of clusters"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "blackout",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("starts_at", _TIME, nullable=False),
        sa.Column("ends_at", _TIME, nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", _TIME, server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("starts_at < ends_at", name=op.f("ck_blackout_ends_at")),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["cluster.id"], name=op.f("fk_blackout_cluster_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["user_account.id"], name=op.f("fk_blackout_owner_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_blackout")),
    )
    op.create_index("ix_blackout_cluster_id_ends_at", "blackout", ["cluster_id", "ends_at"])
    op.create_table(
        "campaign_window",
        sa.Column("campaign_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("opens_at", _TIME, nullable=False),
        sa.Column("start_by", _TIME, nullable=False),
        sa.Column("turns_at", _TIME, nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_campaign_window_campaign_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("campaign_id", name=op.f("pk_campaign_window")),
    )
    op.create_index(
        "ix_campaign_window_turns_at",
        "campaign_window",
        ["turns_at"],
        postgresql_where=sa.text("turns_at IS NOT NULL"),
    )
    op.create_table(
        "schedule",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=True),
        sa.Column("plan", postgresql.JSONB(), nullable=False),
        sa.Column("cron", sa.String(), nullable=False),
        sa.Column("monthly", sa.String(), nullable=True),
        sa.Column("time_zone", sa.String(), nullable=False),
        sa.Column("random_offset_seconds", sa.Float(), nullable=False),
        sa.Column("ends_at", _TIME, nullable=True),
        sa.Column("max_firings", sa.BigInteger(), nullable=True),
        sa.Column("missed", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("firings_made", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("planned_at", _TIME, nullable=True),
        sa.Column("due_at", _TIME, nullable=True),
        sa.Column("created_at", _TIME, server_default=sa.text("now()"), nullable=False),
        sa.Column("removed_at", _TIME, nullable=True),
        sa.CheckConstraint("state IN ('active', 'paused', 'ended')", name=op.f("ck_schedule_state")),
        sa.CheckConstraint("missed IN ('skip', 'run_once')", name=op.f("ck_schedule_missed")),
        sa.CheckConstraint("(state = 'active') = (due_at IS NOT NULL)", name=op.f("ck_schedule_due_at")),
        sa.ForeignKeyConstraint(["cluster_id"], ["cluster.id"], name=op.f("fk_schedule_cluster_id")),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["user_account.id"], name=op.f("fk_schedule_owner_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedule")),
    )
    op.create_index(
        "uq_schedule_cluster_id_name",
        "schedule",
        ["cluster_id", "name"],
        unique=True,
        postgresql_where=sa.text("removed_at IS NULL"),
    )
    op.create_index("ix_schedule_due_at", "schedule", ["due_at"], postgresql_where=sa.text("state = 'active'"))
    op.create_table(
        "firing",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("schedule_id", sa.BigInteger(), nullable=False),
        sa.Column("planned_at", _TIME, nullable=False),
        sa.Column("fired_at", _TIME, nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=True),
        sa.Column("problem", sa.String(), nullable=True),
        sa.Column("missed", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("asked_by", sa.String(), nullable=True),
        sa.CheckConstraint("campaign_id IS NULL OR problem IS NULL", name=op.f("ck_firing_outcome")),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_firing_campaign_id")),
        sa.ForeignKeyConstraint(["schedule_id"], ["schedule.id"], name=op.f("fk_firing_schedule_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_firing")),
        sa.UniqueConstraint("schedule_id", "planned_at", name=op.f("uq_firing_schedule_id_planned_at")),
    )
    op.create_index("ix_firing_schedule_id_id", "firing", ["schedule_id", "id"])
    op.create_index("ix_firing_campaign_id", "firing", ["campaign_id"])


def downgrade() -> None:
    op.drop_table("firing")
    op.drop_table("schedule")
    op.drop_table("campaign_window")
    op.drop_table("blackout")
