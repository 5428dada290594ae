"""How often somebody may be wrong: failures of the last quarter of an hour, counted in PostgreSQL for all processes.

| failures of | more than | so that |
|---|---|---|
| one name from one network | 5 | a password is not guessed; others with that name are not kept out |
| one network, whatever the names | 30 | many names are not tried with one password each |
| one name, from wherever | 200 | many networks do not guess one password; who was signed in from there before passes |
| links, join tokens, provider's answers from one network | 30 | nobody looks for a secret, or keeps the provider busy |

A network is an IPv4 address, or the 64 bits of IPv6 that a customer has at least. What is refused here is not counted,
so a wait ends for who goes on trying, too: the window slides.
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
"""High, and without effect where the owner was signed in: a low one would let anybody lock a colleague out."""


class AttemptKind(StrEnum):
    """What was given as a proof."""

    PASSWORD = "password"  # noqa: S105 - the name of a kind
    LINK = "link"
    ENROLMENT = "enrolment"
    PROVIDER = "provider"


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """Somebody at an address offers a proof, with passwords for a name."""

    kind: AttemptKind
    address: str | None
    name: str | None = None

    @property
    def network(self) -> str:
        """Return the network whose failures count together with those of the address."""
        return network_of(self.address)

    @property
    def name_sha256(self) -> str | None:
        """By what the failures of the name are found."""
        return None if self.name is None else digest(self.name)


@dataclass(frozen=True, slots=True)
class _Count:
    """Failures of one kind of key: the moments of the latest ones, and how many are too many."""

    latest: Sequence[datetime]
    most: int


def admit(session: Session, attempt: SignInAttempt, now: datetime) -> None:
    """Let an attempt pass, or raise TOO_MANY_ATTEMPTS with the seconds after which one passes again."""
    # Of several at once for one name or network, each waits for what came of the one before.
    # Without the lock, a hundred attempts sent at once would all be counted before any of them has failed.
    repository.hold(session, sorted({attempt.network, attempt.name_sha256 or attempt.network}))
    wait = max((_wait(count, now) for count in _counts(session, attempt, now)), default=timedelta(0))
    if wait > timedelta(0):
        raise TOO_MANY_ATTEMPTS(wait_seconds=ceil(wait.total_seconds()))


def note_failure(session: Session, attempt: SignInAttempt, now: datetime) -> bool:
    """Count a failure; whether the next attempt like it has to wait now."""
    session.add(FailedAttempt(at=now, kind=attempt.kind, network=attempt.network, name_sha256=attempt.name_sha256))
    session.flush()
    return any(_wait(count, now) > timedelta(0) for count in _counts(session, attempt, now))


def forgive(session: Session, attempt: SignInAttempt) -> None:
    """The password was right: what was mistyped for that name from that network is forgotten, all else still counts."""
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
    """Until the oldest of as many failures as are too many leaves the window."""
    return timedelta(0) if len(count.latest) < count.most else count.latest[-1] + WINDOW - now
