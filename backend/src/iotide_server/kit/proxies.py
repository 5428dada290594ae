"""Which reverse proxies are believed when they say where a request came from."""

from ipaddress import ip_network
from typing import Final

from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

REMEDY: Final = "give addresses or networks, separated by commas: 127.0.0.1, 10.0.0.0/24"


def check_proxies(text: str) -> str:
    """The addresses and networks.

    Raises:
        ValueError: one of them is none; shows it. A wildcard is none either: everybody could then say what they like.
    """
    for part in filter(None, map(str.strip, text.split(","))):
        try:
            ip_network(part)
        except ValueError as error:
            raise ValueError(f"{part!r} is no address or network: {REMEDY}") from error
    return text


def behind_proxies(app: ASGIApp, trusted: str) -> ASGIApp:
    """The application, to which the caller's address is what the last proxy says that is not itself a trusted one.

    https://uvicorn.dev/deployment/#proxies-and-forwarded-headers
    """
    hosts = [part.strip() for part in trusted.split(",") if part.strip()]
    return ProxyHeadersMiddleware(app, trusted_hosts=hosts) if hosts else app  # type: ignore[arg-type, return-value]
