"""Account commands for the server's console."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts import repository, service
from iotide_server.accounts.errors import USER_NAME_UNKNOWN
from iotide_server.accounts.models import User
from iotide_server.accounts.schemas import UserOutput
from iotide_server.accounts.sessions import service as sessions
from iotide_server.accounts.tokens import service as tokens
from iotide_server.kit.suggest import choose_from


def all_users(session: Session, now: datetime) -> Sequence[UserOutput]:
    return service.shown_users(session, repository.all_users(session), now)


def user_link(session: Session, name: str, public_url: str, now: datetime) -> str:
    """Raise USER_NAME_UNKNOWN or USER_DISABLED."""
    user = _user(session, name)
    return service.link_for(session, sessions.console_principal(session, now), user, public_url, now)


def revoke_tokens(session: Session, name: str, now: datetime) -> Sequence[str]:
    """Return the names of the user's revoked tokens. Raise USER_NAME_UNKNOWN."""
    user = _user(session, name)
    revoked = repository.unrevoked(session, user.id)
    tokens.revoke_all(session, sessions.console_principal(session, now), user, revoked, now)
    return [token.name for token in revoked]


def _user(session: Session, name: str) -> User:
    user = repository.user_by_name(session, name)
    if user is None:
        raise USER_NAME_UNKNOWN(name=name, remedy=choose_from(name, repository.user_names(session)))
    return user
