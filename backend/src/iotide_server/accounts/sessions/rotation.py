"""How a browser's secret changes while its session goes on: offered by one answer, in force once it comes back.

| the cookie is | within | what follows |
|---|---|---|
| the secret in force | an hour of use | nothing |
| the secret in force | after that | another one is offered, at most once a minute |
| the one offered | | it is in force; the one before opens for 60 s more, for requests that were on their way |
| the one before | these 60 s | nothing |
| any other | | no session |

An answer may never arrive, since its page was left; then the secret in force stays that, and another one is offered.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.models import User, UserSession
from iotide_server.accounts.sessions import repository
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.digests import digest, new_secret

SESSION_TERMS: Final[AppValue["SessionTerms"]] = AppValue("session_terms")


ROTATE_AFTER: Final = timedelta(hours=1)
_OFFER_EVERY: Final = timedelta(seconds=60)
_TOUCH_EVERY: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class SessionTerms:
    """How long a session lasts."""

    idle: timedelta  # it ends when it was not used for so long
    lifetime: timedelta  # it ends so long after the sign-in, however much it is used


@dataclass(frozen=True, slots=True)
class Recognised:
    """A browser's session, and the secret that its cookie shall hold from now on; None: it stays as it is."""

    row: UserSession
    user: User
    offered: str | None


@dataclass(frozen=True, slots=True)
class Browser:
    """From where a request came: the address, and what the browser calls itself."""

    address: str | None
    name: str | None


def recognise(session: Session, secret: str, browser: Browser, now: datetime, terms: SessionTerms) -> Recognised | None:
    """The session of that cookie; None where there is none, or it has ended, or its user is disabled."""
    given = digest(secret)
    found = repository.live_session(session, given, now, idle_since=now - terms.idle)
    if found is None:
        return None
    row, user = found
    offered: str | None = None
    if row.next_sha256 == given:
        repository.put_in_force(session, row.id, given, now, is_offered=True)
    elif row.secret_sha256 == given and _is_due(row, now):
        offered = new_secret()
        if not repository.offer_secret(session, row, digest(offered), now):
            offered = None  # another request of the browser was quicker
    if now - row.last_seen_at > _TOUCH_EVERY or offered:
        repository.touch_session(session, row.id, browser.address, browser.name, now)
    return Recognised(row, user, offered)


def exchange(session: Session, session_id: int, now: datetime) -> str:
    """Another secret at once, for what the session just did; the one before opens for 60 s more."""
    secret = new_secret()
    repository.put_in_force(session, session_id, digest(secret), now, is_offered=False)
    return secret


def _is_due(row: UserSession, now: datetime) -> bool:
    is_offered = row.next_at is not None and now - row.next_at < _OFFER_EVERY
    return now - row.rotated_at >= ROTATE_AFTER and not is_offered
