"""The API as `iotide-server api` serves it, in separate processes with measurable memory."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2
from bring_up import free_port, wait_for
from windows import family

PIECE: Final = 64 * 1024


@dataclass(frozen=True)
class Api:
    """A running API."""

    pid: int
    port: int

    def memory_bytes(self) -> int:
        """Return the resident anonymous memory of all its processes."""
        return sum(map(_resident_bytes, family(self.pid)))

    def get(self, path: str, **headers: str) -> int:
        """Return the status, on a connection of its own."""
        return httpx2.get(f"http://127.0.0.1:{self.port}{path}", headers=headers, timeout=60).status_code

    def post(self, path: str, token: str | None, body: bytes) -> tuple[int, str]:
        """Return status and error code; (0, "") if the server closed the connection during the body."""
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        proof = f"Authorization: Bearer {token}\r\n" if token else ""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as line:
            with suppress(BrokenPipeError, ConnectionResetError):
                line.sendall(f"{head}{proof}\r\n".encode())
                for start in range(0, len(body), PIECE):
                    line.sendall(body[start : start + PIECE])
            return _answer(line)


def _resident_bytes(pid: int) -> int:
    # Bodies are in anonymous memory. A forked process also gains pages of libraries when it first uses them.
    with suppress(FileNotFoundError, ProcessLookupError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return 0


def _answer(line: socket.socket) -> tuple[int, str]:
    received = b""
    with suppress(ConnectionResetError):
        while piece := line.recv(PIECE):
            received += piece
            head, found, body = received.partition(b"\r\n\r\n")
            if found and body.endswith(b"}"):
                return int(head[9:12]), json.loads(body)["error"]["code"]
    return 0, ""


@contextmanager
def served(database_url: str, redis_url: str, processes: int) -> Iterator[Api]:
    """Run the API until the block ends."""
    environment = {**os.environ, "IOTIDE_DATABASE_URL": database_url, "IOTIDE_REDIS_URL": redis_url}
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "iotide_server.cli", "api", "--port", str(port), "--processes", str(processes)],
        env=environment,
    )
    api = Api(process.pid, port)

    def is_ready() -> bool | None:
        assert process.poll() is None
        with suppress(httpx2.HTTPError):
            return True if api.get("/api/v1/ready") == 200 else None
        return None

    try:
        wait_for("the API", is_ready, seconds=300)
        yield api
    finally:
        process.terminate()
        process.wait(60)
