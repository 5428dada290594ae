"""Third look, operator 1: answers that clients do not read took gigabytes of the API's memory, from any viewer."""

import os
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest
import uvicorn
from factories.announced import NOW
from factories.api_process import served
from factories.measured import Measured
from factories.people import person
from local_stack import wait_for
from sqlalchemy import select
from starlette.types import Receive, Scope, Send

from iotide_server.accounts.models import Role
from iotide_server.embedded.privileges import account_of
from iotide_server.embedded.redis import PrivateRedis
from iotide_server.embedded.state import StateDirectory
from iotide_server.embedded.tls import prepare_certificates
from iotide_server.kit.connections import BoundedProtocol
from iotide_server.kit.db import Database
from iotide_server.kit.unread import Unread
from iotide_server.results import service
from iotide_server.results.models import Artefact

SIZE_BYTES: Final = 16 * 1024**2
AT_ONCE: Final = 100
MOST_GROWTH_BYTES: Final = 50_000_000
LARGE_BYTES: Final = 64 * 1024**2
WAIT_SECONDS: Final = 20.0
ONE, OTHER = "127.0.0.1", "127.0.0.2"


def connected(port: int, address: str = ONE) -> socket.socket:
    """Return a client that takes as little as it can into the kernel."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.bind((address, 0))
    line.settimeout(WAIT_SECONDS)
    line.connect((ONE, port))
    return line


def all_of(line: socket.socket) -> int:
    """Return how many bytes came until the connection ended."""
    received_bytes = 0
    with suppress(ConnectionResetError):
        while piece := line.recv(1024**2):
            received_bytes += len(piece)
    return received_bytes


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


def test_raw_output_that_nobody_reads_takes_little_memory(
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

        assert all_of(ask()) > SIZE_BYTES
        before = api.memory_bytes()
        for _ in range(AT_ONCE):
            last = ask()
            assert api.memory_bytes() - before <= MOST_GROWTH_BYTES
        answer = b"".join(iter(lambda: last.recv(1024**2), b""))
        assert answer.endswith(b"\r\n\r\n" + content), "one of them that reads after all gets all"


class Impatient(BoundedProtocol):
    """The server's protocol, in a hurry."""

    reading_seconds = 0.5
    least_earned_seconds = 0.1


class Demanding(Impatient):
    """Has more patience, and nobody reads as fast as it asks for."""

    reading_seconds = 3.0
    bytes_a_second = 10**9


class Patient(BoundedProtocol):
    """The server's protocol with room for two large answers."""

    unread = Unread(LARGE_BYTES * 5 // 2)


async def application(scope: Scope, _: Receive, send: Send) -> None:
    """Answers with much in one piece, or in pieces without end."""
    is_endless = scope["path"] == "/endless"
    length = [] if is_endless else [(b"content-length", b"%d" % LARGE_BYTES)]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    while is_endless and not is_gone.is_set():
        await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
    await send({"type": "http.response.body", "body": b"x" * (0 if is_endless else LARGE_BYTES)})


is_gone: Final = threading.Event()


@contextmanager
def serving(protocol: type[BoundedProtocol], **certificate: Path) -> Iterator[uvicorn.Server]:
    with socket.create_server((ONE, 0)) as listener:
        config = uvicorn.Config(
            application,
            http=protocol,
            lifespan="off",
            log_config=None,
            access_log=False,
            **certificate,  # type: ignore[arg-type] # files alone
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        wait_for("the server", lambda: server.started or None)
        try:
            yield server
        finally:
            is_gone.set()
            server.should_exit = server.force_exit = True
            thread.join(WAIT_SECONDS)
            is_gone.clear()


def port_of(server: uvicorn.Server) -> int:
    return int(server.servers[0].sockets[0].getsockname()[1])


def test_who_has_most_unread_loses_the_oldest_of_it_and_others_nothing() -> None:
    with serving(Patient) as server, ExitStack() as opened:

        def ask(address: str) -> socket.socket:
            line = opened.enter_context(connected(port_of(server), address))
            line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert line.recv(15) == b"HTTP/1.1 200 OK"
            return line

        first = ask(ONE)
        oldest, newest = ask(OTHER), ask(OTHER)
        assert all_of(oldest) < LARGE_BYTES
        assert all_of(first) > LARGE_BYTES
        assert all_of(newest) > LARGE_BYTES
        wait_for("an end", lambda: not server.server_state.connections or None)
        assert Patient.unread.total_bytes == 0


def test_a_stream_that_is_read_too_slowly_is_given_up_though_each_piece_is_read_in_time() -> None:
    with serving(Demanding) as server, connected(port_of(server)) as line:
        line.sendall(b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
        deadline = time.monotonic() + WAIT_SECONDS
        with suppress(ConnectionResetError):
            while line.recv(1024**2):
                assert time.monotonic() < deadline
                time.sleep(0.002)


def test_an_answer_that_nobody_reads_is_given_up_behind_tls_too(tmp_path: Path) -> None:
    made = prepare_certificates(StateDirectory(tmp_path, account_of(os.geteuid())), names=[], now=datetime.now(UTC))
    trust = ssl.create_default_context(cafile=made.ca)
    with (
        serving(Impatient, ssl_certfile=made.chain, ssl_keyfile=made.key) as server,
        connected(port_of(server)) as line,
        trust.wrap_socket(line, server_hostname="localhost") as inside,
    ):
        inside.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert inside.recv(15) == b"HTTP/1.1 200 OK"
        wait_for("the end of it", lambda: not server.server_state.connections or None, seconds=WAIT_SECONDS)
