"""Tells where requests come from: which reverse proxies are believed, and which addresses are one network."""

from ipaddress import IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

REMEDY: Final = "give addresses or networks, separated by commas: 127.0.0.1, 10.0.0.0/24"

_IPV6_CUSTOMER_BITS: Final = 64


def check_proxies(text: str) -> str:
    """Return the addresses and networks, or raise ValueError with the one that is none, such as a wildcard."""
    for part in filter(None, map(str.strip, text.split(","))):
        try:
            ip_network(part)
        except ValueError as error:
            raise ValueError(f"{part!r} is no address or network: {REMEDY}") from error
    return text


def behind_proxies(app: ASGIApp, trusted: str) -> ASGIApp:
    """Return the application, which takes as the caller's address what the last proxy says that is not trusted."""
    # https://uvicorn.dev/deployment/#proxies-and-forwarded-headers
    hosts = [part.strip() for part in trusted.split(",") if part.strip()]
    return ProxyHeadersMiddleware(app, trusted_hosts=hosts) if hosts else app  # type: ignore[arg-type, return-value]


def network_of(address: str | None) -> str:
    """Return the network that all addresses of one customer are in; empty where there is none, as on a unix socket."""
    try:
        parsed = ip_address(address or "")
    except ValueError:
        return address or ""
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Network((parsed, _IPV6_CUSTOMER_BITS), strict=False))
