import socket
from collections.abc import Sequence
from typing import Any

import pytest

from iotide_server.notifications.addresses import AddressForbiddenError, Reach


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.9.9.9", "::1", "localhost", "LOCALHOST.", "api.localhost", "0.0.0.0", "::"),  # noqa: S104 - not listened on
        *("::ffff:127.0.0.1", "64:ff9b::7f00:1", "169.254.169.254", "::ffff:169.254.169.254", "fe80::1"),
        *("64:ff9b::a9fe:a9fe", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "224.0.0.1", "255.255.255.255"),
        *("0.1.2.3", "192.0.0.192", "::7f00:1", "2002:7f00:1::", "64:ff9b:1::a9fe:a9fe", "2001::80ff:fffe"),
    ],
)
def test_nothing_is_sent_to_the_server_itself_its_link_or_its_cloud(host: str) -> None:
    assert Reach().objection(host) is not None


@pytest.mark.parametrize("host", ["10.1.2.3", "192.168.1.1", "100.64.0.1", "192.0.2.1", "fd12::1", "mail.example.org"])
def test_the_networks_of_a_site_are_reached(host: str) -> None:
    assert Reach().objection(host) is None


def test_loopback_is_reached_where_it_is_allowed_and_the_cloud_is_not() -> None:
    reach = Reach(loopback=True)
    assert [reach.objection(host) for host in ("127.0.0.1", "localhost", "::1")] == [None] * 3
    assert reach.objection("169.254.169.254") is not None


@pytest.mark.parametrize("host", ["127.1", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "2130706433", "0", "0xa9fea9fe"])
def test_another_spelling_of_such_an_address_is_refused(host: str) -> None:
    with pytest.raises(AddressForbiddenError), Reach().line(host, 80):
        pass


@pytest.mark.parametrize("found", ["127.0.0.1", "169.254.169.254", "::1", "2130706433"])
def test_a_name_that_resolves_to_such_an_address_is_refused(monkeypatch: pytest.MonkeyPatch, found: str) -> None:
    def look_up(*_: object, **__: object) -> Sequence[Any]:
        return original(found, 80, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)

    original = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with pytest.raises(AddressForbiddenError, match=r"hooks\.example\.org"), Reach().line("hooks.example.org", 80):
        pass
