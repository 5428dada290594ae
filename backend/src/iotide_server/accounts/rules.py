"""Who may call a route: each declares exactly one rule, as the annotation of its principal (a test looks for it)."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer

from iotide_server.accounts import authentication
from iotide_server.accounts.models import Role
from iotide_server.accounts.principal import ANONYMOUS, Principal
from iotide_server.kit.errors import NotAllowedError
from iotide_server.kit.web import Now, Tx

SESSION_COOKIE = "iotide_session"
CSRF_HEADER = "X-Iotide-Csrf"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

Bearer = Annotated[
    HTTPAuthorizationCredentials | None,
    Security(HTTPBearer(auto_error=False, description="An API token `iot_...`, or a node token on /agent routes")),
]
_Cookie = Annotated[
    str | None,
    Security(
        APIKeyCookie(
            name=SESSION_COOKIE,
            auto_error=False,
            description=f"Session of a browser; anything but a GET also needs the header `{CSRF_HEADER}: 1`",
        )
    ),
]


class MissingCsrfHeaderError(NotAllowedError):
    """A change came with a cookie alone, which another site could have sent."""

    code = "csrf_header_missing"


def caller_address(request: Request) -> str | None:
    """The address at the other end of the connection."""
    return request.client.host if request.client else None


def _caller(request: Request, session: Tx, now: Now, bearer: Bearer, cookie: _Cookie) -> Principal:
    address = caller_address(request)
    if bearer is not None:
        return authentication.by_api_token(session, bearer.credentials, address, now)
    if cookie is not None:
        principal = authentication.by_session_cookie(session, cookie, address, now)
        if request.method not in _SAFE_METHODS and request.headers.get(CSRF_HEADER) != "1":
            raise MissingCsrfHeaderError("the request has a cookie and no CSRF header", remedy=f"send {CSRF_HEADER}: 1")
        return principal
    raise authentication.no_credentials()


_Caller = Annotated[Principal, Depends(_caller, scope="function")]


class Rule:
    """Base of all rules."""


@dataclass(frozen=True)
class Public(Rule):
    """Anyone may call; no credential is looked at."""

    async def __call__(self) -> Principal:
        """Let everyone pass."""
        return ANONYMOUS


@dataclass(frozen=True)
class SignedIn(Rule):
    """Any person, by session or API token."""

    async def __call__(self, caller: _Caller) -> Principal:
        """Let any person pass."""
        return caller


@dataclass(frozen=True)
class HasRole(Rule):
    """A person with at least `role` in some cluster; the service then asks about the very cluster."""

    role: Role

    async def __call__(self, caller: _Caller) -> Principal:
        """Let pass who has the role somewhere."""
        if not caller.may_somewhere(self.role):
            raise NotAllowedError(
                f"{caller.name} is not {self.role} of any cluster",
                remedy=f"ask an administrator for the role {self.role}",
            )
        return caller


Anyone = Annotated[Principal, Depends(Public())]
Person = Annotated[Principal, Depends(SignedIn(), scope="function")]
Viewer = Annotated[Principal, Depends(HasRole(Role.VIEWER), scope="function")]
Operator = Annotated[Principal, Depends(HasRole(Role.OPERATOR), scope="function")]
Admin = Annotated[Principal, Depends(HasRole(Role.ADMIN), scope="function")]
