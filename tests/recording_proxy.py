"""A proxy between an agent and the server that records all their messages."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2

_NOT_PASSED_ON = {"connection", "content-length", "content-encoding", "transfer-encoding", "host", "date", "server"}


@dataclass(frozen=True)
class Exchange:
    """A request of the agent and its answer."""

    method: str
    path: str
    request: bytes
    status: int
    answer: bytes


@dataclass
class Recording:
    """The exchanges so far.

    Attributes:
        url: the proxy's URL, for the agent.
    """

    url: str
    exchanges: list[Exchange] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, client: httpx2.Client, recording: Recording, *connection: Any) -> None:  # noqa: ANN401 - socketserver's
        self._client = client
        self._recording = recording
        super().__init__(*connection)

    def do_POST(self) -> None:
        self._pass_on()

    def do_PUT(self) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _NOT_PASSED_ON}
        answer = self._client.request(self.command, self.path, content=content, headers=headers)
        self._recording.exchanges.append(Exchange(self.command, self.path, content, answer.status_code, answer.content))
        self.send_response(answer.status_code)
        for name, value in answer.headers.items():
            if name.lower() not in _NOT_PASSED_ON:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *_: object) -> None:
        """Print nothing; the recording is the log."""


@contextmanager
def recording_proxy(server_url: str) -> Iterator[Recording]:
    """Run a proxy for the server on a free port."""
    recording = Recording("")
    with (
        httpx2.Client(base_url=server_url, timeout=30) as client,
        ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, client, recording)) as proxy,
    ):
        recording.url = f"http://127.0.0.1:{proxy.server_address[1]}"
        thread = threading.Thread(target=proxy.serve_forever)
        thread.start()
        try:
            yield recording
        finally:
            proxy.shutdown()
            thread.join()
