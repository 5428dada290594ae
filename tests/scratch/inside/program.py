"""The root program as systemd starts it: its own process with the socket, here as a child that a test can kill."""

import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from iotide_agent.scratch import PROGRAM

SOCKET: Final = Path("/run/iotide-scratch-test.sock")
_PYTHON: Final = ("/usr/bin/python3", "-I", "-S", "-X", "pycache_prefix=/tmp/bytecode", str(PROGRAM))
_FIRST_DESCRIPTOR: Final = 3
_LONGEST_SILENCE_SECONDS: Final = 300.0
_RUNNING: Final = "another operation on scratch devices is running"


class Program:
    """A started program, a connection to it, and the lines of its journal."""

    def __init__(self) -> None:
        SOCKET.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listening.bind(str(SOCKET))
        listening.listen()
        reading, writing = os.pipe()
        self.pid = start(listening, writing)
        os.close(writing)
        listening.close()
        self._journal = reading
        self._buffer = b""
        self._client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._client.connect(str(SOCKET))

    def ask(self, **words: object) -> dict[str, Any]:
        self._client.send(json.dumps(words).encode())
        answer: dict[str, Any] = json.loads(self._client.recv(1024**2))
        return answer

    def begin(self, **words: object) -> None:
        """Have an operation begin, after the end of the one before."""
        while _RUNNING in (answer := self.ask(**words)).get("refused", ""):
            time.sleep(0.05)
        assert answer == {"accepted": True}, answer

    def event(self) -> dict[str, Any] | None:
        """Return the next line of the journal; None after the program's death."""
        while b"\n" not in self._buffer:
            readable, _, _ = select.select([self._journal], [], [], _LONGEST_SILENCE_SECONDS)
            assert readable, f"the program wrote nothing for {_LONGEST_SILENCE_SECONDS:.0f} s: {descendants(self.pid)}"
            data = os.read(self._journal, 65536)
            if not data:
                return None
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            event: dict[str, Any] = json.loads(line)
        except ValueError:
            sys.stdout.write(f"program: {line.decode(errors='replace')}\n")
            return {"event": "text"}
        return event

    def events(self) -> Iterator[dict[str, Any]]:
        while (event := self.event()) is not None:
            yield event

    def worker(self) -> int | None:
        """Return the process of the running operation."""
        return next(iter(_children(self.pid)), None)

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._journal)
        self._client.close()


def start(listening: socket.socket, journal: int) -> int:
    """Start the program as systemd does, and return its process; `journal` is the descriptor of its log."""
    pid = os.fork()
    if pid == 0:
        _become(listening, journal)
    return pid


def descendants(pid: int) -> list[int]:
    return [found for child in _children(pid) for found in (child, *descendants(child))]


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _become(listening: socket.socket, journal: int) -> None:
    try:
        os.dup2(journal, 2)
        os.dup2(listening.fileno(), 10)
        os.dup2(10, _FIRST_DESCRIPTOR)
        os.close(10)
        passed = {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1", "PATH": "/usr/sbin:/usr/bin"}
        os.execve(_PYTHON[0], _PYTHON, passed)  # noqa: S606 - no shell is wanted
    finally:
        os._exit(127)
