"""sign-in: rotating cookies, users of an OpenID provider, failed attempts

Compatible with the previous release: its sessions keep their secret, and the roles it grants are local.
"""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

_NEW_OF_SESSIONS = (
    "rotated_at",
    "next_sha256",
    "next_at",
    "former_sha256",
    "former_until",
    "address",
    "browser",
    "begun_by",
)


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.add_column("user_session", sa.Column("rotated_at", moment, server_default=sa.text("now()"), nullable=False))
    op.add_column("user_session", sa.Column("next_sha256", sa.String(), nullable=True))
    op.add_column("user_session", sa.Column("next_at", moment, nullable=True))
    op.add_column("user_session", sa.Column("former_sha256", sa.String(), nullable=True))
    op.add_column("user_session", sa.Column("former_until", moment, nullable=True))
    op.add_column("user_session", sa.Column("address", sa.String(), nullable=True))
    op.add_column("user_session", sa.Column("browser", sa.String(), nullable=True))
    op.add_column("user_session", sa.Column("begun_by", sa.String(), server_default="password", nullable=False))
    op.create_unique_constraint(op.f("uq_user_session_next_sha256"), "user_session", ["next_sha256"])
    op.create_unique_constraint(op.f("uq_user_session_former_sha256"), "user_session", ["former_sha256"])
    op.create_check_constraint(
        op.f("ck_user_session_begun_by"), "user_session", "begun_by IN ('link', 'password', 'provider')"
    )
    op.create_index(op.f("ix_user_session_user_id"), "user_session", ["user_id"])
    op.add_column("user_account", sa.Column("issuer", sa.String(), nullable=True))
    op.add_column("user_account", sa.Column("subject", sa.String(), nullable=True))
    op.create_unique_constraint(op.f("uq_user_account_issuer_subject"), "user_account", ["issuer", "subject"])
    op.create_check_constraint(op.f("ck_user_account_provider"), "user_account", "(issuer IS NULL) = (subject IS NULL)")
    op.add_column("role_grant", sa.Column("source", sa.String(), server_default="local", nullable=False))
    op.create_check_constraint(op.f("ck_role_grant_source"), "role_grant", "source IN ('local', 'provider')")
    op.create_unique_constraint(
        op.f("uq_role_grant_user_id_cluster_id_source"),
        "role_grant",
        ["user_id", "cluster_id", "source"],
        postgresql_nulls_not_distinct=True,
    )
    op.drop_constraint(op.f("uq_role_grant_user_id_cluster_id"), "role_grant")
    op.create_table(
        "failed_attempt",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("network", sa.String(), nullable=False),
        sa.Column("name_sha256", sa.String(), nullable=True),
        sa.CheckConstraint(
            "kind IN ('password', 'link', 'enrolment', 'provider')", name=op.f("ck_failed_attempt_kind")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_failed_attempt")),
    )
    op.create_index("ix_failed_attempt_network", "failed_attempt", ["network", "kind", "at"])
    op.create_index(
        "ix_failed_attempt_name",
        "failed_attempt",
        ["name_sha256", "at"],
        postgresql_where=sa.text("name_sha256 IS NOT NULL"),
    )
    op.create_index("ix_failed_attempt_at", "failed_attempt", ["at"])


def downgrade() -> None:
    op.drop_table("failed_attempt")
    op.execute("DELETE FROM role_grant WHERE source <> 'local'")
    op.create_unique_constraint(
        op.f("uq_role_grant_user_id_cluster_id"),
        "role_grant",
        ["user_id", "cluster_id"],
        postgresql_nulls_not_distinct=True,
    )
    op.drop_constraint(op.f("uq_role_grant_user_id_cluster_id_source"), "role_grant")
    op.drop_constraint(op.f("ck_role_grant_source"), "role_grant")
    op.drop_column("role_grant", "source")
    op.drop_constraint(op.f("ck_user_account_provider"), "user_account")
    op.drop_constraint(op.f("uq_user_account_issuer_subject"), "user_account")
    op.drop_column("user_account", "subject")
    op.drop_column("user_account", "issuer")
    op.drop_index(op.f("ix_user_session_user_id"), "user_session")
    op.drop_constraint(op.f("ck_user_session_begun_by"), "user_session")
    for column in reversed(_NEW_OF_SESSIONS):
        op.drop_column("user_session", column)
