"""A fake server: answers over real HTTP as the test prepared, and records its requests."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """A request of a client."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class FakeServer:
    """Answers by `METHOD /path?query`. Each has a list of answers; the last one stays.

    An answer is (status, JSON or text); the status None breaks the connection without an answer.
    """

    url: str = ""
    answers: dict[str, list[tuple[int | None, Any]]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)

    def on(self, call: str, *answers: tuple[int | None, Any]) -> None:
        """Prepare the answers to one call; the path is below /api/v1."""
        method, path = call.split(" ")
        self.answers[f"{method} /api/v1{path}"] = list(answers)

    def asked(self, call: str) -> list[Request]:
        """Return every request of that call so far."""
        method, path = call.split(" ")
        return [request for request in self.requests if (request.method, request.path) == (method, f"/api/v1{path}")]

    def answer(self, request: Request) -> tuple[int | None, Any]:
        """Return the next answer to a request; if none was prepared, 404 in the server's own form."""
        self.requests.append(request)
        prepared = self.answers.get(f"{request.method} {request.path}")
        if prepared is None:
            return 404, {"error": {"code": "not_found", "message": f"nothing at {request.path}"}}
        return prepared[0] if len(prepared) == 1 else prepared.pop(0)


@contextmanager
def fake_server() -> Iterator[FakeServer]:
    """Run a fake server on a free port."""
    fake = FakeServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def do_PUT(self) -> None:
            self._serve()

        def do_PATCH(self) -> None:
            self._serve()

        def do_DELETE(self) -> None:
            self._serve()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            del format, args

        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            status, content = fake.answer(Request(self.command, self.path, dict(self.headers), body))
            if status is None:
                self.close_connection = True
                return
            raw = content.encode() if isinstance(content, str) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
