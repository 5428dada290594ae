"""SQL of sessions and failed sign-ins."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, Row, and_, case, delete, exists, or_, select, text, update
from sqlalchemy.orm import Session

from iotide_server.accounts.models import FailedAttempt, User, UserSession
from iotide_server.kit.db import any_text_of

_FORMER_GOOD_FOR: Final = timedelta(seconds=60)


def live_session(
    session: Session, given_sha256: str, now: datetime, *, idle_since: datetime
) -> Row[UserSession, User] | None:
    """Return a live session with its user, by its current, offered or previous secret."""
    return session.execute(
        select(UserSession, User)
        .join(User, User.id == UserSession.user_id)
        .where(_opened_by(given_sha256, now), _is_live(now, idle_since))
    ).one_or_none()


def users_of_sessions(
    session: Session, given_sha256: Collection[str], now: datetime, *, idle_since: datetime
) -> dict[str, int]:
    former = case((UserSession.former_until > now, UserSession.former_sha256))
    opened = select(UserSession.user_id, UserSession.secret_sha256, UserSession.next_sha256, former)
    opened = opened.join(User, User.id == UserSession.user_id)
    rows = session.execute(opened.where(_opened_by(any_text_of(given_sha256), now), _is_live(now, idle_since)))
    return {secret: user_id for user_id, *secrets in rows for secret in secrets if secret in given_sha256}


def put_in_force(session: Session, session_id: int, secret_sha256: str, now: datetime, *, is_offered: bool) -> None:
    """Replace a session's secret. The previous one works for another 60 s."""
    # Of two simultaneous requests with an offered secret, one performs the update.
    offered = [UserSession.next_sha256 == secret_sha256] if is_offered else []
    session.execute(
        update(UserSession)
        .where(UserSession.id == session_id, *offered)
        .values(
            former_sha256=UserSession.secret_sha256,
            former_until=now + _FORMER_GOOD_FOR,
            secret_sha256=secret_sha256,
            next_sha256=None,
            next_at=None,
            rotated_at=now,
        )
    )


def offer_secret(session: Session, row: UserSession, next_sha256: str, now: datetime) -> bool:
    """Return false if another request already offered one."""
    offered = session.scalar(
        update(UserSession)
        .where(
            UserSession.id == row.id,
            UserSession.secret_sha256 == row.secret_sha256,
            UserSession.next_sha256.is_not_distinct_from(row.next_sha256),
        )
        .values(next_sha256=next_sha256, next_at=now)
        .returning(UserSession.id)
    )
    return offered is not None


def touch_session(session: Session, session_id: int, address: str | None, browser: str | None, now: datetime) -> None:
    """Record the use of a session, unless another request is doing so."""
    free = select(UserSession.id).where(UserSession.id == session_id).with_for_update(skip_locked=True)
    used = update(UserSession).where(UserSession.id == free.scalar_subquery())
    session.execute(
        used.values(last_seen_at=now, address=address, browser=browser),
        execution_options={"synchronize_session": "fetch"},
    )


def sessions_of(session: Session, user_id: int, now: datetime, *, idle_since: datetime) -> Sequence[UserSession]:
    statement = select(UserSession).where(
        UserSession.user_id == user_id, UserSession.expires_at > now, UserSession.last_seen_at > idle_since
    )
    return session.scalars(statement.order_by(UserSession.last_seen_at.desc(), UserSession.id.desc())).all()


def end_session(session: Session, user_id: int, session_id: int) -> bool:
    ended = delete(UserSession).where(UserSession.id == session_id, UserSession.user_id == user_id)
    return session.scalar(ended.returning(UserSession.id)) is not None


def end_session_of_secret(session: Session, given_sha256: str, now: datetime) -> None:
    session.execute(delete(UserSession).where(_opened_by(given_sha256, now)))


def end_sessions_of(session: Session, user_id: int, *, keep_id: int | None = None) -> int:
    statement = delete(UserSession).where(UserSession.user_id == user_id)
    if keep_id is not None:
        statement = statement.where(UserSession.id != keep_id)
    return len(session.scalars(statement.returning(UserSession.id)).all())


def hold(session: Session, keys: Sequence[str]) -> None:
    """Lock these sorted keys until the transaction ends."""
    for key in keys:
        session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 8470))"), {"key": key})


def latest_failures(session: Session, since: datetime, limit: int, *which: ColumnElement[bool]) -> Sequence[datetime]:
    statement = select(FailedAttempt.at).where(FailedAttempt.at > since, *which)
    return session.scalars(statement.order_by(FailedAttempt.at.desc()).limit(limit)).all()


def delete_attempts(session: Session, network: str, name_sha256: str) -> None:
    session.execute(
        delete(FailedAttempt).where(FailedAttempt.network == network, FailedAttempt.name_sha256 == name_sha256)
    )


def delete_attempts_before(session: Session, moment: datetime) -> None:
    session.execute(delete(FailedAttempt).where(FailedAttempt.at < moment))


def has_session_from(session: Session, name: str, address: str) -> bool:
    known = exists().where(UserSession.user_id == User.id, UserSession.address == address, User.name == name)
    return session.scalar(select(known)) is True


def _is_live(now: datetime, idle_since: datetime) -> ColumnElement[bool]:
    return and_(UserSession.expires_at > now, UserSession.last_seen_at > idle_since, User.disabled_at.is_(None))


def _opened_by(given_sha256: str | ColumnElement[str], now: datetime) -> ColumnElement[bool]:
    return or_(
        UserSession.secret_sha256 == given_sha256,
        UserSession.next_sha256 == given_sha256,
        and_(UserSession.former_sha256 == given_sha256, UserSession.former_until > now),
    )
