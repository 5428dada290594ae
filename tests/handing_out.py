"""A server with TLS that hands out an agent, and a host between a node and that server."""

import hashlib
import json
import os
import shutil
import ssl
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import count
from pathlib import Path
from typing import Final

import psycopg
from bare_node import TOP, write_agent
from bring_up import free_port, wait_for
from local_stack import BIN
from opened import lend, opened_command

from iotide_server.bundled.privileges import account_of
from iotide_server.bundled.state import prepare_state_directory
from iotide_server.bundled.tls import prepare_certificates

RECORDS: Final = "/var/log/arguments"
"""File of the node with the arguments of each start of the agent."""
_numbers = count(1)
_RECORDING: Final = f"\nopen({RECORDS!r}, 'a').write(' '.join(sys.argv) + '\\n')\nstart_agent()\n"


@dataclass(frozen=True)
class HandingServer:
    """Running server; `files` is its directory of agent files."""

    url: str
    state: Path
    files: Path

    @property
    def ca_file(self) -> Path:
        return self.state / "tls/ca.crt"

    def join_line(self, *more: str) -> str:
        """Return a new command that installs and enrols an agent in a new cluster, as its page shows it."""
        printed = self._iotide_server("join-token", f"lab{next(_numbers)}", "--create", *more)
        return next(line for line in printed.splitlines() if line.startswith("curl "))

    def expire_tokens(self) -> None:
        """Let all join tokens expire."""
        variables = json.loads((self.state / "environment.json").read_text())
        with psycopg.connect(variables["IOTIDE_DATABASE_URL"]) as connection:
            connection.execute("UPDATE join_token SET expires_at = now() - interval '1 second'")

    def _iotide_server(self, *arguments: str) -> str:
        argv = [str(BIN / "iotide-server"), *arguments, "--state", str(self.state)]
        return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=100).stdout


@contextmanager
def handing_server() -> Iterator[HandingServer]:
    """Run a server on 127.0.0.1 that hands out this checkout's agent in a bundle that needs no Python of the node."""
    place = Path(tempfile.mkdtemp(prefix="iotide-", dir="/var/tmp"))
    place.chmod(0o755)
    files = place / "files"
    files.mkdir()
    write_bundle(files / "iotide-agent.tar")
    ports = {name: free_port() for name in ("--port", "--redis-port", "--redis-tls-port")}
    state = lend(place / "state")
    up = [str(BIN / "iotide-server"), "up", "--state", str(state), "--listen", "127.0.0.1"]
    up += [word for name, port in ports.items() for word in (name, str(port))]
    with (place / "log").open("wb") as log:
        environment = {**os.environ, "IOTIDE_AGENT_FILES": str(files)}
        server = subprocess.Popen(opened_command(up, state=state), stdout=log, stderr=log, env=environment)

    def is_ready() -> bool | None:
        assert server.poll() is None, (place / "log").read_text()
        return "iotide is ready" in (place / "log").read_text() or None

    try:
        wait_for("the server", is_ready, seconds=300)
        yield HandingServer(f"https://127.0.0.1:{ports['--port']}", state, files)
    finally:
        server.terminate()
        server.wait(60)
        shutil.rmtree(place)


def write_bundle(file: Path, more: Mapping[str, str] | None = None) -> None:
    """Write a bundle whose tree has the program, and `more` files by name."""
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name) / "iotide-agent-9.9.9"
        program = tree / "bin/iotide-agent"
        write_agent(program)
        program.write_text(program.read_text().replace("\nstart_agent()\n", _RECORDING))
        shutil.copy(program, tree / "bin/iotide")  # only its presence matters here
        shutil.copy(TOP / "deploy/offline/install.sh", tree)
        texts = {"archs": f"{os.uname().machine}\n", "version": "9.9.9\n", **(more or {})}
        for path, text in texts.items():
            (tree / path).write_text(text)
        sums = "".join(
            f"{hashlib.sha256(path.read_bytes()).hexdigest()}  ./{path.relative_to(tree)}\n"
            for path in sorted(tree.rglob("*"))
            if path.is_file()
        )
        (tree / "SHA256SUMS").write_text(sums)
        with tarfile.open(file, "w") as tar:
            tar.add(tree, tree.name)


@dataclass
class Interceptor:
    """Host that answers instead of the server, with certificates of another authority.

    Attributes:
        answers: body by path.
        requests: each request line with headers and body.
    """

    url: str
    ca_pem: str
    answers: dict[str, bytes] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)


class _Forgiving(HTTPServer):
    """Server whose clients may refuse its certificate."""

    def handle_error(self, *_: object) -> None:
        pass


@contextmanager
def intercepting(base: Path) -> Iterator[Interceptor]:
    state = prepare_state_directory(base, account_of(os.geteuid()))
    made = prepare_certificates(state, names=("127.0.0.1",), now=datetime.now(UTC))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            interceptor.requests.append(f"{self.requestline}\n{self.headers}")
            body = interceptor.answers.get(self.path)
            self.send_response(404 if body is None else 200)
            self.end_headers()
            self.wfile.write(body or b"")

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", "0"))
            interceptor.requests.append(f"{self.requestline}\n{self.headers}\n{self.rfile.read(length)!r}")
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.chain, made.key)
    server = _Forgiving(("127.0.0.1", 0), Handler)
    interceptor = Interceptor(f"https://127.0.0.1:{server.server_port}", made.ca.read_text())
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield interceptor
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
