"""Where messages may go, and the connection that goes there: never to the server itself or a cloud's own services."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from threading import Timer
from time import monotonic
from typing import Final

Address = IPv4Address | IPv6Address

ANSWER_SECONDS: Final = 10.0
"""So long may the other end be silent."""

TOTAL_SECONDS: Final = 30.0
"""So long may it all take, from the first packet on, however often the other end says something."""

# https://datatracker.ietf.org/doc/html/rfc6052 and rfc8215: addresses of IPv4 behind a translator, in the last 32 bits.
_TRANSLATED: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
# "This network", by which some systems reach themselves; https://datatracker.ietf.org/doc/html/rfc1122.
_THIS_NETWORK: Final = IPv4Network("0.0.0.0/8")
# Services that a cloud offers its machines, apart from those at link-local addresses: AWS, Alibaba, Azure and Oracle.
_CLOUD_SERVICES: Final[tuple[IPv4Network | IPv6Network, ...]] = (
    IPv6Network("fd00:ec2::/32"),
    IPv4Network("100.100.100.200/32"),
    IPv4Network("168.63.129.16/32"),
    IPv4Network("192.0.0.192/32"),
)


class AddressForbiddenError(Exception):
    """Nothing is sent to the address; the words say what it is."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Where messages may go.

    Attributes:
        loopback: also to the server's own machine, where a mail relay may be.
    """

    loopback: bool = False

    def objection(self, host: str) -> str | None:
        """What speaks against the host as it is written, without looking it up; None: nothing does."""
        if host.lower().rstrip(".") == "localhost" or host.lower().endswith(".localhost"):
            return None if self.loopback else "the server itself"
        try:
            return self._objection_to(ip_address(host))
        except ValueError:
            return None

    def _objection_to(self, address: Address) -> str | None:
        inner = _inside(address)
        if inner.is_loopback:
            return None if self.loopback else "the server itself"
        if inner in _THIS_NETWORK or inner.is_unspecified or inner.is_multicast or inner.is_reserved:
            return "no address of a machine"
        if inner.is_link_local or any(inner in network for network in _CLOUD_SERVICES):
            return "an address of the server's own link or cloud"
        return None

    @contextmanager
    def line(self, host: str, port: int) -> Iterator[socket.socket]:
        """A connection to the host, at one of its addresses that is allowed, cut after TOTAL_SECONDS.

        What was looked up is what is connected to: a name that says something else a moment later changes nothing.

        Raises:
            AddressForbiddenError: all of its addresses are refused.
            OSError: it has none, or cannot be reached.
        """
        connection = self._connected(host, port)
        # A second handle of the same connection: the first is wrapped by TLS, or replaced, while the time runs.
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
        for *_, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            objection = self._objection_to(ip_address(str(place[0]).partition("%")[0]))
            if objection is not None:
                refused = objection
                continue
            try:
                return socket.create_connection((str(place[0]), port), timeout=max(0.1, give_up_at - monotonic()))
            except OSError as error:
                failure = error
        if failure is None:
            raise AddressForbiddenError(f"{host} is {refused}")
        raise failure


def _inside(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, else the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if any(address in network for network in _TRANSLATED):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1]) or address


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
