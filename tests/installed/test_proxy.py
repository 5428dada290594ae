"""The examples of deploy/proxy, as real proxies before a real server: pages, news, uploads, and an agent behind."""

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

import httpx
import pytest
from installed.front import Front, in_front
from local_stack import LocalStack
from rig import add_rig

NEWS_SECONDS = 3.0
MIB = 1024**2


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
        shown, own = client.get(f"{front.url}/"), httpx.get(f"{stack.url}/", trust_env=False)
    assert shown.text == own.text
    for name in ("Content-Security-Policy", "X-Frame-Options", "X-Content-Type-Options"):
        assert shown.headers[name] == own.headers[name]


def test_news_are_passed_on_line_by_line_at_once(front: Front, stack: LocalStack) -> None:
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
        assert time.monotonic() - asked_at < NEWS_SECONDS


def test_what_an_agent_may_upload_reaches_the_api_and_what_it_may_not_is_refused_in_the_apis_words(
    front: Front,
) -> None:
    headers = {"Authorization": "Bearer ion_nobody", "Content-Type": "application/octet-stream", "X-Iotide-Fence": "1"}
    path = f"/agent/orders/1/artefacts/out?sha256={'0' * 64}"
    with front.client() as client:
        largest = client.put(path, content=bytes(16 * MIB), headers=headers)
        larger = client.put(path, content=bytes(16 * MIB + 1), headers=headers)
    assert largest.status_code == httpx.codes.UNAUTHORIZED
    assert larger.status_code == httpx.codes.REQUEST_ENTITY_TOO_LARGE
    assert larger.json()["error"]["code"] == "body_too_large"


def test_an_agent_runs_a_campaign_through_it(front: Front, stack: LocalStack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(front.authority))  # as a system that trusts the site's authority
    rig = add_rig(stack, f"proxied-{urlsplit(front.url).port}", server_url=front.url)
    assert rig.wait_ended(rig.submit_one("dd", {"file_size_bytes": MIB}))["state"] == "finished"


class _Upstream(BaseHTTPRequestHandler):
    """Answers with much, and counts what came of a body."""

    protocol_version = "HTTP/1.1"
    timeout = 2.0

    def do_GET(self) -> None:
        size_bytes = 0 if self.path.endswith("/ready") else 16 * MIB
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
        """Say nothing."""


_held_back, _arrives = Event(), Event()


@pytest.mark.parametrize("kind", ["nginx", "caddy"])
def test_neither_answers_that_nobody_reads_nor_bodies_of_slow_clients_wait_on_the_proxys_disk(
    kind: str, tmp_path: Path
) -> None:
    _held_back.clear()
    _arrives.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Upstream) as upstream, ExitStack() as opened:
        Thread(target=upstream.serve_forever, daemon=True).start()
        opened.callback(upstream.shutdown)
        front = opened.enter_context(in_front(kind, tmp_path, upstream.server_port))
        trust = ssl.create_default_context(cafile=front.authority)

        def ask(head: str) -> ssl.SSLSocket:
            line = opened.enter_context(socket.create_connection(("localhost", urlsplit(front.url).port), timeout=20))
            inside = opened.enter_context(trust.wrap_socket(line, server_hostname="localhost"))
            inside.sendall(f"{head} HTTP/1.1\r\nHost: localhost\r\n".encode())
            return inside

        ask("GET /api/v1/artefacts/1").sendall(b"\r\n")
        assert _held_back.wait(20), "the server waits for the reader, not the proxy"
        ask("PUT /api/v1/agent/orders/1/artefacts/out").sendall(
            b"Content-Length: %d\r\n\r\n" % (16 * MIB) + bytes(2 * MIB)
        )
        assert _arrives.wait(20), "the server gets a body while it arrives"
