"""Receivers of messages on loopback that record what they receive: HTTP and SMTP servers."""

import ssl
import threading
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import StreamRequestHandler, TCPServer
from typing import Any


@dataclass(frozen=True)
class Received:
    """A received request; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class WebReceiver:
    """Answers with each of `answers` (status, headers, body) in order, and repeats the last one."""

    answers: list[tuple[int, dict[str, str], str]] = field(default_factory=lambda: [(204, {}, "")])
    received: list[Received] = field(default_factory=list)
    url: str = ""

    def answer(self, *statuses: int, body: str = "", **headers: str) -> None:
        self.answers = [
            (status, {name.replace("_", "-"): value for name, value in headers.items()}, body) for status in statuses
        ]


@contextmanager
def _serving(server: TCPServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def web_receiver(tls: ssl.SSLContext | None = None) -> Iterator[WebReceiver]:
    """Run an HTTP server; with `tls` an HTTPS server."""
    receiver = WebReceiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.received.append(
                Received(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            )
            status, headers, said = receiver.answers[0]
            del receiver.answers[: len(receiver.answers) > 1]
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(said.encode()))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said.encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        receiver.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_port}"
        with _serving(server):
            yield receiver


@dataclass
class MailReceiver:
    """Accepts mail for all recipients except `refused`; `logins` are the received users and passwords.

    Attributes:
        refused: reply by recipient.
        tls: the context for STARTTLS; None: STARTTLS is not offered.
    """

    port: int = 0
    tls: ssl.SSLContext | None = None
    refused: dict[str, str] = field(default_factory=dict)
    logins: list[tuple[str, str]] = field(default_factory=list)
    mails: list[tuple[Sequence[str], str]] = field(default_factory=list)


class _Smtp(StreamRequestHandler):
    """The part of SMTP that a sender of one mail needs (RFC 5321, 3207, 4954)."""

    receiver: MailReceiver

    def handle(self) -> None:
        self._to: list[str] = []
        self._is_tls = isinstance(self.connection, ssl.SSLSocket)
        self._say("220 test")
        while line := self.rfile.readline().decode().strip():
            verb, _, rest = line.partition(" ")
            if verb.lower() == "quit":
                self._say("221 bye")
                return
            getattr(self, f"_{verb.lower()}")(rest)

    def finish(self) -> None:
        super().finish()
        self.connection.close()

    def _say(self, *lines: str) -> None:
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())

    def _ehlo(self, _: str) -> None:
        more = "STARTTLS" if self.receiver.tls is not None and not self._is_tls else "AUTH PLAIN"
        self._say("250-test", f"250 {more}")

    def _starttls(self, _: str) -> None:
        assert self.receiver.tls is not None
        self._say("220 go")
        self.connection: Any = self.receiver.tls.wrap_socket(self.connection, server_side=True)
        self.rfile: Any = self.connection.makefile("rb")
        self.wfile: Any = self.connection.makefile("wb", buffering=0)
        self._is_tls = True

    def _auth(self, rest: str) -> None:
        _, user, password = b64decode(rest.partition(" ")[2]).decode().split("\0")
        self.receiver.logins.append((user, password))
        self._say("235 ok" if password == "right" else f"535 wrong password {password}")

    def _mail(self, _: str) -> None:
        self._say("250 ok")

    def _rcpt(self, rest: str) -> None:
        name = rest[len("TO:<") : -1]
        self._to.append(name)
        self._say(self.receiver.refused.get(name, "250 ok"))

    def _rset(self, _: str) -> None:
        self._say("250 ok")

    def _data(self, _: str) -> None:
        self._say("354 start mail input")
        lines = list(iter(lambda: self.rfile.readline().decode(), ".\r\n"))
        self.receiver.mails.append((self._to, "".join(lines)))
        self._say("250 ok queued as 4711")


@contextmanager
def mail_receiver(
    *, starttls: ssl.SSLContext | None = None, tls: ssl.SSLContext | None = None
) -> Iterator[MailReceiver]:
    """Run an SMTP server with STARTTLS, with TLS from the first byte, or without either."""
    receiver = MailReceiver(tls=starttls)
    handler = type("Handler", (_Smtp,), {"receiver": receiver})
    with TCPServer(("127.0.0.1", 0), handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        receiver.port = server.server_address[1]
        with _serving(server):
            yield receiver
