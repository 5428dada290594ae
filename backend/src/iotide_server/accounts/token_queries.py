"""SQL of API tokens."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session

from iotide_server.accounts.models import ApiToken, User
from iotide_server.kit.pagination import PageRequest, Slice


def tokens_of(session: Session, user_id: int | None, paging: PageRequest) -> Slice[Row[ApiToken, User]]:
    """A user's tokens that were not revoked, with that user, newest first; none of nobody."""
    return _page(session, _unrevoked().where(ApiToken.user_id == user_id), paging)


def all_tokens(session: Session, paging: PageRequest) -> Slice[Row[ApiToken, User]]:
    """All tokens that were not revoked, with their users, newest first."""
    return _page(session, _unrevoked(), paging)


def unrevoked(session: Session, user_id: int) -> Sequence[ApiToken]:
    """All tokens of a user that were not revoked, locked."""
    statement = select(ApiToken).where(ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None))
    return session.scalars(statement.order_by(ApiToken.id).with_for_update()).all()


def expired_token(session: Session, secret_sha256: str, now: datetime) -> ApiToken | None:
    """The token of that secret, where its time is over and it was not revoked."""
    statement = select(ApiToken).where(ApiToken.secret_sha256 == secret_sha256, ApiToken.revoked_at.is_(None))
    return session.scalar(statement.where(ApiToken.expires_at <= now))


def _unrevoked() -> Select[ApiToken, User]:
    return select(ApiToken, User).join(User, User.id == ApiToken.user_id).where(ApiToken.revoked_at.is_(None))


def _page(session: Session, statement: Select[ApiToken, User], paging: PageRequest) -> Slice[Row[ApiToken, User]]:
    wanted = statement.where(ApiToken.id < paging.before_id).order_by(ApiToken.id.desc()).limit(paging.limit + 1)
    return paging.cut(session.execute(wanted).all(), key=lambda row: row[0].id)
