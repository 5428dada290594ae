"""Trusted reverse proxies, and networks of client addresses."""

from ipaddress import IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

REMEDY: Final = "give addresses or networks, separated by commas: 127.0.0.1, 10.0.0.0/24"

_IPV6_CUSTOMER_BITS: Final = 64


def check_proxies(text: str) -> str:
    """Raise ValueError unless the text lists addresses and networks."""
    for part in filter(None, map(str.strip, text.split(","))):
        try:
            ip_network(part)
        except ValueError as error:
            raise ValueError(f"{part!r} is not an address or network: {REMEDY}") from error
    return text


def behind_proxies(app: ASGIApp, trusted: str) -> ASGIApp:
    """Take the last untrusted address of X-Forwarded-For as the client's."""
    hosts = [part.strip() for part in trusted.split(",") if part.strip()]
    return ProxyHeadersMiddleware(app, trusted_hosts=hosts) if hosts else app  # type: ignore[arg-type, return-value]


def network_of(address: str | None) -> str:
    """Return an IPv4 address or an IPv6 /64; empty without an address, as on a Unix socket."""
    try:
        parsed = ip_address(address or "")
    except ValueError:
        return address or ""
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Network((parsed, _IPV6_CUSTOMER_BITS), strict=False))
