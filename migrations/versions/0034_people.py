"""users: address of a token's last use, and indexes for each filter of the audit log and for words

Compatible with the previous release, which uses the new index for a cluster's entries.
"""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

# PostgreSQL takes a path, host name, address or tag as one word, whose beginning users would not search for. Separators
# are therefore replaced by spaces, and so are line ends, which JSON writes as two characters. PostgreSQL rejects more
# than a megabyte of words, and that must not make a change fail.
_WORDS = r"""
    CREATE FUNCTION audit_words(action varchar, principal_name varchar, subject_kind varchar, subject_id bigint,
                                address varchar, before jsonb, after jsonb)
    RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT to_tsvector('simple', translate(left(replace(
            action || ' ' || principal_name || ' ' || subject_kind || ' ' || coalesce(subject_id::text, '') || ' ' ||
            coalesce(address, '') || ' ' || coalesce(before::text, '') || ' ' || coalesce(after::text, ''),
            '\n', ' '), 50000), '/._:@~?=&+\#<>-', repeat(' ', 15)))
    $$
"""
_WORDS_OF_ENTRY = "audit_words(action, principal_name, subject_kind, subject_id, address, before, after)"
_INDEXES = {
    "ix_audit_entry_at_id": ["at", "id"],
    "ix_audit_entry_cluster_id_at_id": ["cluster_id", "at", "id"],
    "ix_audit_entry_action_at_id": ["action", "at", "id"],
    "ix_audit_entry_subject_kind_subject_id_at_id": ["subject_kind", "subject_id", "at", "id"],
    "ix_audit_entry_address_at_id": ["address", "at", "id"],
}


def upgrade() -> None:
    op.add_column("api_token", sa.Column("last_used_address", sa.String(), nullable=True))
    for name, columns in _INDEXES.items():
        op.create_index(name, "audit_entry", columns)
    op.create_index(
        "ix_audit_entry_principal_name",
        "audit_entry",
        ["principal_name", "at", "id"],
        postgresql_ops={"principal_name": "text_pattern_ops"},
    )
    op.execute(_WORDS)
    op.create_index("ix_audit_entry_words", "audit_entry", [sa.text(_WORDS_OF_ENTRY)], postgresql_using="gin")
    op.drop_index("ix_audit_entry_cluster_id_id", "audit_entry")


def downgrade() -> None:
    op.create_index("ix_audit_entry_cluster_id_id", "audit_entry", ["cluster_id", sa.text("id DESC")])
    op.drop_index("ix_audit_entry_words", "audit_entry")
    op.execute("DROP FUNCTION audit_words")
    op.drop_index("ix_audit_entry_principal_name", "audit_entry")
    for name in reversed(_INDEXES):
        op.drop_index(name, "audit_entry")
    op.drop_column("api_token", "last_used_address")
