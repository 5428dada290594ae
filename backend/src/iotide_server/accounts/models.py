"""Tables of users, credentials and audit log."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import Text

from iotide_server.kit.db import Base, Identified, Json


class Role(StrEnum):
    """Role in a cluster; each includes the previous ones."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        return list(Role).index(self)


class GrantSource(StrEnum):
    """Administrators, or the user's groups at the OpenID provider."""

    LOCAL = "local"
    PROVIDER = "provider"


class User(Identified, Base):
    """`password_hash` is None until set."""

    __tablename__ = "user_account"

    name: Mapped[str] = mapped_column(unique=True)
    password_hash: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    disabled_at: Mapped[datetime | None]
    # issuer, subject: identity at an OpenID provider, unlike `name` there; None for local users
    issuer: Mapped[str | None]
    subject: Mapped[str | None]

    __table_args__ = (
        UniqueConstraint("issuer", "subject"),
        CheckConstraint("(issuer IS NULL) = (subject IS NULL)", name="provider"),
    )


class RoleGrant(Identified, Base):
    """Role of a user in one cluster, or in all if `cluster_id` is None. The strongest applies."""

    __tablename__ = "role_grant"

    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"))
    cluster_id: Mapped[int | None] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"))
    role: Mapped[str]
    source: Mapped[str] = mapped_column(server_default=GrantSource.LOCAL)

    __table_args__ = (
        UniqueConstraint("user_id", "cluster_id", "source", postgresql_nulls_not_distinct=True),
        CheckConstraint("role IN ('viewer', 'operator', 'admin')", name="role"),
        CheckConstraint("source IN ('local', 'provider')", name="source"),
    )


class LoginLink(Identified, Base):
    """Link that signs its user in once, stored as SHA-256."""

    __tablename__ = "login_link"

    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"))
    secret_sha256: Mapped[str] = mapped_column(unique=True)
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class UserSession(Identified, Base):
    """Session of a browser, with the SHA-256 of its cookie; see `rotation.py`."""

    __tablename__ = "user_session"

    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"), index=True)
    secret_sha256: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_seen_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]
    rotated_at: Mapped[datetime] = mapped_column(server_default=func.now())
    # next_sha256, next_at: offered secret that was not yet sent back, and its time
    next_sha256: Mapped[str | None] = mapped_column(unique=True)
    next_at: Mapped[datetime | None]
    # former_sha256, former_until: previous secret, and its end
    former_sha256: Mapped[str | None] = mapped_column(unique=True)
    former_until: Mapped[datetime | None]
    # address, browser: of the last request; shortened User-Agent
    address: Mapped[str | None]
    browser: Mapped[str | None]
    begun_by: Mapped[str] = mapped_column(server_default="password")

    __table_args__ = (CheckConstraint("begun_by IN ('link', 'password', 'provider')", name="begun_by"),)


class FailedAttempt(Identified, Base):
    """Failed sign-in, kept while it counts in `throttle.py`."""

    __tablename__ = "failed_attempt"

    at: Mapped[datetime]
    kind: Mapped[str]
    # IPv4 address or IPv6 /64; empty if unknown
    network: Mapped[str]
    # not the name, because people type passwords there by mistake
    name_sha256: Mapped[str | None]

    __table_args__ = (
        CheckConstraint("kind IN ('password', 'link', 'enrolment', 'provider')", name="kind"),
        Index("ix_failed_attempt_network", "network", "kind", "at"),
        Index("ix_failed_attempt_name", "name_sha256", "at", postgresql_where=text("name_sha256 IS NOT NULL")),
        Index("ix_failed_attempt_at", "at"),
    )


class ApiToken(Identified, Base):
    """API token with its user's permissions, limited to its scopes."""

    __tablename__ = "api_token"

    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"))
    name: Mapped[str]
    secret_sha256: Mapped[str] = mapped_column(unique=True)
    scopes: Mapped[list[str]] = mapped_column(ARRAY(Text))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    last_used_address: Mapped[str | None]
    revoked_at: Mapped[datetime | None]


AUDIT_WORDS: Final = "audit_words(action, principal_name, subject_kind, subject_id, address, before, after)"
"""Words of an entry's first 50,000 characters, because PostgreSQL rejects a megabyte of words."""


class AuditEntry(Identified, Base):
    __tablename__ = "audit_entry"

    at: Mapped[datetime] = mapped_column(server_default=func.now())
    principal_kind: Mapped[str]
    principal_id: Mapped[int | None]
    principal_name: Mapped[str]
    address: Mapped[str | None]
    action: Mapped[str]
    subject_kind: Mapped[str]
    subject_id: Mapped[int | None]
    cluster_id: Mapped[int | None]
    before: Mapped[Json | None]
    after: Mapped[Json | None]

    # Each filter has an index in display order.
    __table_args__ = (
        Index("ix_audit_entry_at_id", "at", "id"),
        Index("ix_audit_entry_cluster_id_at_id", "cluster_id", "at", "id"),
        Index("ix_audit_entry_action_at_id", "action", "at", "id"),
        Index("ix_audit_entry_subject_kind_subject_id_at_id", "subject_kind", "subject_id", "at", "id"),
        Index("ix_audit_entry_address_at_id", "address", "at", "id"),
        Index(
            "ix_audit_entry_principal_name",
            "principal_name",
            "at",
            "id",
            postgresql_ops={"principal_name": "text_pattern_ops"},
        ),
        Index("ix_audit_entry_words", text(AUDIT_WORDS), postgresql_using="gin"),
    )
