"""SQL of API tokens."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Row, select
from sqlalchemy.orm import Session

from iotide_server.accounts.models import ApiToken, User
from iotide_server.kit.db import any_text_of
from iotide_server.kit.pagination import PageRequest, Slice


def unrevoked_tokens(
    session: Session, paging: PageRequest, *conditions: ColumnElement[bool]
) -> Slice[Row[ApiToken, User]]:
    """Return a page of tokens that were not revoked, with their users, newest first."""
    statement = select(ApiToken, User).join(User, User.id == ApiToken.user_id).where(ApiToken.revoked_at.is_(None))
    wanted = statement.where(ApiToken.id < paging.before_id, *conditions).order_by(ApiToken.id.desc())
    return paging.cut(session.execute(wanted.limit(paging.limit + 1)).all(), key=lambda row: row[0].id)


def unrevoked(session: Session, user_id: int) -> Sequence[ApiToken]:
    """All tokens of a user that were not revoked, locked."""
    statement = select(ApiToken).where(ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None))
    return session.scalars(statement.order_by(ApiToken.id).with_for_update()).all()


def expired_tokens(session: Session, secrets_sha256: Collection[str], now: datetime) -> dict[str, ApiToken]:
    """Return the tokens of these secrets whose time is over and that were not revoked, by digest."""
    statement = select(ApiToken).where(
        ApiToken.secret_sha256 == any_text_of(secrets_sha256), ApiToken.revoked_at.is_(None), ApiToken.expires_at <= now
    )
    return {token.secret_sha256: token for token in session.scalars(statement)}
