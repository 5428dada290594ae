"""Connections to receivers, never to the server itself or a cloud's internal services."""

import re
import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

from psycopg.conninfo import conninfo_to_dict

from iotide_server.kit.app_values import AppValue

REACH: Final[AppValue["Reach"]] = AppValue("reach")


Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

ANSWER_SECONDS: Final = 10.0

TOTAL_SECONDS: Final = 30.0
"""For the whole connection, regardless of partial responses."""

# https://datatracker.ietf.org/doc/html/rfc6052 and rfc8215: IPv4 addresses behind a translator, in the last 32 bits.
_TRANSLATED: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
# "This network", which some systems route to themselves; https://datatracker.ietf.org/doc/html/rfc1122.
_THIS_NETWORK: Final = IPv4Network("0.0.0.0/8")
# Services for a cloud's machines outside link-local addresses: AWS, Alibaba, Azure and Oracle.
_CLOUD_SERVICES: Final[tuple[Network, ...]] = (
    IPv6Network("fd00:ec2::/32"),
    IPv4Network("100.100.100.200/32"),
    IPv4Network("168.63.129.16/32"),
    IPv4Network("192.0.0.192/32"),
)

# The kernel's routes, because deploy/systemd forbids netlink sockets and limits /proc (ProcSubset=pid). Local routes
# lead to this machine.
_ROUTES_4: Final = Path("/proc/self/net/fib_trie")
_ROUTES_6: Final = Path("/proc/self/net/ipv6_route")
_LOCAL_4: Final = re.compile(r"/([0-9]+) \S+ LOCAL\b")
_LOCAL_6: Final = 0x8000_0000


class AddressForbiddenError(Exception):
    """The message says why nothing is sent to this address."""


@dataclass(frozen=True, slots=True)
class Reach:
    loopback: bool = False  # allows the server's own machine, for a mail relay
    # nothing is sent to these hosts of the database and Redis (`hosts_of`)
    stores: Sequence[str] = ()

    def objection(self, host: str) -> str | None:
        """Return why the host is forbidden as written, without a lookup."""
        if host.lower().rstrip(".") == "localhost" or host.lower().endswith(".localhost"):
            return None if self.loopback else "the server itself"
        try:
            address = ip_address(host)
        except ValueError:
            return None
        return self._objection_to(address, _own_networks(), ())

    def _objection_to(self, address: Address, own: Sequence[Network], stores: Sequence[Address]) -> str | None:
        inner = _inside(address)
        if inner.is_loopback or any(inner in network for network in own):
            return None if self.loopback else "the server itself"
        if inner in stores:
            return "the host of the server's database or Redis"
        if inner in _THIS_NETWORK or inner.is_unspecified or inner.is_multicast or inner.is_reserved:
            return "not the address of a host"
        if inner.is_link_local or any(inner in network for network in _CLOUD_SERVICES):
            return "an address of the server's own network link or cloud"
        return None

    @contextmanager
    def line(self, host: str, port: int) -> Iterator[socket.socket]:
        """Open a connection to an allowed address, cut after TOTAL_SECONDS. Raise AddressForbiddenError or OSError."""
        # Connect to the checked address, so that changing the DNS name in between has no effect.
        connection = self._connected(host, port)
        # A second handle, because TLS may wrap or replace the first one.
        with connection, connection.dup() as twin:
            timer = Timer(TOTAL_SECONDS, _cut, [twin])
            timer.daemon = True
            timer.start()
            try:
                yield connection
            finally:
                timer.cancel()

    def _connected(self, host: str, port: int) -> socket.socket:
        failure: OSError | None = None
        refused: str | None = None
        give_up_at = monotonic() + ANSWER_SECONDS
        own = _own_networks()
        stores = [_inside(address) for store in self.stores for address in _looked_up(store, 0)]
        for address in _looked_up(host, port):
            objection = self._objection_to(address, own, stores)
            if objection is not None:
                refused = objection
                continue
            try:
                return socket.create_connection((str(address), port), timeout=max(0.1, give_up_at - monotonic()))
            except OSError as error:
                failure = error
        if failure is None:
            raise AddressForbiddenError(f"{host} is {refused}")
        raise failure


def hosts_of(database_url: str, redis_urls: Iterable[str]) -> tuple[str, ...]:
    """Return the hosts of PostgreSQL and Redis URLs, without socket files."""
    named = conninfo_to_dict(database_url)
    given = (*str(named.get("host") or "").split(","), *str(named.get("hostaddr") or "").split(","))
    hosts = (*given, *(urlsplit(url).hostname or "" for url in redis_urls))
    return tuple(dict.fromkeys(host for host in hosts if host and not host.startswith(("/", "@"))))


def _looked_up(host: str, port: int) -> list[Address]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ip_address(str(place[0]).partition("%")[0]) for *_, place in found]


def _own_networks() -> list[Network]:
    found: list[Network] = []
    address = ""
    for line in _ROUTES_4.read_text().splitlines():
        if "|-- " in line:
            address = line.split()[-1]
        elif local := _LOCAL_4.search(line):
            found.append(IPv4Network(f"{address}/{local[1]}"))
    with suppress(FileNotFoundError):
        for line in _ROUTES_6.read_text().splitlines():
            destination, length, *_, flags, _ = line.split()
            if int(flags, 16) & _LOCAL_6:
                found.append(IPv6Network((int(destination, 16), int(length, 16))))
    return found


def _inside(address: Address) -> Address:
    """Return the IPv4 address inside an IPv6 address, else the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if any(address in network for network in _TRANSLATED):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1]) or address


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
