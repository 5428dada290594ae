"""Limits of failed sign-ins within 15 minutes, counted in PostgreSQL for all processes.

| failures of | limit | purpose |
|---|---|---|
| one name from one network | 5 | stops guessing a password, without locking out the owner of the name |
| one network, any names | 30 | stops trying one password with many names |
| one name, any network | 200 | stops guessing from many networks; exempts addresses with a session of the user |
| links, join tokens, provider responses from one network | 30 | stops guessing secrets, and load on the provider |

A network is an IPv4 address or an IPv6 /64. Rejected attempts are not counted, so the wait ends even for clients that
keep trying.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.errors import TOO_MANY_ATTEMPTS
from iotide_server.accounts.models import FailedAttempt
from iotide_server.accounts.sessions import repository
from iotide_server.kit.digests import digest
from iotide_server.kit.proxies import network_of

WINDOW: Final = timedelta(minutes=15)
MOST_OF_NAME_AND_NETWORK: Final = 5
MOST_OF_NETWORK: Final = 30
MOST_OF_NAME: Final = 200
"""High, and with exemptions, so that a user cannot lock out a colleague."""


class AttemptKind(StrEnum):
    PASSWORD = "password"  # noqa: S105 - the name of a kind
    LINK = "link"
    ENROLMENT = "enrolment"
    PROVIDER = "provider"


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    kind: AttemptKind
    address: str | None
    name: str | None = None

    @property
    def network(self) -> str:
        return network_of(self.address)

    @property
    def name_sha256(self) -> str | None:
        return None if self.name is None else digest(self.name)


@dataclass(frozen=True, slots=True)
class _Count:
    latest: Sequence[datetime]
    most: int


def admit(session: Session, attempt: SignInAttempt, now: datetime) -> None:
    """Raise TOO_MANY_ATTEMPTS with the seconds to wait."""
    # Attempts per name and network wait for each other, so that a hundred simultaneous ones are not all admitted.
    repository.hold(session, sorted({attempt.network, attempt.name_sha256 or attempt.network}))
    wait = max((_wait(count, now) for count in _counts(session, attempt, now)), default=timedelta(0))
    if wait > timedelta(0):
        raise TOO_MANY_ATTEMPTS(wait_seconds=ceil(wait.total_seconds()))


def note_failure(session: Session, attempt: SignInAttempt, now: datetime) -> bool:
    """Count a failure. Return whether the next attempt has to wait."""
    session.add(FailedAttempt(at=now, kind=attempt.kind, network=attempt.network, name_sha256=attempt.name_sha256))
    session.flush()
    return any(_wait(count, now) > timedelta(0) for count in _counts(session, attempt, now))


def forgive(session: Session, attempt: SignInAttempt) -> None:
    """Forget failures of that name from that network, no others."""
    if attempt.name_sha256 is not None:
        repository.delete_attempts(session, attempt.network, attempt.name_sha256)


def _counts(session: Session, attempt: SignInAttempt, now: datetime) -> list[_Count]:
    since = now - WINDOW
    latest, network, name = repository.latest_failures, FailedAttempt.network == attempt.network, attempt.name_sha256
    of_network = latest(session, since, MOST_OF_NETWORK, FailedAttempt.kind == attempt.kind, network)
    counts = [_Count(of_network, MOST_OF_NETWORK)]
    if attempt.name is not None and name is not None:
        of_name = FailedAttempt.name_sha256 == name
        most = MOST_OF_NAME_AND_NETWORK
        counts.append(_Count(latest(session, since, most, of_name, network), most))
        if not (attempt.address and repository.has_session_from(session, attempt.name, attempt.address)):
            counts.append(_Count(latest(session, since, MOST_OF_NAME, of_name), MOST_OF_NAME))
    return counts


def _wait(count: _Count, now: datetime) -> timedelta:
    return timedelta(0) if len(count.latest) < count.most else count.latest[-1] + WINDOW - now
