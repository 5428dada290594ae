"""Examples of deploy/proxy as real proxies in front of a real server: pages, change feed, uploads, and an agent
behind.
"""

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Semaphore, Thread
from urllib.parse import urlsplit

import httpx2
import pytest
from bring_up import wait_for
from installed.front import Front, in_front
from local_stack import LocalStack
from rig import add_rig

from iotide_server.kit.one_each import TOO_MANY_AT_ONCE
from iotide_server.kit.web import ErrorBody
from iotide_wire.units import MIB

CHANGE_SECONDS = 3.0
MOST_OF_AN_ADDRESS = 256


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def front(
    request: pytest.FixtureRequest, stack: LocalStack, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Front]:
    port = urlsplit(stack.url).port
    assert port is not None
    with in_front(request.param, tmp_path_factory.mktemp(request.param), port) as running:
        yield running


def test_the_browser_application_comes_through_with_its_security_headers(front: Front, stack: LocalStack) -> None:
    with front.client() as client:
        shown, own = client.get(f"{front.url}/"), httpx2.get(f"{stack.url}/", trust_env=False)
    assert shown.text == own.text
    for name in ("Content-Security-Policy", "X-Frame-Options", "X-Content-Type-Options"):
        assert shown.headers[name] == own.headers[name]


def test_changes_are_forwarded_line_by_line_at_once(front: Front, stack: LocalStack) -> None:
    headers = {"Cookie": f"iotide_session={stack.browser_session()}"}
    with (
        front.client() as client,
        client.stream("GET", "/events", params={"topics": "cluster"}, headers=headers) as response,
    ):
        lines = response.iter_lines()
        asked_at = time.monotonic()
        assert ": open" in next(lines)
        stack.add_cluster(f"news-{urlsplit(front.url).port}")
        next(line for line in lines if line.startswith("event: change"))
        assert time.monotonic() - asked_at < CHANGE_SECONDS


def test_allowed_uploads_reach_the_api_and_others_get_the_apis_error(
    front: Front,
) -> None:
    headers = {"Authorization": "Bearer ion_nobody", "Content-Type": "application/octet-stream", "X-Iotide-Fence": "1"}
    path = f"/agent/orders/1/artefacts/out?sha256={'0' * 64}"
    with front.client() as client:
        largest = client.put(path, content=bytes(16 * MIB), headers=headers)
        larger = client.put(path, content=bytes(16 * MIB + 1), headers=headers)
    assert largest.status_code == httpx2.codes.UNAUTHORIZED
    assert larger.status_code == httpx2.codes.REQUEST_ENTITY_TOO_LARGE
    assert larger.json()["error"]["code"] == "body_too_large"


def test_an_agent_runs_a_campaign_through_it(front: Front, stack: LocalStack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(front.authority))  # as a system that trusts the site's authority
    rig = add_rig(stack, f"proxied-{urlsplit(front.url).port}", server_url=front.url)
    assert rig.wait_ended(rig.submit_one("dd", {"file_size_bytes": MIB}))["state"] == "finished"


class _Upstream(BaseHTTPRequestHandler):
    """Upstream with large answers; it records bodies, and holds lists of campaigns until the test ends them."""

    protocol_version = "HTTP/1.1"
    timeout = 2.0

    def do_GET(self) -> None:
        if self.path.endswith("/campaigns"):
            _held.release()
            _may_end.wait(60)
        size_bytes = 16 * MIB if "/artefacts/" in self.path else 0
        self.send_response(200)
        self.send_header("Content-Length", str(size_bytes))
        self.end_headers()
        try:
            self.wfile.write(bytes(size_bytes))
        except TimeoutError:
            _held_back.set()

    def do_PUT(self) -> None:
        if self.rfile.read(MIB):
            _arrives.set()
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


_held_back, _arrives = Event(), Event()
_held, _may_end = Semaphore(0), Event()


class _Server(ThreadingHTTPServer):
    request_queue_size = 2 * MOST_OF_AN_ADDRESS


@pytest.fixture
def upstream_port() -> Iterator[int]:
    """Return the port of a test server in the API's place."""
    with _Server(("127.0.0.1", 0), _Upstream) as upstream:
        Thread(target=upstream.serve_forever, daemon=True).start()
        yield upstream.server_port
        upstream.shutdown()


@contextmanager
def _asking(front: Front) -> Iterator[Callable[[str], ssl.SSLSocket]]:
    """Open connections that each send the first lines of a request."""
    trust = ssl.create_default_context(cafile=front.authority)
    with ExitStack() as opened:

        def ask(head: str) -> ssl.SSLSocket:
            line = opened.enter_context(socket.create_connection(("localhost", urlsplit(front.url).port), timeout=20))
            inside = opened.enter_context(trust.wrap_socket(line, server_hostname="localhost"))
            inside.sendall(f"{head} HTTP/1.1\r\nHost: localhost\r\n".encode())
            return inside

        yield ask


@pytest.mark.parametrize("kind", ["nginx", "caddy"])
def test_neither_unread_responses_nor_bodies_of_slow_clients_wait_on_the_proxys_disk(
    kind: str, tmp_path: Path, upstream_port: int
) -> None:
    _held_back.clear()
    _arrives.clear()
    with in_front(kind, tmp_path, upstream_port) as front, _asking(front) as ask:
        ask("GET /api/v1/artefacts/1").sendall(b"\r\n")
        assert _held_back.wait(20), "the server waits for the reader, not the proxy"
        ask("PUT /api/v1/agent/orders/1/artefacts/out").sendall(
            b"Content-Length: %d\r\n\r\n" % (16 * MIB) + bytes(2 * MIB)
        )
        assert _arrives.wait(20), "the server gets a body while it arrives"


def test_of_one_address_256_requests_are_under_way_and_more_are_refused_as_the_api_refuses_agents_aside(
    tmp_path: Path, upstream_port: int
) -> None:
    _may_end.clear()
    with in_front("nginx", tmp_path, upstream_port) as front, _asking(front) as ask, front.client() as client:
        try:
            for _ in range(MOST_OF_AN_ADDRESS):
                ask("GET /api/v1/campaigns").sendall(b"\r\n")
            assert all(_held.acquire(timeout=20) for _ in range(MOST_OF_AN_ADDRESS))
            refused = client.get("/clusters")
            assert client.get("/agent/ready").is_success
        finally:
            _may_end.set()
        wait_for("a place", lambda: client.get("/clusters").is_success or None)
    assert (refused.status_code, refused.headers.get("Retry-After")) == (httpx2.codes.TOO_MANY_REQUESTS, "1")
    assert refused.headers["Content-Type"] == "application/json"
    assert ErrorBody.model_validate(refused.json(), strict=True).error.code == TOO_MANY_AT_ONCE.code
