"""A provider that takes connections and does not answer, or hardly: nobody waits long for it, and others go on."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event, Thread
from typing import Final
from urllib.parse import parse_qs, urlsplit

import pytest
from factories.clock import MovedClock
from factories.people import Person
from fastapi import FastAPI
from fastapi.testclient import TestClient

from iotide_server.accounts.oidc import Provider
from iotide_server.accounts.oidc_patience import Patience
from iotide_server.accounts.oidc_terms import OidcTerms

START: Final = "/api/v1/session/provider"
PEOPLE: Final = 24
"""Three times as many as may talk to the provider at once."""
LIMIT_SECONDS: Final = 3.0


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of one that never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def trickling() -> Iterator[str]:
    """The address of one whose answer has no end, byte by byte, each long before any usual limit."""
    is_over = Event()

    def answer(line: socket.socket) -> None:
        with line, suppress(OSError):
            line.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
            while not is_over.wait(0.05):
                line.sendall(b"x")

    def serve(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                line, _ = listener.accept()
                Thread(target=answer, args=(line,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        Thread(target=serve, args=(listener,), daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        is_over.set()
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture(params=["silent", "trickling"])
def hanging(request: pytest.FixtureRequest, shared_app: FastAPI, client: TestClient) -> Iterator[TestClient]:
    """The API of an installation with such a provider."""
    issuer: str = request.getfixturevalue(request.param)
    terms = OidcTerms(issuer, "iotide", None, "Campus", "openid", "groups", {}, admits_without_role=False)
    shared_app.state.provider = Provider(terms, f"http://127.0.0.1{START}/callback", Patience(LIMIT_SECONDS))
    client.follow_redirects = False
    yield client
    shared_app.state.provider = None


def reason(client: TestClient) -> str:
    return parse_qs(urlsplit(client.get(START).headers["location"]).query)["error"][0]


def test_nobody_waits_behind_others_and_who_signs_in_otherwise_does_not_wait_at_all(
    hanging: TestClient, admin: Person
) -> None:
    wrong = {"name": admin.principal.name, "password": "not the one"}
    hanging.post("/api/v1/session", json=wrong)  # the first takes longer
    began = time.monotonic()
    with ThreadPoolExecutor(PEOPLE) as pool:
        waiting = [pool.submit(reason, hanging) for _ in range(PEOPLE)]
        assert hanging.post("/api/v1/session", json=wrong).status_code == 401
        assert not any(one.done() for one in waiting), "they still wait for the provider"
        assert {one.result() for one in waiting} == {"provider_away"}
    assert time.monotonic() - began < 3 * LIMIT_SECONDS, "not three times eight in turn"


def test_it_is_asked_again_after_a_while(hanging: TestClient, clock: MovedClock) -> None:
    assert reason(hanging) == "provider_away"
    began = time.monotonic()
    assert reason(hanging) == "provider_away"
    assert time.monotonic() - began < LIMIT_SECONDS / 2, "told at once"
    clock.move(60)
    began = time.monotonic()
    assert reason(hanging) == "provider_away"
    assert time.monotonic() - began >= LIMIT_SECONDS
