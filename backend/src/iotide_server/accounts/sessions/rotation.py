"""Rotation of session secrets: the server offers a new secret, which takes effect once the browser sends it back.

| the cookie contains | within | effect |
|---|---|---|
| the current secret | the first hour | none |
| the current secret | later | the server offers a new secret, at most once a minute |
| the offered secret | | it becomes current; the previous one works for another 60 s |
| the previous secret | those 60 s | none |
| any other secret | | no session |

The response may never arrive, for instance if the user left the page. The current secret then remains valid.
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
    idle: timedelta  # ends if unused for this long
    lifetime: timedelta  # maximum since sign-in


@dataclass(frozen=True, slots=True)
class Recognised:
    """`offered` is a new secret for the session's cookie."""

    row: UserSession
    user: User
    offered: str | None


@dataclass(frozen=True, slots=True)
class Browser:
    address: str | None
    name: str | None


def recognise(session: Session, secret: str, browser: Browser, now: datetime, terms: SessionTerms) -> Recognised | None:
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
            offered = None
    if now - row.last_seen_at > _TOUCH_EVERY or offered:
        repository.touch_session(session, row.id, browser.address, browser.name, now)
    return Recognised(row, user, offered)


def exchange(session: Session, session_id: int, now: datetime) -> str:
    """Return a secret that takes effect at once."""
    secret = new_secret()
    repository.put_in_force(session, session_id, digest(secret), now, is_offered=False)
    return secret


def _is_due(row: UserSession, now: datetime) -> bool:
    is_offered = row.next_at is not None and now - row.next_at < _OFFER_EVERY
    return now - row.rotated_at >= ROTATE_AFTER and not is_offered
