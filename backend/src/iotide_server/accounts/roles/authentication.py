"""Authenticates tokens and cookies."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

from sqlalchemy.orm import Session

from iotide_server.accounts import repository
from iotide_server.accounts.errors import TOKEN_EXPIRED
from iotide_server.accounts.models import ApiToken, Role, User
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.accounts.sessions import repository as session_repository
from iotide_server.accounts.sessions.rotation import Browser, SessionTerms, recognise
from iotide_server.kit.digests import digest
from iotide_server.kit.errors import IotideError, NotAuthenticatedError

API_TOKEN_PREFIX: Final = "iot_"  # noqa: S105 - a prefix, not a secret
NODE_TOKEN_PREFIX: Final = "ion_"  # noqa: S105 - as above
_TOUCH_EVERY: Final = timedelta(minutes=1)
Scope = Literal["read", "operate", "admin"]
_SCOPE_ROLES: Final[dict[str, Role]] = {"read": Role.VIEWER, "operate": Role.OPERATOR, "admin": Role.ADMIN}


class Proof(NamedTuple):
    secret: str
    is_token: bool


def no_credentials() -> NotAuthenticatedError:
    return NotAuthenticatedError(
        "you are not signed in", remedy="sign in, or send the header Authorization: Bearer <API token>"
    )


def by_api_token(
    session: Session, secret: str, address: str | None, now: datetime, *, is_noted: bool = True
) -> Principal:
    """Return the principal of an API token, limited to its scopes.

    `is_noted` records its use. Raise TOKEN_EXPIRED or NotAuthenticatedError.
    """
    found = repository.live_api_token(session, digest(secret), now)
    if found is None:
        expired = repository.expired_tokens(session, [digest(secret)], now)
        raise _refused_token(secret, expired.get(digest(secret)))
    token, user = found
    if is_noted and (token.last_used_at is None or now - token.last_used_at > _TOUCH_EVERY):
        repository.touch_token(session, token.id, address, now)
    strongest = max((_SCOPE_ROLES[scope] for scope in token.scopes), key=lambda role: role.rank)
    held, published = _rights(session, user)
    grants = {cluster_id: min(role, strongest, key=lambda either: either.rank) for cluster_id, role in held.items()}
    name = f"{user.name} (token {token.name})"
    return Principal(PrincipalKind.TOKEN, token.id, name, address, user.id, grants, published)


def _refused_token(secret: str, expired: ApiToken | None) -> IotideError:
    if expired is not None and expired.expires_at is not None:
        return TOKEN_EXPIRED(name=expired.name, expired_at=expired.expires_at)
    is_node = secret.startswith(NODE_TOKEN_PREFIX)
    return NotAuthenticatedError(
        "node tokens are valid only for /api/v1/agent" if is_node else "unknown or revoked API token",
        remedy="create a new token under Settings > Tokens",
    )


def owners_of(
    session: Session, proofs: Collection[Proof], now: datetime, *, idle_since: datetime
) -> dict[Proof, int | IotideError]:
    """Return the user id of each proof, or its error, without recording use."""
    tokens = {digest(proof.secret): proof for proof in proofs if proof.is_token}
    cookies = {digest(proof.secret): proof for proof in proofs if not proof.is_token}
    users = repository.users_of_tokens(session, tokens, now) if tokens else {}
    strange = tokens.keys() - users.keys()
    expired = repository.expired_tokens(session, strange, now) if strange else {}
    opened = session_repository.users_of_sessions(session, cookies, now, idle_since=idle_since) if cookies else {}
    return {
        proof: users.get(key) or _refused_token(proof.secret, expired.get(key)) for key, proof in tokens.items()
    } | {proof: opened.get(key) or session_ended() for key, proof in cookies.items()}


@dataclass(frozen=True, slots=True)
class SignedInBrowser:
    principal: Principal
    offered: str | None


def by_session_cookie(
    session: Session, secret: str, browser: Browser, now: datetime, terms: SessionTerms
) -> SignedInBrowser:
    """Raise NotAuthenticatedError if the session has ended."""
    found = recognise(session, secret, browser, now, terms)
    if found is None:
        raise session_ended()
    principal = user_principal(session, found.user, browser.address)
    return SignedInBrowser(replace(principal, session_id=found.row.id), found.offered)


def by_unchanged_cookie(
    session: Session, secret: str, address: str | None, now: datetime, terms: SessionTerms
) -> Principal:
    found = session_repository.live_session(session, digest(secret), now, idle_since=now - terms.idle)
    if found is None:
        raise session_ended()
    return user_principal(session, found[1], address)


def session_ended() -> NotAuthenticatedError:
    return NotAuthenticatedError("the session has ended", remedy="sign in again")


def user_principal(session: Session, user: User, address: str | None) -> Principal:
    grants, published = _rights(session, user)
    return Principal(PrincipalKind.USER, user.id, user.name, address, user.id, grants, published)


def on_behalf_of(session: Session, user_id: int | None, why: str) -> Principal | None:
    """Return the user's principal, or None if deleted or disabled. The audit log shows `why`."""
    user = session.get(User, user_id) if user_id is not None else None
    if user is None or user.disabled_at is not None:
        return None
    return replace(user_principal(session, user, None), name=f"{user.name} ({why})", is_automatic=True)


def _rights(session: Session, user: User) -> tuple[dict[int | None, Role], dict[int, str]]:
    """Return the user's strongest role in each cluster (None: in all), and the names of published clusters."""
    strongest: dict[int | None, Role] = {}
    published: dict[int, str] = {}
    for row in repository.rights(session, user.id):
        if row.role is None:
            published[row.cluster_id] = row.published_name
        elif Role(row.role).rank >= strongest.get(row.cluster_id, Role.VIEWER).rank:
            strongest[row.cluster_id] = Role(row.role)
    return strongest, published
