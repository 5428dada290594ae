"""Tables of people, their proofs of identity and what they did."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import Text

from iotide_server.kit.db import Base, Identified, Json


class Role(StrEnum):
    """What a person may do in a cluster; each includes the ones before."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        """0 for the weakest."""
        return list(Role).index(self)


class GrantSource(StrEnum):
    """Who gave a role: an administrator here, or the OpenID provider by the person's groups."""

    LOCAL = "local"
    PROVIDER = "provider"


class User(Identified, Base):
    """A person. `password_hash` is None until a password is set."""

    __tablename__ = "user_account"

    name: Mapped[str] = mapped_column(unique=True)
    password_hash: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    disabled_at: Mapped[datetime | None]
    # issuer, subject: who they are at an OpenID provider; None for people of this installation alone. The name says
    # nothing of that: it may be another one there, and somebody else may have it there.
    issuer: Mapped[str | None]
    subject: Mapped[str | None]

    __table_args__ = (
        UniqueConstraint("issuer", "subject"),
        CheckConstraint("(issuer IS NULL) = (subject IS NULL)", name="provider"),
    )


class RoleGrant(Identified, Base):
    """A role of a user in one cluster, or in all where `cluster_id` is None; of several the strongest holds."""

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
    """A link that signs its user in once; only the SHA-256 of its secret is stored."""

    __tablename__ = "login_link"

    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"))
    secret_sha256: Mapped[str] = mapped_column(unique=True)
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class UserSession(Identified, Base):
    """A signed-in browser; only the SHA-256 of its cookie is stored. `rotation.py` says how the cookie changes."""

    __tablename__ = "user_session"

    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"), index=True)
    secret_sha256: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_seen_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]
    rotated_at: Mapped[datetime] = mapped_column(server_default=func.now())  # since when the secret is the one it is
    # next_sha256, next_at: of the secret that was offered instead and has not come back yet, and when that was
    next_sha256: Mapped[str | None] = mapped_column(unique=True)
    next_at: Mapped[datetime | None]
    # former_sha256, former_until: of the secret before, and how long it still opens
    former_sha256: Mapped[str | None] = mapped_column(unique=True)
    former_until: Mapped[datetime | None]
    # address, browser: from where it was last seen; `browser` is what it called itself, cut short
    address: Mapped[str | None]
    browser: Mapped[str | None]
    begun_by: Mapped[str] = mapped_column(server_default="password")  # how the person signed in

    __table_args__ = (CheckConstraint("begun_by IN ('link', 'password', 'provider')", name="begun_by"),)


class FailedAttempt(Identified, Base):
    """A proof of identity that was refused; kept for as long as it counts against the next ones, see `throttle.py`."""

    __tablename__ = "failed_attempt"

    at: Mapped[datetime]
    kind: Mapped[str]
    # the address, or for IPv6 the network of 64 bits that one customer has; empty where it is unknown
    network: Mapped[str]
    # of the name that was given; not the name, since people type their password there by mistake
    name_sha256: Mapped[str | None]

    __table_args__ = (
        CheckConstraint("kind IN ('password', 'link', 'enrolment', 'provider')", name="kind"),
        Index("ix_failed_attempt_network", "network", "kind", "at"),
        Index("ix_failed_attempt_name", "name_sha256", "at", postgresql_where=text("name_sha256 IS NOT NULL")),
        Index("ix_failed_attempt_at", "at"),
    )


class ApiToken(Identified, Base):
    """A token for programs; it can do what its user may, cut down to its scopes (read, operate, admin)."""

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
"""Return all words of an entry as its index has them and as a search compares them; a function of the database.

It takes at most 50,000 characters of an entry. PostgreSQL refuses a megabyte of words, and no change may fail by that.
"""


class AuditEntry(Identified, Base):
    """One change: who, what, before, after, from where. Never updated."""

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

    # Each filter of the audit has one, which gives what it finds in the order in which it is shown.
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
