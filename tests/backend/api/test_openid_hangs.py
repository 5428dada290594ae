"""A provider that accepts connections and answers late or never: sign-ins fail soon, other requests are not delayed."""

import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from queue import SimpleQueue
from threading import Event, Thread
from typing import Final
from urllib.parse import parse_qs, urlsplit

import pytest
from factories.clock import MovedClock
from factories.people import Person
from fastapi import FastAPI
from fastapi.testclient import TestClient

from iotide_server.accounts.oidc.provider import Provider, ProviderLimit
from iotide_server.accounts.oidc.terms import OidcTerms

START: Final = "/api/v1/session/provider"
PEOPLE: Final = 24
"""More conversations with the provider than the API allows at once."""
AT_ONCE: Final = 8
"""Fewer conversations than the API allows at once."""
LIMIT_SECONDS: Final = 3.0


@pytest.fixture
def silent() -> Iterator[str]:
    """Address of a provider that never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


class Trickling:
    """A provider that sends an endless answer byte by byte, within any usual read timeout, until it is closed.

    Attributes:
        asked: gets an item for each conversation that began.
    """

    def __init__(self) -> None:
        self.asked: SimpleQueue[None] = SimpleQueue()
        self._is_over = Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with self._listener, suppress(OSError):
            while True:
                line, _ = self._listener.accept()
                Thread(target=self._answer, args=(line,), daemon=True).start()

    def _answer(self, line: socket.socket) -> None:
        with line, suppress(OSError):
            self.asked.put(None)
            line.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
            while not self._is_over.wait(0.05):
                line.sendall(b"x")

    def close(self) -> None:
        """End all conversations, in the middle of the answer."""
        self._is_over.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def trickling() -> Iterator[Trickling]:
    with closing(Trickling()) as provider:
        yield provider


@pytest.fixture
def installed(shared_app: FastAPI, client: TestClient) -> Iterator[Callable[[str, float], TestClient]]:
    """Return a client of an installation with a provider at this address and a limit in seconds."""

    def install(issuer: str, limit_seconds: float) -> TestClient:
        terms = OidcTerms(issuer, "iotide", None, "Campus", "openid", "groups", {}, admits_without_role=False)
        shared_app.state.provider = Provider(terms, f"http://127.0.0.1{START}/callback", ProviderLimit(limit_seconds))
        return client

    client.follow_redirects = False
    yield install
    shared_app.state.provider = None


@pytest.fixture(params=["silent", "trickling"])
def hanging(
    request: pytest.FixtureRequest,
    silent: str,
    trickling: Trickling,
    installed: Callable[[str, float], TestClient],
) -> TestClient:
    """API client of an installation with such a provider."""
    return installed({"silent": silent, "trickling": trickling.address}[request.param], LIMIT_SECONDS)


def reason(client: TestClient) -> str:
    return parse_qs(urlsplit(client.get(START).headers["location"]).query)["error"][0]


def test_sign_ins_do_not_wait_for_each_other(hanging: TestClient) -> None:
    began = time.monotonic()
    with ThreadPoolExecutor(PEOPLE) as pool:
        assert set(pool.map(reason, [hanging] * PEOPLE)) == {"provider_away"}
    assert time.monotonic() - began < PEOPLE / 4 * LIMIT_SECONDS, "not one after another"


def test_other_ways_to_sign_in_do_not_wait(
    trickling: Trickling, installed: Callable[[str, float], TestClient], admin: Person
) -> None:
    client = installed(trickling.address, 300.0)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        waiting = [pool.submit(reason, client) for _ in range(AT_ONCE)]
        for _ in waiting:
            trickling.asked.get(timeout=60)
        wrong = {"name": admin.principal.name, "password": "not the one"}
        assert client.post("/api/v1/session", json=wrong).status_code == 401
        assert not any(one.done() for one in waiting), "they still wait for the provider"
        trickling.close()
        assert {one.result() for one in waiting} == {"provider_away"}


def test_it_is_asked_again_after_a_while(
    trickling: Trickling, installed: Callable[[str, float], TestClient], clock: MovedClock
) -> None:
    client = installed(trickling.address, 0.5)
    assert reason(client) == "provider_away"
    trickling.asked.get(timeout=60)
    assert reason(client) == "provider_away"
    assert trickling.asked.empty(), "later sign-ins fail at once"
    clock.move(60)
    assert reason(client) == "provider_away"
    trickling.asked.get(timeout=60)
