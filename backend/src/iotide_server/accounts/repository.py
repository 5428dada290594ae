"""SQL of accounts."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, and_, delete, exists, or_, select, text, update
from sqlalchemy.orm import Session

from iotide_server.accounts.models import (
    ApiToken,
    GrantSource,
    LoginLink,
    Role,
    RoleGrant,
    User,
    UserSession,
)
from iotide_server.kit.db import any_of, any_text_of
from iotide_server.kit.pagination import PageRequest, Slice, newest_first

# Use the audit log, because ended sessions are deleted. Plain SQL for schedules, whose module depends on this one.
_STANDINGS: Final = text(
    """
    SELECT id,
           greatest((SELECT max(last_seen_at) FROM user_session WHERE user_id = user_account.id),
                    (SELECT max(last_used_at) FROM api_token WHERE user_id = user_account.id),
                    (SELECT max(at) FROM audit_entry
                     WHERE subject_kind = 'user' AND subject_id = user_account.id AND action = 'signed_in'))
               AS last_seen_at,
           (SELECT count(*) FROM user_session WHERE user_id = user_account.id AND expires_at > :now)
               AS session_count,
           (SELECT count(*) FROM api_token WHERE user_id = user_account.id AND revoked_at IS NULL
                                             AND (expires_at IS NULL OR expires_at > :now))
               AS token_count,
           (SELECT count(*) FROM schedule WHERE owner_id = user_account.id AND state = 'active')
               AS schedule_count
    FROM user_account WHERE id = ANY(:ids)
    """
)
_RIGHTS: Final = text(
    """
    SELECT cluster_id, role, NULL AS published_name FROM role_grant WHERE user_id = :user_id
    UNION ALL
    SELECT id, NULL, name FROM cluster WHERE origin = 'published'
    """
)


def live_api_token(session: Session, secret_sha256: str, now: datetime) -> Row[ApiToken, User] | None:
    return session.execute(
        select(ApiToken, User)
        .join(User, User.id == ApiToken.user_id)
        .where(ApiToken.secret_sha256 == secret_sha256, _is_live(now))
    ).one_or_none()


def users_of_tokens(session: Session, secrets_sha256: Collection[str], now: datetime) -> dict[str, int]:
    live = select(ApiToken.secret_sha256, ApiToken.user_id).join(User, User.id == ApiToken.user_id)
    found = session.execute(live.where(ApiToken.secret_sha256 == any_text_of(secrets_sha256), _is_live(now)))
    return dict(found.all())


def _is_live(now: datetime) -> ColumnElement[bool]:
    return and_(
        ApiToken.revoked_at.is_(None),
        or_(ApiToken.expires_at.is_(None), ApiToken.expires_at > now),
        User.disabled_at.is_(None),
    )


def touch_token(session: Session, token_id: int, address: str | None, now: datetime) -> None:
    """Record the use of a token, unless another request is doing so."""
    # Waiting for it could take seconds and hold a connection.
    free = select(ApiToken.id).where(ApiToken.id == token_id).with_for_update(skip_locked=True)
    used = update(ApiToken).where(ApiToken.id == free.scalar_subquery())
    session.execute(
        used.values(last_used_at=now, last_used_address=address), execution_options={"synchronize_session": "fetch"}
    )


def spend_link(session: Session, secret_sha256: str, now: datetime) -> User | None:
    """Return the user of the used link. Of two simultaneous calls, one succeeds."""
    user_id = session.scalar(
        update(LoginLink)
        .where(LoginLink.secret_sha256 == secret_sha256, LoginLink.used_at.is_(None), LoginLink.expires_at > now)
        .values(used_at=now)
        .returning(LoginLink.user_id)
    )
    return session.scalar(select(User).where(User.id == user_id, User.disabled_at.is_(None)))


def delete_expired(session: Session, now: datetime) -> None:
    """Used links remain as a record of the first sign-in."""
    session.execute(delete(UserSession).where(UserSession.expires_at <= now))
    session.execute(delete(LoginLink).where(LoginLink.expires_at <= now, LoginLink.used_at.is_(None)))


def anyone_signed_in(session: Session) -> bool:
    return session.scalar(select(exists().where(LoginLink.used_at.is_not(None)))) is True


def first_administrator(session: Session) -> User | None:
    return session.scalar(
        select(User)
        .join(RoleGrant, RoleGrant.user_id == User.id)
        .where(RoleGrant.cluster_id.is_(None), RoleGrant.role == Role.ADMIN, User.disabled_at.is_(None))
        .order_by(User.id)
        .limit(1)
    )


def user_by_name(session: Session, name: str) -> User | None:
    return session.scalar(select(User).where(User.name == name))


def locked_user(session: Session, user_id: int) -> User | None:
    return session.scalar(select(User).where(User.id == user_id).with_for_update())


def free_name(session: Session, wanted: str) -> str:
    """Return `wanted`, with a number if taken."""
    taken = set(session.scalars(select(User.name).where(User.name.startswith(wanted, autoescape=True))))
    candidates = (wanted, *(f"{wanted}-{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in candidates if name not in taken)


def users(session: Session, paging: PageRequest) -> Slice[User]:
    return newest_first(session, select(User), User.id, paging)


def all_users(session: Session) -> Sequence[User]:
    return session.scalars(select(User).order_by(User.name)).all()


def user_names(session: Session) -> Sequence[str]:
    return session.scalars(select(User.name)).all()


def names_of(session: Session, user_ids: Collection[int]) -> Mapping[int, str]:
    return dict(session.execute(select(User.id, User.name).where(User.id == any_of(user_ids))).all())


def grants(session: Session, user_id: int) -> list[RoleGrant]:
    return grants_of(session, [user_id])[user_id]


def grants_of(session: Session, user_ids: Collection[int]) -> Mapping[int, list[RoleGrant]]:
    by_user: defaultdict[int, list[RoleGrant]] = defaultdict(list)
    ordered = RoleGrant.cluster_id.asc().nulls_first()
    for grant in session.scalars(select(RoleGrant).where(RoleGrant.user_id == any_of(user_ids)).order_by(ordered)):
        by_user[grant.user_id].append(grant)
    return by_user


def replace_grants(
    session: Session, user_id: int, roles: Mapping[int | None, Role], source: GrantSource = GrantSource.LOCAL
) -> list[RoleGrant]:
    session.execute(delete(RoleGrant).where(RoleGrant.user_id == user_id, RoleGrant.source == source))
    session.add_all(
        RoleGrant(user_id=user_id, cluster_id=cluster_id, role=role, source=source)
        for cluster_id, role in roles.items()
    )
    session.flush()
    return grants(session, user_id)


def existing_clusters(session: Session, cluster_ids: Collection[int]) -> set[int]:
    """Plain SQL here and below, because the clusters module depends on this one."""
    found = session.scalars(text("SELECT id FROM cluster WHERE id = ANY(:ids)"), {"ids": list(cluster_ids)})
    return set(found)


def clusters_named(session: Session, names: Collection[str]) -> dict[str, int]:
    rows = session.execute(text("SELECT name, id FROM cluster WHERE name = ANY(:names)"), {"names": list(names)})
    return dict(rows.all())


def user_of_provider(session: Session, issuer: str, subject: str) -> User | None:
    """Return the user, disabled or not."""
    return session.scalar(select(User).where(User.issuer == issuer, User.subject == subject))


def cluster_names(session: Session) -> dict[int, str]:
    return dict(session.execute(text("SELECT id, name FROM cluster")).all())


def published_clusters(session: Session) -> dict[int, str]:
    return dict(session.execute(text("SELECT id, name FROM cluster WHERE origin = 'published'")).all())


def rights(session: Session, user_id: int) -> Sequence[Row[Any]]:
    """Return cluster and role of the user's grants, and id, None and name of published clusters.

    Together, because every request asks for both.
    """
    return session.execute(_RIGHTS, {"user_id": user_id}).all()


def standings(session: Session, user_ids: Collection[int], now: datetime) -> Mapping[int, Row[Any]]:
    """Return last activity, sessions, tokens and schedules per user, even disabled ones."""
    return {row.id: row for row in session.execute(_STANDINGS, {"ids": list(user_ids), "now": now})}


def end_access(session: Session, user_id: int) -> int:
    """Delete a user's sessions and unused links. Return the number of sessions."""
    end_links(session, user_id)
    return len(
        session.scalars(delete(UserSession).where(UserSession.user_id == user_id).returning(UserSession.id)).all()
    )


def end_links(session: Session, user_id: int) -> None:
    session.execute(delete(LoginLink).where(LoginLink.user_id == user_id, LoginLink.used_at.is_(None)))


def unrevoked_tokens(
    session: Session, paging: PageRequest, *conditions: ColumnElement[bool]
) -> Slice[Row[ApiToken, User]]:
    statement = select(ApiToken, User).join(User, User.id == ApiToken.user_id).where(ApiToken.revoked_at.is_(None))
    wanted = statement.where(ApiToken.id < paging.before_id, *conditions).order_by(ApiToken.id.desc())
    return paging.cut(session.execute(wanted.limit(paging.limit + 1)).all(), key=lambda row: row[0].id)


def unrevoked(session: Session, user_id: int) -> Sequence[ApiToken]:
    statement = select(ApiToken).where(ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None))
    return session.scalars(statement.order_by(ApiToken.id).with_for_update()).all()


def expired_tokens(session: Session, secrets_sha256: Collection[str], now: datetime) -> dict[str, ApiToken]:
    statement = select(ApiToken).where(
        ApiToken.secret_sha256 == any_text_of(secrets_sha256), ApiToken.revoked_at.is_(None), ApiToken.expires_at <= now
    )
    return {token.secret_sha256: token for token in session.scalars(statement)}
