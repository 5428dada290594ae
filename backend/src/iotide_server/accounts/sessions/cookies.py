"""The cookies of this site: their names, and how they are set so that neither scripts nor other sites get at them."""

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
"""Browsers take such a cookie over HTTPS alone, for this host and the whole of it: no neighbouring host can plant one.

https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Set-Cookie#cookie_prefixes
"""


def is_secure(request: HTTPConnection) -> bool:
    """Whether browsers reach the service by HTTPS; by HTTP, as on loopback, they would drop cookies that want it."""
    return bool(PUBLIC_URL.of(request.app.state).startswith("https:"))


def cookie_name(request: HTTPConnection, name: str = SESSION_COOKIE) -> str:
    """The name as it stands in the browser."""
    return f"{_HOST_PREFIX}{name}" if is_secure(request) else name


def read_cookie(request: HTTPConnection, name: str = SESSION_COOKIE) -> str | None:
    return request.cookies.get(cookie_name(request, name))


def caller_browser(request: Request) -> Browser:
    return Browser(caller_address(request), request.headers.get("user-agent"))


def caller_address(request: Request) -> str | None:
    """The address at the other end of the connection, or the one that a trusted proxy names."""
    return request.client.host if request.client else None


def keep_session(request: Request, secret: str) -> None:
    """Have the answer, whatever it is, set the session's cookie."""
    terms = SESSION_TERMS.of(request.app.state)
    _keep(request, SESSION_COOKIE, secret, int(terms.lifetime.total_seconds()), "strict")


def keep_sign_in(request: Request, value: str, seconds: int) -> None:
    """Have the answer set what the provider's answer is held against; it comes from another site, hence "lax"."""
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
