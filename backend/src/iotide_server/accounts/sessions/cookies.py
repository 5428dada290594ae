"""Cookies that scripts and other sites cannot read."""

from typing import Final, Literal

from fastapi import Request
from starlette.requests import HTTPConnection
from starlette.responses import Response

from iotide_server.accounts.sessions.rotation import SESSION_TERMS, Browser
from iotide_server.kit.guard import add_header
from iotide_server.kit.web import PUBLIC_URL

SESSION_COOKIE: Final = "iotide_session"
SIGN_IN_COOKIE: Final = "iotide_sign_in"
_HOST_PREFIX: Final = "__Host-"
"""Browsers accept this prefix only over HTTPS, for this host and all its paths.

https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Set-Cookie#cookie_prefixes
"""


def is_secure(request: HTTPConnection) -> bool:
    """Return whether browsers use HTTPS; over HTTP they reject secure cookies."""
    return bool(PUBLIC_URL.of(request.app.state).startswith("https:"))


def cookie_name(request: HTTPConnection, name: str = SESSION_COOKIE) -> str:
    return f"{_HOST_PREFIX}{name}" if is_secure(request) else name


def read_cookie(request: HTTPConnection, name: str = SESSION_COOKIE) -> str | None:
    return request.cookies.get(cookie_name(request, name))


def caller_browser(request: Request) -> Browser:
    return Browser(caller_address(request), request.headers.get("user-agent"))


def caller_address(request: Request) -> str | None:
    return request.client.host if request.client else None


def keep_session(request: Request, secret: str) -> None:
    terms = SESSION_TERMS.of(request.app.state)
    _keep(request, SESSION_COOKIE, secret, int(terms.lifetime.total_seconds()), "strict")


def keep_sign_in(request: Request, value: str, seconds: int) -> None:
    """Tie the provider's response to this browser; "lax" because that response comes from another site."""
    _keep(request, SIGN_IN_COOKIE, value, seconds, "lax")


def drop_cookie(request: Request, name: str = SESSION_COOKIE) -> None:
    _keep(request, name, "", 0, "strict")


def _keep(request: Request, name: str, value: str, seconds: int, same_site: Literal["strict", "lax"]) -> None:
    carrier = Response()
    carrier.set_cookie(
        cookie_name(request, name),
        value,
        max_age=seconds,
        path="/",
        secure=is_secure(request),
        httponly=True,
        samesite=same_site,
    )
    add_header(request.scope, "set-cookie", carrier.headers["set-cookie"])
