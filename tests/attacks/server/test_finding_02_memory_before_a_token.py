"""Finding 2: 14 concurrent bodies of 16 MiB took 5 GB of the API's memory before any token was checked."""

import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest
from factories.api_process import PIECE, Api, served
from factories.clusters import make_cluster, make_node, node_token

from iotide_server.accounts.roles.authentication import NODE_TOKEN_PREFIX
from iotide_server.bundled.redis import PrivateRedis
from iotide_server.kit.db import Database, open_engine

SIZE_BYTES: Final = 16 * 1024**2
AT_ONCE: Final = 14
MOST_GROWTH_BYTES: Final = 50_000_000
PROCESSES: Final = 2
FINISH: Final = "/api/v1/agent/orders/1/finish"
NODE: Final = "n1"


def filled(head: bytes, piece: bytes, tail: bytes) -> bytes:
    """Return JSON of nearly SIZE_BYTES."""
    room = SIZE_BYTES - len(head) - len(tail) - len(piece)
    return head + piece * (room // len(piece)) + piece.strip(b",") + tail


LISTS: Final = filled(b'{"fence":[', b"[],", b"]}")
ONE_TEXT: Final = filled(b'{"fence":"', b"x", b'"}')
TEXTS: Final = filled(b'{"fence":[', b'"' + b"x" * 10_000 + b'",', b"]}")
NAMES: Final = b'{"fence":{%s}}' % b",".join(b'"%x":0' % number for number in range(1_200_000))
NUMBERS: Final = filled(b'{"fence":["",', b"0,", b"]}")
ESCAPES: Final = filled(b'{"fence":"', b"\\:", b'"}')
BLANKS: Final = filled(b'{"fence":', b" ", b"1}")


@pytest.fixture(scope="module")
def api(migrated_url: str, redis_server: PrivateRedis, empty_all: Callable[[], None]) -> Iterator[Api]:
    engine = open_engine(migrated_url)
    with Database(engine).transaction() as session:
        make_node(session, make_cluster(session), NODE)
    engine.dispose()
    with served(migrated_url, redis_server.url, PROCESSES) as api:
        for _ in range(40):  # both processes have handled each kind of request and allocated their memory for it
            for token in (None, f"{NODE_TOKEN_PREFIX}wrong", node_token(NODE)):
                api.post(FINISH, token, LISTS[: 100_000 - 2] + b"0}")
                api.post(FINISH, token, TEXTS[:400_000])
        yield api
    empty_all()


def attack(api: Api, token: str | None, body: bytes, path: str = FINISH) -> tuple[int, set[tuple[int, str]], set[int]]:
    """Return the highest growth of memory, and the answers to the attackers and to other clients meanwhile."""
    before, highest, statuses = api.memory_bytes(), 0, set[int]()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        sent = [pool.submit(api.post, path, token, body) for _ in range(AT_ONCE)]
        others = threading.Thread(target=lambda: statuses.update(api.get("/api/v1/ready") for _ in range(20)))
        others.start()
        while others.is_alive() or not all(one.done() for one in sent):
            highest = max(highest, api.memory_bytes())
            time.sleep(0.01)
    return highest - before, {one.result() for one in sent}, statuses


@pytest.mark.parametrize("token", [None, f"{NODE_TOKEN_PREFIX}{secrets.token_urlsafe(32)}"], ids=["none", "wrong"])
@pytest.mark.parametrize("body", [LISTS, ONE_TEXT], ids=["lists", "one text"])
def test_bodies_without_a_known_token_take_no_memory(api: Api, token: str | None, body: bytes) -> None:
    growth_bytes, answers, others = attack(api, token, body)
    assert growth_bytes <= MOST_GROWTH_BYTES
    assert (401, "not_authenticated") in answers
    assert answers <= {(401, "not_authenticated"), (0, "")}, "the connection may end before all of the body was sent"
    assert others == {200}


@pytest.mark.parametrize(
    "body",
    [LISTS, ONE_TEXT, TEXTS, NAMES, NUMBERS, ESCAPES, BLANKS],
    ids=["lists", "one text", "texts", "names", "numbers", "escapes", "blanks"],
)
def test_bodies_of_a_stolen_token_take_little_memory(api: Api, body: bytes) -> None:
    growth_bytes, answers, others = attack(api, node_token(NODE), body)
    assert growth_bytes <= MOST_GROWTH_BYTES
    assert {status for status, _ in answers} <= {422, 408, 0}
    assert others == {200}


@pytest.mark.parametrize("path", ["/api/v1/agent/beat", "/api/v1/agent/hello", "/api/v1/agent/orders/1/claim"])
def test_bodies_larger_than_any_message_of_their_kind_are_rejected_unread(api: Api, path: str) -> None:
    growth_bytes, answers, others = attack(api, node_token(NODE), LISTS, path)
    assert growth_bytes <= MOST_GROWTH_BYTES
    assert answers <= {(413, "body_too_large"), (0, "")}
    assert others == {200}


@pytest.mark.parametrize("token", [None, "iot_wrong", f"{NODE_TOKEN_PREFIX}wrong"])
def test_a_client_that_waits_for_leave_to_send_its_body_gets_none(api: Api, token: str | None) -> None:
    proof = f"Authorization: Bearer {token}\r\n" if token else ""
    head = f"Content-Type: application/json\r\nContent-Length: {SIZE_BYTES}\r\nExpect: 100-continue\r\n{proof}\r\n"
    with socket.create_connection(("127.0.0.1", api.port), timeout=60) as line:
        line.sendall(f"POST {FINISH} HTTP/1.1\r\nHost: x\r\n{head}".encode())
        assert line.recv(PIECE)[:12] in {b"HTTP/1.1 401", b"HTTP/1.1 403"}
