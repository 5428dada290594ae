"""Listening socket of a member: lets the head of its run in, and counts strangers."""

import os
import socket
from collections.abc import Callable, Sequence
from typing import Final

from iotide_agent.mpi import greeting
from iotide_agent.mpi.channel import Channel
from iotide_agent.mpi.greeting import GreetingError
from iotide_agent.mpi.messages import Words
from iotide_agent.mpi.networks import is_within
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.processes import boottime

GREETING_SECONDS: Final = 3.0
MOST_PENDING: Final = 32
"""Unfinished greetings; a further one ends the oldest, so that strangers cannot keep the head out."""


class Gate:
    """Accepts connections until the end of the run.

    Attributes:
        port: TCP port that the kernel chose.
        refused: Number of refused connections by reason: `silent`, `junk`, `left`, `crowded`, `second_head`,
            `network`.
    """

    def __init__(
        self, loop: Loop, address: str, token: str, take: Callable[[Words], None], heads: Sequence[str] = ()
    ) -> None:
        """Listen; raise OSError without such an address, ValueError for a token that could be guessed.

        With `heads`, connections from outside these networks get no answer.
        """
        greeting.check_token(token)
        self._loop = loop
        self._token = token
        self._take = take
        self._heads = heads
        self._pending: dict[int, _Pending] = {}
        self._channel: Channel | None = None
        self.refused: dict[str, int] = {}
        self._listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._listening.bind((address, 0))
            self._listening.listen(MOST_PENDING)
        except OSError:
            self._listening.close()
            raise
        self._listening.setblocking(False)
        self.port = int(self._listening.getsockname()[1])
        loop.watch(self._listening.fileno(), self._accept)
        loop.every(self._end_silent, self)

    @property
    def channel(self) -> Channel | None:
        """Return that to the head that proved the token; a second head is refused, also after the first is lost.

        A head that was lost before its first message may not have seen the welcome, and comes again.
        """
        channel = self._channel
        return None if channel is None or (channel.lost is not None and not channel.is_proved) else channel

    def close(self) -> None:
        """Close everything, so that the head kills the rest of the run."""
        self._loop.every(None, self)
        self._loop.ignore(self._listening.fileno())
        self._listening.close()
        for pending in [*self._pending.values()]:
            self._drop(pending)
        if self._channel is not None:
            self._channel.close()

    def _accept(self) -> None:
        try:
            connection, (peer, _) = self._listening.accept()
        except OSError:  # it left again, or this process has too many files; the next turn tries again
            return
        if self._heads and not is_within(peer, self._heads):
            self.refused["network"] = self.refused.get("network", 0) + 1
            connection.close()
            return
        connection.setblocking(False)
        pending = _Pending(connection)
        if len(self._pending) >= MOST_PENDING:
            self._refuse(next(iter(self._pending.values())), "crowded")
        self._pending[connection.fileno()] = pending
        self._loop.watch(connection.fileno(), lambda: self._receive(pending))
        if not pending.challenge():
            self._refuse(pending, "left")

    def _receive(self, pending: "_Pending") -> None:
        try:
            if not pending.receive():
                self._refuse(pending, "left")
            elif pending.is_complete():
                nonces = greeting.answered(self._token, pending.nonce, bytes(pending.said))
                if self.channel is None:
                    self._welcome(pending, nonces)
                else:
                    self._refuse(pending, "second_head")
        except BlockingIOError:
            return
        except GreetingError:
            self._refuse(pending, "junk")
        except OSError:
            self._refuse(pending, "left")

    def _welcome(self, pending: "_Pending", nonces: greeting.Nonces) -> None:
        pending.connection.send(greeting.welcome(self._token, nonces))
        self._loop.ignore(pending.connection.fileno())
        del self._pending[pending.connection.fileno()]
        keys = greeting.keys(self._token, nonces)
        self._channel = Channel(self._loop, pending.connection, keys.from_member, keys.from_head, self._take)

    def _end_silent(self) -> float:
        now = boottime()
        for pending in [*self._pending.values()]:
            if now - pending.since >= GREETING_SECONDS:
                self._refuse(pending, "silent")
        # The oldest is the first to reach its limit; a new one reaches it later than this.
        oldest = next(iter(self._pending.values()), None)
        return (oldest.since if oldest else now) + GREETING_SECONDS

    def _refuse(self, pending: "_Pending", why: str) -> None:
        self.refused[why] = self.refused.get(why, 0) + 1
        self._drop(pending)

    def _drop(self, pending: "_Pending") -> None:
        self._loop.ignore(pending.connection.fileno())
        del self._pending[pending.connection.fileno()]
        pending.connection.close()


class _Pending:
    """Connection whose other end has not proved the token."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.nonce = os.urandom(greeting.NONCE_BYTES)
        self.since = boottime()
        self.said = bytearray()

    def challenge(self) -> bool:
        try:
            return self.connection.send(greeting.challenge(self.nonce)) == greeting.CHALLENGE_BYTES
        except OSError:
            return False

    def receive(self) -> bool:
        """Read no more than an answer; return false at the end of the connection."""
        data = self.connection.recv(greeting.ANSWER_BYTES - len(self.said))
        self.said += data
        return bool(data)

    def is_complete(self) -> bool:
        return len(self.said) == greeting.ANSWER_BYTES
