"""Messages to the server itself, its database and its Redis, and the part of an internal answer that is shown."""

import base64
import json
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from socketserver import StreamRequestHandler, TCPServer
from threading import Thread
from typing import Any

import pytest
from factories.clock import MovedClock
from factories.people import Person
from factories.receivers import web_receiver
from factories.rows import upgrade
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlalchemy import Engine, text

from iotide_server.accounts.models import Role
from iotide_server.kit.vault import Vault
from iotide_server.notifications import addresses
from iotide_server.notifications.addresses import AddressForbiddenError, Reach, hosts_of
from iotide_server.notifications.deliveries import Office
from iotide_server.notifications.sending import Courier
from iotide_server.settings import Settings

URL = "/api/v1/channels"
SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
BANNER = "INTERNAL SERVICE BANNER secret=hunter2"
# A machine with a second address on its first interface, a bridge, and a range that a local route leads to it.
ROUTES_4 = """Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 10.1.0.0/24 2 0 2
        |-- 10.1.0.0
           /24 link UNICAST
        |-- 10.1.0.7
           /32 host LOCAL
        |-- 10.1.0.8
           /32 host LOCAL
        |-- 10.1.0.255
           /32 link BROADCAST
     |-- 172.17.0.1
        /32 host LOCAL
     |-- 198.51.100.0
        /24 universe UNICAST
        /28 host LOCAL
"""
ROUTES_6 = (
    "fd000000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000"
    " 00000100 00000001 00000000 00000001     eth0\n"
    "fd000000000000000000000000000002 80 00000000000000000000000000000000 00 00000000000000000000000000000000"
    " 00000000 00000004 00000000 80200001     eth0\n"
)


@pytest.fixture
def own_routes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in (("_ROUTES_4", ROUTES_4), ("_ROUTES_6", ROUTES_6)):
        file = tmp_path / name
        file.write_text(content)
        monkeypatch.setattr(addresses, name, file)


@pytest.mark.usefixtures("own_routes")
@pytest.mark.parametrize(
    "host",
    ["10.1.0.7", "10.1.0.8", "172.17.0.1", "198.51.100.15", "fd00::2", "::ffff:10.1.0.8", "64:ff9b::a01:8"],
)
def test_each_address_of_each_interface_is_the_server_itself(host: str) -> None:
    assert Reach().objection(host) == "the server itself"
    with pytest.raises(AddressForbiddenError, match="the server itself"), Reach().line(host, 9150):
        pass
    assert Reach(loopback=True).objection(host) is None


@pytest.mark.usefixtures("own_routes")
@pytest.mark.parametrize("host", ["10.1.0.9", "198.51.100.16", "fd00::3"])
def test_the_machines_next_to_it_are_not(host: str) -> None:
    assert Reach().objection(host) is None


def test_a_service_on_the_machines_own_address_is_not_reached() -> None:
    own = [str(network[0]) for network in addresses._own_networks() if network.num_addresses == 1]
    with socket.create_server(("", 0)) as service:
        port = service.getsockname()[1]
        for host in own:
            with pytest.raises(AddressForbiddenError), Reach().line(host, port):
                pass
        reachable = [host for host in own if ":" not in host]
        for host in reachable:
            with Reach(loopback=True).line(host, port):
                pass
    assert reachable, "loopback at least"


def looks_up(monkeypatch: pytest.MonkeyPatch, known: dict[str, str]) -> list[str]:
    """Make these names resolve to these addresses; return the addresses that are connected to."""
    connected: list[str] = []

    def look_up(host: str, port: int, **_: object) -> Sequence[Any]:
        return original(known[host], port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)

    def connect(address: tuple[str, int], **_: object) -> socket.socket:
        connected.append(address[0])
        raise ConnectionRefusedError

    original = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(socket, "create_connection", connect)
    return connected


@pytest.mark.parametrize("port", [5432, 80])
@pytest.mark.parametrize("address", ["10.7.0.2", "10.7.0.3", "::ffff:10.7.0.2"])
def test_the_database_and_redis_are_not_reached_by_whatever_name(
    monkeypatch: pytest.MonkeyPatch, address: str, port: int
) -> None:
    names = {"postgres": "10.7.0.2", "redis": "10.7.0.3", "hooks.example.org": address, "other.example.org": "10.7.0.4"}
    connected = looks_up(monkeypatch, names)
    reach = Reach(loopback=True, stores=("postgres", "redis"))
    with pytest.raises(AddressForbiddenError, match="database or Redis"), reach.line("hooks.example.org", port):
        pass
    with pytest.raises(ConnectionRefusedError), reach.line("other.example.org", port):
        pass
    assert connected == ["10.7.0.4"]


def test_no_message_is_sent_if_the_address_of_a_store_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    connected = looks_up(monkeypatch, {"hooks.example.org": "10.7.0.2"})
    with pytest.raises(KeyError, match="postgres"), Reach(stores=("postgres",)).line("hooks.example.org", 80):
        pass
    assert connected == []


def test_the_stores_are_those_of_the_settings() -> None:
    settings = Settings(
        database_url=SecretStr("postgresql://iotide:secret@postgres:5432/iotide"),
        redis_url=SecretStr("rediss://iotide-server:secret@redis:6379/0"),
    )
    assert settings.reach.stores == ("postgres", "redis")
    assert hosts_of("postgresql://u:p@/iotide?host=/run/iotide&port=5432", ["unix:///run/redis"]) == ()
    assert hosts_of("postgresql://u@a:1,b:2/iotide", ["redis://10.7.0.3/0"]) == ("a", "b", "10.7.0.3")


@pytest.fixture
def client(client: TestClient, shared_app: FastAPI, clock: MovedClock) -> Iterator[TestClient]:
    """Return the API of an installation that has a key, and whose messages may go to loopback."""
    state = shared_app.state
    before = state.vault, state.reach, state.office
    state.vault, state.reach = Vault(base64.b64encode(b"v" * 32).decode()), Reach(loopback=True)
    state.office = Office(state.vault, Courier(state.reach), "https://tide.example.org", clock)
    yield client
    state.vault, state.reach, state.office = before


@pytest.fixture
def banner() -> Iterator[int]:
    """Yield the port of a service that speaks neither HTTP nor SMTP and sends a secret to every client."""

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(f"{BANNER}\r\n".encode())
            with suppress(OSError):
                self.rfile.read(1)

    with TCPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture
def boss(client: TestClient, admin: Person, make_person: Callable[..., Person]) -> Person:
    """Make an administrator of one cluster."""
    cluster = client.post("/api/v1/clusters", json={"name": "blade"}, headers=admin.headers).json()
    return make_person("bo", Role.ADMIN, cluster["id"])


def word_of_test(client: TestClient, who: Person, receiver: dict[str, Any]) -> tuple[int, str]:
    """Add a channel to the caller's cluster and test it; return its id and the test's message."""
    (cluster_id,) = who.principal.grants
    body = {"name": "c", "cluster_id": cluster_id, "receiver": receiver}
    made = client.post(URL, json=body, headers=who.headers).json()
    answer = client.post(f"{URL}/{made['id']}/test", headers=who.headers)
    return made["id"], answer.json()["words"]


def shown(client: TestClient, who: Person, channel_id: int) -> str:
    """Return everything that the API shows of the channel and of its deliveries."""
    paths = (f"{URL}/{channel_id}", f"{URL}/{channel_id}/deliveries", URL)
    return "".join(client.get(path, headers=who.headers).text for path in paths)


def test_answers_of_internal_services_are_for_administrators_of_all_clusters(
    client: TestClient, admin: Person, boss: Person
) -> None:
    with web_receiver() as inner:
        inner.answer(503, body=BANNER)
        channel_id, words = word_of_test(client, boss, {"kind": "webhook", "url": inner.url, "secret": SECRET})
    assert words == "HTTP 503 Service Unavailable"
    assert BANNER not in shown(client, boss, channel_id)
    assert f"HTTP 503 Service Unavailable: {BANNER}" in shown(client, admin, channel_id)


def test_a_banner_that_is_not_http_is_not_repeated(
    client: TestClient, admin: Person, boss: Person, banner: int
) -> None:
    receiver = {"kind": "webhook", "url": f"http://127.0.0.1:{banner}/", "secret": SECRET}
    channel_id, words = word_of_test(client, boss, receiver)
    assert words == "no HTTP response (BadStatusLine)"
    assert "hunter2" not in shown(client, boss, channel_id)
    assert "hunter2" in shown(client, admin, channel_id)


def test_a_banner_that_is_not_smtp_is_not_repeated(
    client: TestClient, admin: Person, boss: Person, banner: int
) -> None:
    mail = {"kind": "email", "host": "127.0.0.1", "port": banner, "tls": "none"}
    people = {"sender": "tide@example.org", "recipients": ["ada@example.org"]}
    channel_id, words = word_of_test(client, boss, mail | people)
    assert words == "not an SMTP reply"
    assert "hunter2" not in shown(client, boss, channel_id)
    assert "hunter2" in shown(client, admin, channel_id)


def test_answers_that_earlier_releases_stored_are_taken_apart(empty_engine: Engine) -> None:
    allowed = (
        "HTTP 204",
        "HTTP 302: a redirect, which is not followed; give the final address",
        "ConnectionRefusedError: [Errno 111] Connection refused",
        "no answer within 10 s",
    )
    others = (f"BadStatusLine: {BANNER}", "550 no hunter2", f"-1 {BANNER}", "a@example.org: 550 hunter2; b@c: 451 x")
    expected = {
        f"HTTP 503: {BANNER}": ("HTTP 503", BANNER),
        **{words: (words, None) for words in allowed},
        **{words: ("an answer that an earlier release stored", words) for words in others},
    }
    upgrade(empty_engine, "0050-1")
    with empty_engine.begin() as connection:
        for words in expected:
            connection.execute(
                text("INSERT INTO channel (name, kind, settings, failure) VALUES (:words, 'slack', '{}', :words)"),
                {"words": words},
            )
        attempts = [{"at": "2026-11-21T10:00:00Z", "words": words} for words in (*expected, None)]
        connection.execute(
            text(
                "INSERT INTO delivery (channel_id, key, kind, subject, text, path, data, state, created_at, attempts)"
                " SELECT min(id), 'k', 'alert', 's', 't', '/', '{}', 'failed', now(), CAST(:attempts AS jsonb)"
                " FROM channel"
            ),
            {"attempts": json.dumps(attempts)},
        )
    upgrade(empty_engine, "0050")
    with empty_engine.begin() as connection:
        failures = connection.execute(text("SELECT name, failure FROM channel ORDER BY id")).all()
        *stored, unsaid = connection.scalar(text("SELECT attempts FROM delivery"))
    assert [tuple(row) for row in failures] == [(words, shown) for words, (shown, _) in expected.items()]
    assert [(attempt["words"], attempt.get("answer")) for attempt in stored] == list(expected.values())
    assert unsaid == attempts[-1]
