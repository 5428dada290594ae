"""Management of API tokens."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final, Literal

from sqlalchemy.orm import Session

from iotide_server.accounts import repository
from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.errors import EXPIRY_PASSED, LOGIN_EXPIRED, LOGIN_USED, TOKEN_NOT_FOUND
from iotide_server.accounts.models import ApiToken, Role, User
from iotide_server.accounts.roles.authentication import API_TOKEN_PREFIX
from iotide_server.accounts.roles.principal import Principal
from iotide_server.accounts.schemas import USUAL_LIFETIME, LoginInput, Token, TokenCreated, TokenInput
from iotide_server.kit.db import Json, fields_of, savepoint
from iotide_server.kit.digests import digest, new_secret
from iotide_server.kit.pagination import Page, PageRequest

TokenOwners = Literal["mine", "all"]
_LOGIN_VALID: Final = timedelta(minutes=10)


def list_tokens(session: Session, principal: Principal, owners: TokenOwners, paging: PageRequest) -> Page[Token]:
    """Listing all requires an administrator of all clusters."""
    if owners == "all":
        principal.require(Role.ADMIN, None)
    conditions = [] if owners == "all" else [ApiToken.user_id == principal.user_id]
    found = repository.unrevoked_tokens(session, paging, *conditions)
    return found.page(lambda row: Token.of_row(row[0], user_name=row[1].name))


def create_token(session: Session, principal: Principal, wanted: TokenInput, now: datetime) -> TokenCreated:
    """Raise PERSON_WANTED or EXPIRY_PASSED."""
    user_id = principal.require_person("make API tokens")
    expires_at = wanted.expiry(now)
    if expires_at is not None and expires_at <= now:
        raise EXPIRY_PASSED(expires_at=expires_at)
    secret = new_secret(API_TOKEN_PREFIX)
    token = ApiToken(user_id=user_id, name=wanted.name, scopes=wanted.scopes, created_at=now, expires_at=expires_at)
    return TokenCreated.of_row(token, user_name=_keep(session, principal, token, digest(secret)), token=secret)


def confirm_login(session: Session, principal: Principal, login: LoginInput, now: datetime) -> Token:
    """Create a token whose secret only the command knows. Raise PERSON_WANTED, LOGIN_EXPIRED or LOGIN_USED."""
    user_id = principal.require_person("confirm logins")
    if abs(now - login.asked_at) > _LOGIN_VALID:
        raise LOGIN_EXPIRED(asked_at=login.asked_at, minutes=int(_LOGIN_VALID.total_seconds() // 60))
    expires_at = now + USUAL_LIFETIME
    token = ApiToken(user_id=user_id, name=login.name, scopes=login.scopes, created_at=now, expires_at=expires_at)
    with savepoint(session, LOGIN_USED()):
        owner_name = _keep(session, principal, token, login.secret_sha256)
    return Token.of_row(token, user_name=owner_name)


def _keep(session: Session, principal: Principal, token: ApiToken, secret_sha256: str) -> str:
    """Store the token and return its user's name."""
    token.secret_sha256 = secret_sha256
    session.add(token)
    session.flush()
    owner = session.get_one(User, token.user_id)
    audit.record(session, principal, Action("token_created", "token", token.id, None, after=_shown(token, owner)))
    return owner.name


def revoke_token(session: Session, principal: Principal, token_id: int, now: datetime) -> None:
    """Administrators may revoke any token, others their own. Raise PERSON_WANTED or TOKEN_NOT_FOUND."""
    principal.require_person("revoke API tokens")
    token = session.get(ApiToken, token_id)
    is_theirs = token is not None and (token.user_id == principal.user_id or principal.may(Role.ADMIN, None))
    if token is None or not is_theirs or token.revoked_at is not None:
        raise TOKEN_NOT_FOUND(token_id=token_id)
    revoke_all(session, principal, session.get_one(User, token.user_id), [token], now)


def revoke_all(
    session: Session, principal: Principal, owner: User, tokens: Collection[ApiToken], now: datetime
) -> None:
    for token in tokens:
        token.revoked_at = now
        action = Action("token_revoked", "token", token.id, None, _shown(token, owner), {"revoked": True})
        audit.record(session, principal, action)


def _shown(token: ApiToken, owner: User) -> Json:
    return {"of": owner.name, **fields_of(token, "name", "scopes", "expires_at")}
