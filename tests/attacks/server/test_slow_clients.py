"""Clients that send or read very slowly, on a real socket of the server's protocol: none keeps its connection."""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import pytest
import uvicorn
from bring_up import wait_for
from factories.served import WAIT_SECONDS, all_of, connected, port_of, serving
from starlette.types import Receive, Scope, Send

from iotide_server.kit.connections import BoundedProtocol

LARGE_BYTES: Final = 64 * 1024**2
POST: Final = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
HEAD: Final = b"GET / HTTP/1.1\r\nHost: x\r\n"


class Impatient(BoundedProtocol):
    """The server's protocol with short timeouts."""

    head_seconds = 0.3
    body_seconds = 0.3
    bytes_a_second = 100
    least_earned_seconds = 0.1
    lingering_seconds = 0.3
    reading_seconds = 0.3


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Application that reads the body, except at /unread, and sends a large answer at /large."""
    has_more = scope["path"] != "/unread"
    while has_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        has_more = message.get("more_body", False)
    body = b"x" * (LARGE_BYTES if scope["path"] == "/large" else 2)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def server() -> Iterator[uvicorn.Server]:
    with serving(application, Impatient) as server:
        yield server


@pytest.fixture
def line(server: uvicorn.Server) -> Iterator[socket.socket]:
    with connected(port_of(server)) as line:
        yield line


def trickle(line: socket.socket, byte: bytes = b"x") -> bytes:
    """Send one byte at a time, as far apart as the shortest timeout, until the connection ends."""
    line.settimeout(0.05)
    received = b""
    for _ in range(int(WAIT_SECONDS / 0.05)):
        try:
            line.sendall(byte)
            piece = line.recv(65536)
        except TimeoutError:
            continue
        except (ConnectionResetError, BrokenPipeError):
            return received
        if not piece:
            return received
        received += piece
    raise AssertionError("the connection was not ended")


def refused_as_slow(answer: bytes) -> bool:
    head, _, body = answer.partition(b"\r\n\r\n")
    return head.startswith(b"HTTP/1.1 408 ") and json.loads(body)["error"]["code"] == "request_too_slow"


def test_a_silent_connection_ends(line: socket.socket) -> None:
    assert all_of(line) == b""


def test_a_head_that_stops_is_408(line: socket.socket) -> None:
    line.sendall(HEAD)
    assert refused_as_slow(all_of(line))


def test_a_head_that_comes_byte_by_byte_is_cut_off(line: socket.socket) -> None:
    line.sendall(HEAD + b"X-Slow: ")
    answer = trickle(line)
    assert answer == b"" or refused_as_slow(answer)


def test_a_body_that_stops_is_408(line: socket.socket) -> None:
    line.sendall(POST + b"x" * 10)
    assert refused_as_slow(all_of(line))


def test_a_body_that_comes_byte_by_byte_is_cut_off(line: socket.socket) -> None:
    line.sendall(POST)
    answer = trickle(line)
    assert answer == b"" or refused_as_slow(answer)


def test_a_body_that_comes_fast_enough_is_taken_however_long_it_takes(line: socket.socket) -> None:
    line.sendall(POST.replace(b"1000", b"6000") + b"x" * 1000)
    line.settimeout(0.05)
    for _ in range(10):  # longer than the 0.3 s that a body may take if no data arrives
        with suppress(TimeoutError):
            line.recv(1)
        line.sendall(b"x" * 500)
    line.settimeout(WAIT_SECONDS)
    assert line.recv(65536).startswith(b"HTTP/1.1 200")


def test_a_second_request_that_does_not_come_whole_ends_too(line: socket.socket) -> None:
    line.sendall(HEAD + b"\r\n")
    assert line.recv(65536).startswith(b"HTTP/1.1 200")
    line.sendall(HEAD)
    assert refused_as_slow(all_of(line).removeprefix(b"xx"))


def test_a_body_that_was_refused_is_not_read_for_ever(line: socket.socket) -> None:
    line.sendall(POST.replace(b"/ ", b"/unread ").replace(b"1000", b"1000000000"))
    answer = trickle(line, b"x" * 500)
    assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("size_bytes", [2, 1_000_000])
def test_a_refused_body_is_passed_over_and_the_next_request_is_answered(line: socket.socket, size_bytes: int) -> None:
    line.sendall(POST.replace(b"/ ", b"/unread ").replace(b"1000", b"%d" % size_bytes))
    assert line.recv(65536).startswith(b"HTTP/1.1 200")
    line.sendall(b"x" * size_bytes)
    line.sendall(HEAD + b"\r\n")
    assert line.recv(65536).startswith(b"HTTP/1.1 200")
    line.sendall(b"x" * size_bytes)  # not a request
    assert all_of(line).removeprefix(b"xx").startswith(b"HTTP/1.1 40")


def test_a_refused_body_in_pieces_is_not_parsed(line: socket.socket) -> None:
    line.sendall(b"POST /unread HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    answer = line.recv(65536)
    line.sendall(b"no chunk\r\n" * 100_000 + b"0\r\n\r\n")
    assert (answer + all_of(line)).count(b"HTTP/1.1") == 1


def test_a_request_that_gives_its_length_and_comes_in_chunks_is_400_and_the_last_one(line: socket.socket) -> None:
    """Otherwise the bytes after the first five would be the next request, behind a proxy that reads chunks."""
    line.sendall(POST.replace(b"/ ", b"/unread ").replace(b"1000\r\n", b"5\r\nTransfer-Encoding: chunked\r\n"))
    answer = line.recv(65536)
    with suppress(ConnectionResetError, BrokenPipeError):
        line.sendall(b"5\r\nx")
        line.sendall(HEAD + b"\r\n")
    answer += all_of(line)
    assert answer.startswith(b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1") == 1


def test_an_unread_response_is_dropped(line: socket.socket, server: uvicorn.Server) -> None:
    wait_for("the connection", lambda: server.server_state.connections or None)
    line.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
    wait_for("the end of it", lambda: not server.server_state.connections or None, seconds=WAIT_SECONDS)
    assert len(all_of(line)) < LARGE_BYTES
