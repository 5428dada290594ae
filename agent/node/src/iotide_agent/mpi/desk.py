"""Unix socket of the head's runner, at which the launcher's remote-start programs ask."""

import os
import socket
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from iotide_agent.mpi.frames import FrameError, Frames, framed
from iotide_agent.mpi.remote_commands import MOST_BYTES
from iotide_agent.mpi.remote_start import ENDED, HERE, REFUSED
from iotide_agent.runner.files import closing
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.users import Ids, acting_as

MOST_CALLERS: Final = 2048
"""A launcher starts the parts of all 1,024 nodes at once, and each caller stays as long as its part."""
_CREDENTIALS: Final = struct.Struct("3i")
_READ_BYTES: Final = 65_536


class Caller:
    """Remote-start program, from its request to its exit."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.frames = Frames(MOST_BYTES)
        self.number: int | None = None

    def exit(self, status: int) -> None:
        self._say(bytes((ENDED, status)))

    def refuse(self, reason: str) -> None:
        self._say(bytes((REFUSED,)) + reason.encode()[:MOST_BYTES])

    def run_here(self, argv: Sequence[str]) -> None:
        """Have it become the command: its launcher asks for a part on its own node, too."""
        self._say(bytes((HERE,)) + "\0".join(argv).encode())

    def _say(self, body: bytes) -> None:
        try:
            self.connection.send(framed(body))
        except OSError:
            return  # it has left


class Desk:
    """Listens until the end of the run.

    Attributes:
        path: For the environment of the launcher.
        refused: Number of refused callers: of another user, or without a request.
    """

    def __init__(
        self,
        loop: Loop,
        path: Path,
        run_as: Ids,
        ask: Callable[[Caller, list[str]], None],
        leave: Callable[[Caller], None],
    ) -> None:
        """Listen for programs of the load's user; `ask` gets requests, `leave` callers that ended before their part."""
        self.path = path
        self.refused = 0
        self._loop = loop
        self._users = {os.geteuid(), *run_as[:1]}
        self._ask = ask
        self._leave = leave
        self._callers: dict[int, Caller] = {}
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._bind(run_as)
        self._listening.listen(MOST_CALLERS)
        self._listening.setblocking(False)
        loop.watch(self._listening.fileno(), self._accept)

    def close(self) -> None:
        self._loop.ignore(self._listening.fileno())
        self._listening.close()
        with suppress(OSError):  # the load's user may have exchanged it; it goes with the directory
            self.path.unlink()
        for caller in [*self._callers.values()]:
            self.dismiss(caller)

    def dismiss(self, caller: Caller) -> None:
        """End a call; a program without an answer exits with an error of its own."""
        if self._callers.pop(caller.connection.fileno(), None) is not None:
            self._loop.ignore(caller.connection.fileno())
            caller.connection.close()

    def _bind(self, run_as: Ids) -> None:
        mask = os.umask(0o177)
        # The path of a socket has at most 107 bytes; this way only the name counts.
        directory = os.open(self.path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        with closing(directory):
            try:
                # As the load's user: it may exchange the name before root could give it the socket.
                with acting_as(run_as):
                    self._listening.bind(f"/proc/self/fd/{directory}/{self.path.name}")
            finally:
                os.umask(mask)

    def _accept(self) -> None:
        try:
            connection, _ = self._listening.accept()
        except OSError:
            return
        _, user, _ = _CREDENTIALS.unpack(
            connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        )
        if user not in self._users or len(self._callers) >= MOST_CALLERS:
            self.refused += 1
            connection.close()
            return
        connection.setblocking(False)
        caller = Caller(connection)
        self._callers[connection.fileno()] = caller
        self._loop.watch(connection.fileno(), lambda: self._receive(caller))

    def _receive(self, caller: Caller) -> None:
        try:
            data = caller.connection.recv(_READ_BYTES)
            requests = caller.frames.take(data)
            words = [request.decode().split("\0") for request in requests]
        except BlockingIOError:
            return
        except (FrameError, UnicodeDecodeError):
            self.refused += 1
            data, words = b"", []
        except OSError:
            data, words = b"", []
        if not data or len(words) > 1 or (words and caller.number is not None):
            self._leave(caller)
            self.dismiss(caller)
        elif words:
            self._ask(caller, words[0])
