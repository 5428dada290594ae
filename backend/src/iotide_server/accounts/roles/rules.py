"""Access rules. Each route declares exactly one, as its principal's annotation (tested)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, NamedTuple

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer
from fastapi.security.utils import get_authorization_scheme_param
from sqlalchemy.orm import Session
from starlette.requests import HTTPConnection

from iotide_server.accounts import repository
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles import authentication
from iotide_server.accounts.roles.authentication import Proof
from iotide_server.accounts.roles.principal import ANONYMOUS, Principal, PrincipalKind, public_reader
from iotide_server.accounts.sessions.cookies import (
    SESSION_COOKIE,
    caller_address,
    caller_browser,
    keep_session,
    read_cookie,
)
from iotide_server.accounts.sessions.rotation import SESSION_TERMS
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.db import DATABASE, after_commit
from iotide_server.kit.errors import ErrorKind, IotideError, NotAllowedError, NotAuthenticatedError
from iotide_server.kit.people import hide_people
from iotide_server.kit.web import PUBLIC_READ, Now, Tx

if TYPE_CHECKING:
    from iotide_server.accounts.roles.page_holders import PageHolders

PAGE_HOLDERS: Final[AppValue["PageHolders"]] = AppValue("page_holders")

CSRF_HEADER = "X-Iotide-Csrf"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_ASKS_FOR_PEOPLE: Final = frozenset({"owner"})  # parameters that filter by person

Bearer = Annotated[
    HTTPAuthorizationCredentials | None,
    Security(HTTPBearer(auto_error=False, description="API token `iot_...`, or node token on /agent routes")),
]

CSRF_HEADER_MISSING = ErrorKind(403, "csrf_header_missing").says(
    "the request has a session cookie but no CSRF header", f"send {CSRF_HEADER}: 1"
)


class _SessionCookie(APIKeyCookie):
    """Also reads the cookie by its HTTPS name."""

    async def __call__(self, request: HTTPConnection) -> str | None:
        return read_cookie(request)


_Cookie = Annotated[
    str | None,
    Security(
        _SessionCookie(
            name=SESSION_COOKIE,
            auto_error=False,
            description="Browser session, named `__Host-iotide_session` over HTTPS; requests other than GET also need "
            f"the header `{CSRF_HEADER}: 1`",
        )
    ),
]


class Knock(NamedTuple):
    request: Request
    session: Session
    now: datetime
    bearer: HTTPAuthorizationCredentials | None


def proof_of(request: HTTPConnection) -> Proof | None:
    """Return an API token, or else a session's secret."""
    # Other schemes are ignored, such as Basic for a proxy that forwards the header.
    scheme, token = get_authorization_scheme_param(request.headers.get("authorization"))
    if scheme.lower() == "bearer" and token:
        return Proof(token, is_token=True)
    cookie = read_cookie(request)
    return None if cookie is None else Proof(cookie, is_token=False)


async def introduce(request: Request) -> None:
    """Raise NotAuthenticatedError before the request waits for a turn."""
    proof = proof_of(request)
    if proof is None:
        refusal: IotideError | None = authentication.no_credentials()
    else:
        refusal = await PAGE_HOLDERS.of(request.app.state).introduce(request.app.state, proof)
    is_open = (proof is None or not proof.is_token) and _is_open_for_reading(request)
    if refusal is not None and not is_open:
        raise refusal


Introduced = Annotated[None, Depends(introduce)]


def _caller(
    request: Request, _introduced: Introduced, session: Tx, now: Now, _bearer: Bearer, _cookie: _Cookie
) -> Principal:
    proof = proof_of(request)  # like `_bearer` and `_cookie`, which document OpenAPI
    try:
        if proof is None:
            raise authentication.no_credentials()
        with _forgotten_if_refused(request, proof):
            if proof.is_token:
                return authentication.by_api_token(session, proof.secret, caller_address(request), now)
            principal = _by_cookie(request, session, proof.secret, now)
    except NotAuthenticatedError:
        reader = None if proof is not None and proof.is_token else _public_reader(request, session)
        if reader is None:
            raise
        return reader
    _require_csrf_header(request)
    return principal


def _knocking(knock: Knock) -> Principal:
    """Like `_caller`, without recording the visit, which might wait for another request."""
    request, session, now, _ = knock
    proof = proof_of(request)
    if proof is None:
        raise authentication.no_credentials()
    address, terms = caller_address(request), SESSION_TERMS.of(request.app.state)
    with _forgotten_if_refused(request, proof):
        if proof.is_token:
            return authentication.by_api_token(session, proof.secret, address, now, is_noted=False)
        principal = authentication.by_unchanged_cookie(session, proof.secret, address, now, terms)
    _require_csrf_header(request)
    return principal


@contextmanager
def _forgotten_if_refused(request: Request, proof: Proof) -> Iterator[None]:
    try:
        yield
    except NotAuthenticatedError:
        PAGE_HOLDERS.of(request.app.state).forget(proof)
        raise


def _require_csrf_header(request: Request) -> None:
    if request.method not in _SAFE_METHODS and request.headers.get(CSRF_HEADER) != "1":
        raise CSRF_HEADER_MISSING()


def _by_cookie(request: Request, session: Session, cookie: str, now: datetime) -> Principal:
    found = authentication.by_session_cookie(
        session, cookie, caller_browser(request), now, SESSION_TERMS.of(request.app.state)
    )
    if found.offered is not None:
        secret = found.offered
        after_commit(session, lambda: keep_session(request, secret))
    return found.principal


def _is_open_for_reading(request: Request) -> bool:
    is_open = PUBLIC_READ.of(request.app.state) and request.method in _SAFE_METHODS
    return bool(is_open and not _ASKS_FOR_PEOPLE & request.query_params.keys())


def _public_reader(request: Request, session: Session) -> Principal | None:
    if not _is_open_for_reading(request):
        return None
    return public_reader(caller_address(request), repository.published_clusters(session))


Caller = Annotated[Principal, Depends(_caller, scope="function")]


def _caller_ahead(request: Request, introduced: Introduced, now: Now, bearer: Bearer, cookie: _Cookie) -> Principal:
    database = DATABASE.of(request.app.state)
    with database.transaction() as session:
        return _caller(request, introduced, session, now, bearer, cookie)


def _require_user(caller: Principal) -> Principal:
    if caller.kind is PrincipalKind.ANONYMOUS:
        raise authentication.no_credentials()
    return caller


class AccessRule:
    is_for_people: ClassVar[bool] = True

    def knock(self, knock: Knock) -> Principal:
        return _knocking(knock)


@dataclass(frozen=True)
class Public(AccessRule):
    """Allows everyone. Bodies must be short, because unknown callers send them."""

    async def __call__(self) -> Principal:
        return ANONYMOUS


@dataclass(frozen=True)
class AnyPerson(AccessRule):
    async def __call__(self, caller: Caller) -> Principal:
        return _require_user(caller)


@dataclass(frozen=True)
class SignedInAhead(AnyPerson):
    """Allows any user, in a transaction that ends before the route begins."""

    async def __call__(self, caller: Annotated[Principal, Depends(_caller_ahead)]) -> Principal:
        return await super().__call__(caller)


@dataclass(frozen=True)
class SignedInOrReading(AccessRule):
    async def __call__(self, caller: Caller) -> Principal:
        if caller.kind is PrincipalKind.ANONYMOUS:
            hide_people()
        return caller


@dataclass(frozen=True)
class HasRole(AccessRule):
    """Allows users with `role` in some cluster; with public read access, everyone is a viewer."""

    role: Role

    async def __call__(self, caller: Caller) -> Principal:
        if self.role is not Role.VIEWER:
            _require_user(caller)
        self._require_role(caller)
        if caller.kind is PrincipalKind.ANONYMOUS:
            hide_people()
        return caller

    def knock(self, knock: Knock) -> Principal:
        caller = _knocking(knock)
        self._require_role(caller)
        return caller

    def _require_role(self, caller: Principal) -> None:
        if not caller.may_somewhere(self.role):
            raise NotAllowedError(
                f"{caller.name} is not {self.role} of any cluster",
                remedy=f"ask an administrator for the role {self.role}",
            )


Anyone = Annotated[Principal, Depends(Public())]
Person = Annotated[Principal, Depends(AnyPerson(), scope="function")]
PersonAhead = Annotated[Principal, Depends(SignedInAhead(), scope="function")]
Reader = Annotated[Principal, Depends(SignedInOrReading(), scope="function")]
Viewer = Annotated[Principal, Depends(HasRole(Role.VIEWER), scope="function")]
Operator = Annotated[Principal, Depends(HasRole(Role.OPERATOR), scope="function")]
Admin = Annotated[Principal, Depends(HasRole(Role.ADMIN), scope="function")]
