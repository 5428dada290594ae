"""SQL of accounts."""

from datetime import datetime

from sqlalchemy import Row, or_, select
from sqlalchemy.orm import Session

from iotide_server.accounts.models import ApiToken, RoleGrant, User, UserSession


def live_api_token(session: Session, secret_sha256: str, now: datetime) -> Row[ApiToken, User] | None:
    """An API token that is neither revoked nor expired, with its user."""
    return session.execute(
        select(ApiToken, User)
        .join(User, User.id == ApiToken.user_id)
        .where(
            ApiToken.secret_sha256 == secret_sha256,
            ApiToken.revoked_at.is_(None),
            or_(ApiToken.expires_at.is_(None), ApiToken.expires_at > now),
            User.disabled_at.is_(None),
        )
    ).one_or_none()


def live_session(
    session: Session, secret_sha256: str, now: datetime, *, idle_since: datetime
) -> Row[UserSession, User] | None:
    """A session that has neither expired nor been idle since then, with its user."""
    return session.execute(
        select(UserSession, User)
        .join(User, User.id == UserSession.user_id)
        .where(
            UserSession.secret_sha256 == secret_sha256,
            UserSession.expires_at > now,
            UserSession.last_seen_at > idle_since,
            User.disabled_at.is_(None),
        )
    ).one_or_none()


def grants(session: Session, user_id: int) -> list[RoleGrant]:
    """The roles of a user."""
    return list(session.scalars(select(RoleGrant).where(RoleGrant.user_id == user_id)))
