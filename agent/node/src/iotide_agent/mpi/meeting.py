"""The head's end of a greeting, up to the established connection."""

import errno
import os
import select
import socket
from collections.abc import Callable
from typing import Final

from iotide_agent.mpi import greeting
from iotide_agent.mpi.greeting import GreetingError, Nonces
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.processes import boottime

MEETING_SECONDS: Final = 3.0
Established = Callable[[socket.socket, bytes, bytes], None]
"""Called with the connection and the keys to send and to receive with."""


class Meeting:
    """Attempt to reach a member; calls exactly one of `done` and `failed`."""

    def __init__(
        self,
        loop: Loop,
        where: tuple[str, int],
        token: str,
        done: Established,
        failed: Callable[[OSError | GreetingError], None],
    ) -> None:
        self._loop = loop
        self._where = where
        self._token = token
        self._done = done
        self._failed = failed
        self._nonces: Nonces | None = None
        self._said = bytearray()
        self._connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._until = 0.0

    def begin(self) -> None:
        self._connection.setblocking(False)
        self._until = boottime() + MEETING_SECONDS
        number = self._connection.connect_ex(self._where)
        if number not in {0, errno.EINPROGRESS}:
            self._fail(OSError(number, os.strerror(number)))
            return
        self._loop.watch(self._connection.fileno(), self._on_event, select.POLLIN)
        self._loop.every(self._look, self)

    def close(self) -> None:
        self._leave()
        self._connection.close()

    def _look(self) -> float:
        if boottime() >= self._until:
            self._fail(GreetingError(f"no answer within {MEETING_SECONDS:g} s"))
        return self._until

    def _on_event(self) -> None:
        wanted = greeting.CHALLENGE_BYTES if self._nonces is None else greeting.PROOF_BYTES
        try:
            data = self._connection.recv(wanted - len(self._said))
            self._said += data
            if len(self._said) == wanted:
                self._take(bytes(self._said))
        except BlockingIOError:
            return
        except (OSError, GreetingError) as error:
            self._fail(error)
            return
        if not data:
            self._fail(GreetingError("the connection was closed; does it listen for another run?"))

    def _take(self, said: bytes) -> None:
        self._said.clear()
        if self._nonces is None:
            self._nonces = Nonces(greeting.challenged(said), os.urandom(greeting.NONCE_BYTES))
            self._connection.send(greeting.answer(self._token, self._nonces))
            return
        greeting.check_welcome(self._token, self._nonces, said)
        self._leave()
        keys = greeting.keys(self._token, self._nonces)
        self._done(self._connection, keys.from_head, keys.from_member)

    def _fail(self, error: OSError | GreetingError) -> None:
        self.close()
        self._failed(error)

    def _leave(self) -> None:
        self._loop.every(None, self)
        self._loop.ignore(self._connection.fileno())
