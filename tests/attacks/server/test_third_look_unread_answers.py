"""Third review, operator 1: answers that clients do not read took gigabytes of the API's memory, from any viewer."""

import os
import secrets
import socket
import ssl
import time
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest
from bring_up import wait_for
from factories.announced import NOW
from factories.api_process import served
from factories.measured import Measured
from factories.people import person
from factories.served import ADDRESS, WAIT_SECONDS, all_of, connected, port_of, serving
from sqlalchemy import select
from starlette.types import Receive, Scope, Send

from iotide_server.accounts.models import Role
from iotide_server.bundled.privileges import account_of
from iotide_server.bundled.redis import PrivateRedis
from iotide_server.bundled.state import StateDirectory
from iotide_server.bundled.tls import prepare_certificates
from iotide_server.kit.connections import BoundedProtocol
from iotide_server.kit.db import Database
from iotide_server.kit.unread import Unread
from iotide_server.results.ingest import service
from iotide_server.results.models import Artefact

SIZE_BYTES: Final = 16 * 1024**2
AT_ONCE: Final = 100
MOST_GROWTH_BYTES: Final = 50_000_000
LARGE_BYTES: Final = 64 * 1024**2
PIECES: Final = 10_000
OTHER: Final = "127.0.0.2"


@pytest.fixture
def raw_output(database: Database) -> tuple[int, bytes]:
    """Return an artefact's id and content."""
    content = secrets.token_bytes(SIZE_BYTES)
    with database.transaction() as session:
        measured = Measured(session, NOW)
        run = measured.run(measured.cell(file_size_bytes=2048))
        order = measured.order(run)
        service.store_artefact(session, order, "write.stdout", sha256(content).hexdigest(), content)
        measured.end(run, order)
        artefact_id = session.scalars(select(Artefact.id)).one()
    return artefact_id, content


def test_unread_raw_output_takes_little_memory(
    raw_output: tuple[int, bytes], database: Database, migrated_url: str, redis_server: PrivateRedis
) -> None:
    artefact_id, content = raw_output
    with database.transaction() as session:
        reader = person(session, "vi", Role.VIEWER, now=NOW).headers["Authorization"]
    request = f"GET /api/v1/artefacts/{artefact_id} HTTP/1.1\r\nHost: x\r\nAuthorization: {reader}\r\n"

    with served(migrated_url, redis_server.url, 1) as api, ExitStack() as opened:

        def ask() -> socket.socket:
            line = opened.enter_context(connected(api.port))
            line.sendall(f"{request}Connection: close\r\n\r\n".encode())
            assert line.recv(15) == b"HTTP/1.1 200 OK"
            return line

        assert len(all_of(ask())) > SIZE_BYTES
        before = api.memory_bytes()
        for _ in range(AT_ONCE):
            last = ask()
            assert api.memory_bytes() - before <= MOST_GROWTH_BYTES
        assert all_of(last).endswith(b"\r\n\r\n" + content), "one of them that reads after all gets all"


class Impatient(BoundedProtocol):
    """The server's protocol with short timeouts."""

    reading_seconds = 0.5
    least_earned_seconds = 0.1


class Demanding(Impatient):
    """The server's protocol with long timeouts and a minimum read rate that no client reaches."""

    reading_seconds = 3.0
    bytes_a_second = 10**9


class Patient(BoundedProtocol):
    """The server's protocol with room for two large answers."""

    unread = Unread(LARGE_BYTES * 5 // 2)


async def application(scope: Scope, _: Receive, send: Send) -> None:
    """Application that answers with one large piece, or with very many pieces."""
    is_stream = scope["path"] == "/stream"
    length = [] if is_stream else [(b"content-length", b"%d" % LARGE_BYTES)]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    for _piece in range(PIECES if is_stream else 0):
        await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
    await send({"type": "http.response.body", "body": b"x" * (0 if is_stream else LARGE_BYTES)})


def test_the_client_with_most_unread_data_loses_its_oldest_and_others_nothing() -> None:
    with serving(application, Patient) as server, ExitStack() as opened:

        def ask(address: str) -> socket.socket:
            line = opened.enter_context(connected(port_of(server), address))
            line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert line.recv(15) == b"HTTP/1.1 200 OK"
            return line

        first = ask(ADDRESS)
        oldest, newest = ask(OTHER), ask(OTHER)
        assert len(all_of(oldest)) < LARGE_BYTES
        assert len(all_of(first)) > LARGE_BYTES
        assert len(all_of(newest)) > LARGE_BYTES
        wait_for("an end", lambda: not server.server_state.connections or None)
        assert Patient.unread.total_bytes == 0


@pytest.mark.parametrize("body", [b"", b"x"], ids=["no_body", "a_body_after_the_answer"])
def test_a_request_sent_ahead_waits_until_the_answer_before_it_was_read(body: bytes) -> None:
    """Its answer would wait in memory, and no limit counts an answer that is not written yet."""
    begun: list[str] = []

    async def noting(scope: Scope, receive: Receive, send: Send) -> None:
        begun.append(scope["path"])
        await application(scope, receive, send)
        begun.append(f"end of {scope['path']}")

    with serving(noting, Patient) as server, connected(port_of(server)) as line:
        line.sendall(b"GET /first HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body))
        wait_for("the first answer", lambda: "end of /first" in begun or None)
        line.sendall(body + b"GET /second HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        with connected(port_of(server)) as other:
            other.sendall(b"GET /other HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert len(all_of(other)) > LARGE_BYTES
        assert "/second" not in begun
        answers = all_of(line)
    assert answers.count(b"HTTP/1.1 200") == (1 if body else 2)
    assert len(answers) > LARGE_BYTES * answers.count(b"HTTP/1.1 200")


def test_a_stream_that_is_read_too_slowly_is_given_up_though_each_piece_is_read_in_time() -> None:
    with serving(application, Demanding) as server, connected(port_of(server)) as line:
        line.sendall(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        deadline = time.monotonic() + WAIT_SECONDS
        with suppress(ConnectionResetError):
            while line.recv(1024**2):
                assert time.monotonic() < deadline
                time.sleep(0.002)  # reads slowly, which is the attack


def test_an_unread_response_is_dropped_behind_tls_too(tmp_path: Path) -> None:
    made = prepare_certificates(StateDirectory(tmp_path, account_of(os.geteuid())), names=[], now=datetime.now(UTC))
    trust = ssl.create_default_context(cafile=made.ca)
    with (
        serving(application, Impatient, chain=made.chain, key=made.key) as server,
        connected(port_of(server)) as line,
        trust.wrap_socket(line, server_hostname="localhost") as inside,
    ):
        inside.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert inside.recv(15) == b"HTTP/1.1 200 OK"
        wait_for("the end of it", lambda: not server.server_state.connections or None, seconds=WAIT_SECONDS)
