"""first schema"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

LEASE_COUNTERS = """
CREATE FUNCTION count_lease() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    step integer := CASE WHEN TG_OP = 'INSERT' THEN 1 ELSE -1 END;
    changed bigint;
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.active THEN
        RAISE EXCEPTION 'a released lease stays released (lease %)', OLD.id;
    END IF;
    EXECUTE format(
        'UPDATE %I SET %I = %I + $1 WHERE id = $2',
        NEW.resource_kind, NEW.mode || '_leases', NEW.mode || '_leases'
    ) USING step, NEW.resource_id;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed <> 1 THEN
        RAISE EXCEPTION 'no % with id % to lease', NEW.resource_kind, NEW.resource_id;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER lease_taken AFTER INSERT ON lease FOR EACH ROW WHEN (NEW.active) EXECUTE FUNCTION count_lease();
CREATE TRIGGER lease_released AFTER UPDATE OF active ON lease FOR EACH ROW
    WHEN (OLD.active IS DISTINCT FROM NEW.active) EXECUTE FUNCTION count_lease();
CREATE FUNCTION keep_active_lease() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an active lease is released, not deleted (lease %)', OLD.id;
END
$$;
CREATE TRIGGER lease_kept BEFORE DELETE ON lease FOR EACH ROW WHEN (OLD.active) EXECUTE FUNCTION keep_active_lease();
"""


def upgrade() -> None:
    op.create_table(
        "audit_entry",
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("principal_kind", sa.String(), nullable=False),
        sa.Column("principal_id", sa.BigInteger(), nullable=True),
        sa.Column("principal_name", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=True),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject_kind", sa.String(), nullable=False),
        sa.Column("subject_id", sa.BigInteger(), nullable=True),
        sa.Column("cluster_id", sa.BigInteger(), nullable=True),
        sa.Column("before", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("after", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entry")),
    )
    op.create_index(
        "ix_audit_entry_cluster_id_id", "audit_entry", ["cluster_id", sa.literal_column("id DESC")], unique=False
    )
    op.create_table(
        "blob",
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_blob")),
    )
    op.create_table(
        "change",
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("subject_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=True),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_change")),
    )
    op.create_index("ix_change_at", "change", ["at"], unique=False)
    op.create_table(
        "environment",
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("facts", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_environment")),
    )
    op.create_table(
        "user_account",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user_account")),
        sa.UniqueConstraint("name", name=op.f("uq_user_account_name")),
    )
    op.create_table(
        "work",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("key", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("version", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("done_version", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("sends", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("failure", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("kind", "key", name=op.f("pk_work")),
    )
    op.create_index("ix_work_due", "work", ["due_at"], unique=False, postgresql_where=sa.text("done_version < version"))
    op.create_table(
        "workload",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("schema_sha256", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("options_schema", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("option_defaults", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("metrics", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("bytes_needed", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("bytes_moved", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("breaks_series", sa.Boolean(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("first_seen_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workload")),
        sa.UniqueConstraint("name", "revision", "schema_sha256", name=op.f("uq_workload_name_revision_schema_sha256")),
    )
    op.create_table(
        "workload_baseline",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("option_defaults", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("series_revision", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_workload_baseline")),
    )
    op.create_table(
        "api_token",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("secret_sha256", sa.String(), nullable=False),
        sa.Column("scopes", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user_account.id"], name=op.f("fk_api_token_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_token")),
        sa.UniqueConstraint("secret_sha256", name=op.f("uq_api_token_secret_sha256")),
    )
    op.create_table(
        "cluster",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("description", sa.String(), server_default="", nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("shared_leases", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("exclusive_leases", sa.BigInteger(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "exclusive_leases BETWEEN 0 AND 1 AND shared_leases >= 0 AND (exclusive_leases = 0 OR shared_leases = 0)",
            name=op.f("ck_cluster_leases"),
        ),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["user_account.id"], name=op.f("fk_cluster_owner_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cluster")),
        sa.UniqueConstraint("name", name=op.f("uq_cluster_name")),
    )
    op.create_table(
        "login_link",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("secret_sha256", sa.String(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user_account.id"], name=op.f("fk_login_link_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_login_link")),
        sa.UniqueConstraint("secret_sha256", name=op.f("uq_login_link_secret_sha256")),
    )
    op.create_table(
        "user_session",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("secret_sha256", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user_account.id"], name=op.f("fk_user_session_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user_session")),
        sa.UniqueConstraint("secret_sha256", name=op.f("uq_user_session_secret_sha256")),
    )
    op.create_table(
        "campaign",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=True),
        sa.Column("plan", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("cancelled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("idempotency_key", sa.String(), nullable=True),
        sa.Column("request_sha256", sa.String(), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.ForeignKeyConstraint(["cluster_id"], ["cluster.id"], name=op.f("fk_campaign_cluster_id")),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["user_account.id"], name=op.f("fk_campaign_owner_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaign")),
        sa.UniqueConstraint("owner_id", "idempotency_key", name=op.f("uq_campaign_owner_id_idempotency_key")),
    )
    op.create_index("ix_campaign_cluster_id_id", "campaign", ["cluster_id", "id"], unique=False)
    op.create_table(
        "join_token",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("secret_sha256", sa.String(), nullable=False),
        sa.Column("uses_left", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.CheckConstraint("uses_left >= 0", name=op.f("ck_join_token_uses_left")),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["cluster.id"], name=op.f("fk_join_token_cluster_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["user_account.id"], name=op.f("fk_join_token_owner_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_join_token")),
        sa.UniqueConstraint("secret_sha256", name=op.f("uq_join_token_secret_sha256")),
    )
    op.create_table(
        "node",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("slots", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("token_sha256", sa.String(), nullable=False),
        sa.Column("redis_password_sha256", sa.String(), nullable=False),
        sa.Column("agent_version", sa.String(), nullable=True),
        sa.Column("agent_instance", sa.String(), nullable=True),
        sa.Column("boot_id", sa.String(), nullable=True),
        sa.Column("facts", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("mounts", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("approved_directories", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("problem", sa.String(), nullable=True),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("shared_leases", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("exclusive_leases", sa.BigInteger(), server_default="0", nullable=False),
        sa.CheckConstraint("role IN ('compute', 'storage')", name=op.f("ck_node_role")),
        sa.CheckConstraint(
            "exclusive_leases BETWEEN 0 AND 1 AND shared_leases >= 0 AND (exclusive_leases = 0 OR shared_leases = 0) AND shared_leases <= slots",
            name=op.f("ck_node_leases"),
        ),
        sa.CheckConstraint("slots BETWEEN 1 AND 1000", name=op.f("ck_node_slots")),
        sa.ForeignKeyConstraint(["cluster_id"], ["cluster.id"], name=op.f("fk_node_cluster_id")),
        sa.ForeignKeyConstraint(["owner_id"], ["user_account.id"], name=op.f("fk_node_owner_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_node")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_node_token_sha256")),
    )
    op.create_index(
        "uq_node_cluster_id_name",
        "node",
        ["cluster_id", "name"],
        unique=True,
        postgresql_where=sa.text("retired_at IS NULL"),
    )
    op.create_table(
        "role_grant",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=True),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.CheckConstraint("role IN ('viewer', 'operator', 'admin')", name=op.f("ck_role_grant_role")),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["cluster.id"], name=op.f("fk_role_grant_cluster_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user_account.id"], name=op.f("fk_role_grant_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_role_grant")),
        sa.UniqueConstraint(
            "user_id", "cluster_id", name=op.f("uq_role_grant_user_id_cluster_id"), postgresql_nulls_not_distinct=True
        ),
    )
    op.create_table(
        "series",
        sa.Column("key_sha256", sa.String(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("node_ids", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("target_ids", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("workload", sa.String(), nullable=False),
        sa.Column("series_revision", sa.BigInteger(), nullable=False),
        sa.Column("options", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("options_sha256", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column("better", sa.String(), nullable=False),
        sa.Column("labels", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.ForeignKeyConstraint(["cluster_id"], ["cluster.id"], name=op.f("fk_series_cluster_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_series")),
        sa.UniqueConstraint("key_sha256", name=op.f("uq_series_key_sha256")),
    )
    op.create_index("ix_series_cluster_id_id", "series", ["cluster_id", "id"], unique=False)
    op.create_table(
        "target",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("reserve_bytes", sa.BigInteger(), nullable=True),
        sa.Column("free_after_limit", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("shared_leases", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("exclusive_leases", sa.BigInteger(), server_default="0", nullable=False),
        sa.CheckConstraint("scope IN ('node', 'shared')", name=op.f("ck_target_scope")),
        sa.CheckConstraint(
            "exclusive_leases BETWEEN 0 AND 1 AND shared_leases >= 0 AND (exclusive_leases = 0 OR shared_leases = 0)",
            name=op.f("ck_target_leases"),
        ),
        sa.CheckConstraint("reserve_bytes >= 0", name=op.f("ck_target_reserve_bytes")),
        sa.ForeignKeyConstraint(["cluster_id"], ["cluster.id"], name=op.f("fk_target_cluster_id")),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["user_account.id"], name=op.f("fk_target_owner_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_target")),
    )
    op.create_index(
        "uq_target_cluster_id_name",
        "target",
        ["cluster_id", "name"],
        unique=True,
        postgresql_where=sa.text("retired_at IS NULL"),
    )
    op.create_table(
        "cell",
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), nullable=False),
        sa.Column("workload_id", sa.BigInteger(), nullable=False),
        sa.Column("options", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("options_sha256", sa.String(), nullable=False),
        sa.Column("bytes_needed", sa.Double(), nullable=False),
        sa.Column("bytes_moved", sa.Double(), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_cell_campaign_id")),
        sa.ForeignKeyConstraint(["workload_id"], ["workload.id"], name=op.f("fk_cell_workload_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cell")),
        sa.UniqueConstraint("campaign_id", "ordinal", name=op.f("uq_cell_campaign_id_ordinal")),
    )
    op.create_table(
        "node_beat",
        sa.Column("node_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["node_id"], ["node.id"], name=op.f("fk_node_beat_node_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("node_id", name=op.f("pk_node_beat")),
        postgresql_with={"fillfactor": "50"},
    )
    op.create_table(
        "node_workload",
        sa.Column("node_id", sa.BigInteger(), nullable=False),
        sa.Column("workload_id", sa.BigInteger(), nullable=False),
        sa.Column("available", sa.Boolean(), nullable=False),
        sa.Column("unavailable_because", sa.String(), nullable=True),
        sa.Column("tool_version", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["node_id"], ["node.id"], name=op.f("fk_node_workload_node_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["workload_id"], ["workload.id"], name=op.f("fk_node_workload_workload_id")),
        sa.PrimaryKeyConstraint("node_id", "workload_id", name=op.f("pk_node_workload")),
    )
    op.create_table(
        "target_mount",
        sa.Column("target_id", sa.BigInteger(), nullable=False),
        sa.Column("node_id", sa.BigInteger(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("fstype", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("mount_options", sa.String(), nullable=False),
        sa.Column("total_bytes", sa.BigInteger(), nullable=True),
        sa.Column("free_bytes", sa.BigInteger(), nullable=True),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("problem", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["node_id"], ["node.id"], name=op.f("fk_target_mount_node_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["target_id"], ["target.id"], name=op.f("fk_target_mount_target_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("target_id", "node_id", name=op.f("pk_target_mount")),
    )
    op.create_index("ix_target_mount_node_id", "target_mount", ["node_id"], unique=False)
    op.create_table(
        "cell_node",
        sa.Column("cell_id", sa.BigInteger(), nullable=False),
        sa.Column("node_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["cell_id"], ["cell.id"], name=op.f("fk_cell_node_cell_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["node_id"], ["node.id"], name=op.f("fk_cell_node_node_id")),
        sa.PrimaryKeyConstraint("cell_id", "node_id", name=op.f("pk_cell_node")),
    )
    op.create_index("ix_cell_node_node_id", "cell_node", ["node_id"], unique=False)
    op.create_table(
        "cell_target",
        sa.Column("cell_id", sa.BigInteger(), nullable=False),
        sa.Column("target_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["cell_id"], ["cell.id"], name=op.f("fk_cell_target_cell_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["target_id"], ["target.id"], name=op.f("fk_cell_target_target_id")),
        sa.PrimaryKeyConstraint("cell_id", "target_id", name=op.f("pk_cell_target")),
    )
    op.create_index("ix_cell_target_target_id", "cell_target", ["target_id"], unique=False)
    op.create_table(
        "point",
        sa.Column("series_id", sa.BigInteger(), nullable=False),
        sa.Column("cell_id", sa.BigInteger(), nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("median", sa.Double(), nullable=False),
        sa.Column("low", sa.Double(), nullable=False),
        sa.Column("high", sa.Double(), nullable=False),
        sa.Column("run_count", sa.BigInteger(), nullable=False),
        sa.Column("variation_ratio", sa.Double(), nullable=True),
        sa.Column("robust_spread_ratio", sa.Double(), nullable=True),
        sa.Column("flags", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_point_campaign_id")),
        sa.ForeignKeyConstraint(["cell_id"], ["cell.id"], name=op.f("fk_point_cell_id")),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name=op.f("fk_point_series_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_point")),
        sa.UniqueConstraint("series_id", "cell_id", name=op.f("uq_point_series_id_cell_id")),
    )
    op.create_index("ix_point_series_id_at", "point", ["series_id", "at"], unique=False)
    op.create_table(
        "run",
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("cell_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("repeat", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(), server_default="waiting", nullable=False),
        sa.Column("validity", sa.String(), server_default="valid", nullable=False),
        sa.Column("flags", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("overdue", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("exclusive", sa.String(), nullable=False),
        sa.Column("sort_key", sa.Double(), nullable=False),
        sa.Column("time_limit_seconds", sa.Double(), nullable=False),
        sa.Column("attempts_allowed", sa.BigInteger(), nullable=False),
        sa.Column("attempts_made", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("declines", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason_code", sa.String(), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("environment_sha256", sa.String(), nullable=True),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.CheckConstraint("exclusive IN ('none', 'node', 'node+target', 'cluster')", name=op.f("ck_run_exclusive")),
        sa.CheckConstraint(
            "state IN ('waiting', 'active', 'finished', 'failed', 'cancelled')", name=op.f("ck_run_state")
        ),
        sa.CheckConstraint("validity IN ('valid', 'rejected')", name=op.f("ck_run_validity")),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_run_campaign_id")),
        sa.ForeignKeyConstraint(["cell_id"], ["cell.id"], name=op.f("fk_run_cell_id")),
        sa.ForeignKeyConstraint(["cluster_id"], ["cluster.id"], name=op.f("fk_run_cluster_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
        sa.UniqueConstraint("cell_id", "repeat", name=op.f("uq_run_cell_id_repeat")),
    )
    op.create_index("ix_run_campaign_id_id", "run", ["campaign_id", "id"], unique=False)
    op.create_index("ix_run_campaign_id_state", "run", ["campaign_id", "state"], unique=False)
    op.create_index("ix_run_cluster_id_id", "run", ["cluster_id", "id"], unique=False)
    op.create_index(
        "ix_run_open",
        "run",
        ["state", "sort_key"],
        unique=False,
        postgresql_where=sa.text("state IN ('waiting', 'active')"),
    )
    op.create_table(
        "attempt",
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(), server_default="open", nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("go_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("opened_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason_code", sa.String(), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.CheckConstraint(
            "state IN ('open', 'finished', 'failed', 'cancelled', 'declined', 'lost')", name=op.f("ck_attempt_state")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_attempt_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempt")),
        sa.UniqueConstraint("run_id", "ordinal", name=op.f("uq_attempt_run_id_ordinal")),
    )
    op.create_index("uq_attempt_open", "attempt", ["run_id"], unique=True, postgresql_where=sa.text("state = 'open'"))
    op.create_table(
        "line_place",
        sa.Column("node_id", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("sort_key", sa.Double(), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("exclusive", sa.String(), nullable=False),
        sa.Column("shared_target_ids", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.ForeignKeyConstraint(["node_id"], ["node.id"], name=op.f("fk_line_place_node_id")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_line_place_run_id")),
        sa.PrimaryKeyConstraint("node_id", "run_id", name=op.f("pk_line_place")),
    )
    op.create_index("ix_line_place_line", "line_place", ["node_id", "sort_key", "run_id"], unique=False)
    op.create_index(
        "ix_line_place_not_before",
        "line_place",
        ["not_before"],
        unique=False,
        postgresql_where=sa.text("not_before IS NOT NULL"),
    )
    op.create_index("ix_line_place_run_id", "line_place", ["run_id"], unique=False)
    op.create_table(
        "node_order",
        sa.Column("attempt_id", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("node_id", sa.BigInteger(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("state", sa.String(), server_default="offered", nullable=False),
        sa.Column("offers_made", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("offered_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("next_offer_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=True),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("claimed_by", sa.String(), nullable=True),
        sa.Column("claimed_boot_id", sa.String(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("progress", sa.Double(), nullable=True),
        sa.Column("phase", sa.String(), server_default="", nullable=False),
        sa.Column("silent_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cancel_wanted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("result_sha256", sa.String(), nullable=True),
        sa.Column("steps", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.CheckConstraint("role IN ('load', 'observe')", name=op.f("ck_node_order_role")),
        sa.CheckConstraint(
            "state IN ('offered', 'claimed', 'preflight', 'ready', 'running', 'uploading', 'ended')",
            name=op.f("ck_node_order_state"),
        ),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempt.id"], name=op.f("fk_node_order_attempt_id")),
        sa.ForeignKeyConstraint(["node_id"], ["node.id"], name=op.f("fk_node_order_node_id")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_node_order_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_node_order")),
        sa.UniqueConstraint("attempt_id", "node_id", "role", name=op.f("uq_node_order_attempt_id_node_id_role")),
    )
    op.create_index(
        "ix_node_order_active", "node_order", ["node_id"], unique=False, postgresql_where=sa.text("state <> 'ended'")
    )
    op.create_index(
        "ix_node_order_next_offer_at",
        "node_order",
        ["next_offer_at"],
        unique=False,
        postgresql_where=sa.text("next_offer_at IS NOT NULL"),
    )
    op.create_index("ix_node_order_run_id", "node_order", ["run_id"], unique=False)
    op.create_table(
        "artefact",
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("order_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("stored_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.ForeignKeyConstraint(["order_id"], ["node_order.id"], name=op.f("fk_artefact_order_id")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_artefact_run_id")),
        sa.ForeignKeyConstraint(["sha256"], ["blob.sha256"], name=op.f("fk_artefact_sha256")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_artefact")),
        sa.UniqueConstraint("order_id", "name", name=op.f("uq_artefact_order_id_name")),
    )
    op.create_index("ix_artefact_run_id", "artefact", ["run_id"], unique=False)
    op.create_table(
        "curve_chunk",
        sa.Column("order_id", sa.BigInteger(), nullable=False),
        sa.Column("counter", sa.String(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("step_seconds", sa.Float(), nullable=False),
        sa.Column("values", postgresql.ARRAY(sa.REAL()), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.CheckConstraint("cardinality(values) BETWEEN 1 AND 600", name=op.f("ck_curve_chunk_values")),
        sa.ForeignKeyConstraint(["order_id"], ["node_order.id"], name=op.f("fk_curve_chunk_order_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_curve_chunk")),
        sa.UniqueConstraint(
            "order_id", "counter", "started_at", name=op.f("uq_curve_chunk_order_id_counter_started_at")
        ),
    )
    op.create_table(
        "lease",
        sa.Column("order_id", sa.BigInteger(), nullable=False),
        sa.Column("resource_kind", sa.String(), nullable=False),
        sa.Column("resource_id", sa.BigInteger(), nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("active", sa.Boolean(), server_default="true", nullable=False),
        sa.Column("taken_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.CheckConstraint("mode IN ('shared', 'exclusive')", name=op.f("ck_lease_mode")),
        sa.CheckConstraint("resource_kind IN ('node', 'target', 'cluster')", name=op.f("ck_lease_resource_kind")),
        sa.CheckConstraint("active = (released_at IS NULL)", name=op.f("ck_lease_released")),
        sa.ForeignKeyConstraint(["order_id"], ["node_order.id"], name=op.f("fk_lease_order_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lease")),
        sa.UniqueConstraint(
            "order_id", "resource_kind", "resource_id", name=op.f("uq_lease_order_id_resource_kind_resource_id")
        ),
    )
    op.create_index(
        "ix_lease_active", "lease", ["resource_kind", "resource_id"], unique=False, postgresql_where=sa.text("active")
    )
    op.create_table(
        "run_event",
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("order_id", sa.BigInteger(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.ForeignKeyConstraint(["order_id"], ["node_order.id"], name=op.f("fk_run_event_order_id")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_run_event_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run_event")),
    )
    op.create_index("ix_run_event_run_id_id", "run_event", ["run_id", "id"], unique=False)
    op.create_table(
        "sample",
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("order_id", sa.BigInteger(), nullable=False),
        sa.Column("series_id", sa.BigInteger(), nullable=False),
        sa.Column("target_id", sa.BigInteger(), nullable=True),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.ForeignKeyConstraint(["order_id"], ["node_order.id"], name=op.f("fk_sample_order_id")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_sample_run_id")),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name=op.f("fk_sample_series_id")),
        sa.ForeignKeyConstraint(["target_id"], ["target.id"], name=op.f("fk_sample_target_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sample")),
    )
    op.create_index("ix_sample_run_id", "sample", ["run_id"], unique=False)
    op.create_index("ix_sample_series_id_run_id", "sample", ["series_id", "run_id"], unique=False)
    op.execute(LEASE_COUNTERS)


def downgrade() -> None:
    op.drop_index("ix_sample_series_id_run_id", table_name="sample")
    op.drop_index("ix_sample_run_id", table_name="sample")
    op.drop_table("sample")
    op.drop_index("ix_run_event_run_id_id", table_name="run_event")
    op.drop_table("run_event")
    op.drop_index("ix_lease_active", table_name="lease", postgresql_where=sa.text("active"))
    op.drop_table("lease")
    op.drop_table("curve_chunk")
    op.drop_index("ix_artefact_run_id", table_name="artefact")
    op.drop_table("artefact")
    op.drop_index("ix_node_order_run_id", table_name="node_order")
    op.drop_index(
        "ix_node_order_next_offer_at", table_name="node_order", postgresql_where=sa.text("next_offer_at IS NOT NULL")
    )
    op.drop_index("ix_node_order_active", table_name="node_order", postgresql_where=sa.text("state <> 'ended'"))
    op.drop_table("node_order")
    op.drop_index("ix_line_place_run_id", table_name="line_place")
    op.drop_index(
        "ix_line_place_not_before", table_name="line_place", postgresql_where=sa.text("not_before IS NOT NULL")
    )
    op.drop_index("ix_line_place_line", table_name="line_place")
    op.drop_table("line_place")
    op.drop_index("uq_attempt_open", table_name="attempt", postgresql_where=sa.text("state = 'open'"))
    op.drop_table("attempt")
    op.drop_index("ix_run_open", table_name="run", postgresql_where=sa.text("state IN ('waiting', 'active')"))
    op.drop_index("ix_run_cluster_id_id", table_name="run")
    op.drop_index("ix_run_campaign_id_state", table_name="run")
    op.drop_index("ix_run_campaign_id_id", table_name="run")
    op.drop_table("run")
    op.drop_index("ix_point_series_id_at", table_name="point")
    op.drop_table("point")
    op.drop_index("ix_cell_target_target_id", table_name="cell_target")
    op.drop_table("cell_target")
    op.drop_index("ix_cell_node_node_id", table_name="cell_node")
    op.drop_table("cell_node")
    op.drop_index("ix_target_mount_node_id", table_name="target_mount")
    op.drop_table("target_mount")
    op.drop_table("node_workload")
    op.drop_table("node_beat")
    op.drop_table("cell")
    op.drop_index("uq_target_cluster_id_name", table_name="target", postgresql_where=sa.text("retired_at IS NULL"))
    op.drop_table("target")
    op.drop_index("ix_series_cluster_id_id", table_name="series")
    op.drop_table("series")
    op.drop_table("role_grant")
    op.drop_index("uq_node_cluster_id_name", table_name="node", postgresql_where=sa.text("retired_at IS NULL"))
    op.drop_table("node")
    op.drop_table("join_token")
    op.drop_index("ix_campaign_cluster_id_id", table_name="campaign")
    op.drop_table("campaign")
    op.drop_table("user_session")
    op.drop_table("login_link")
    op.drop_table("cluster")
    op.drop_table("api_token")
    op.drop_table("workload_baseline")
    op.drop_table("workload")
    op.drop_index("ix_work_due", table_name="work", postgresql_where=sa.text("done_version < version"))
    op.drop_table("work")
    op.drop_table("user_account")
    op.drop_table("environment")
    op.drop_index("ix_change_at", table_name="change")
    op.drop_table("change")
    op.drop_table("blob")
    op.drop_index("ix_audit_entry_cluster_id_id", table_name="audit_entry")
    op.drop_table("audit_entry")
    op.execute("DROP FUNCTION count_lease()")
    op.execute("DROP FUNCTION keep_active_lease()")
