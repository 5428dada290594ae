"""Start channel between the runners of two nodes: messages with keyed hashes, and heartbeats."""

import hashlib
import hmac
import json
import select
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from iotide_agent.mpi.frames import FrameError, Frames, framed
from iotide_agent.mpi.messages import Words, read_message
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.processes import boottime

HEARTBEAT_SECONDS: Final = 1.0
SILENCE_SECONDS: Final = 5.0
"""Without a message for this long, the other node counts as lost."""
_READ_BYTES: Final = 65_536
_MOST_WAITING_BYTES: Final = 1024**2
_MOST_LAST_READS: Final = 16
_NUMBER: Final = struct.Struct("!Q")
_HASH_BYTES: Final = 32


class Channel:
    """Established start channel.

    Attributes:
        lost: Why it ended, or None while it is open. Nothing opens it again.
        longest_silence_seconds: Longest time without a message so far; more than two heartbeats mean a cut network.
    """

    def __init__(
        self, loop: Loop, connection: socket.socket, sending: bytes, receiving: bytes, take: Callable[[Words], None]
    ) -> None:
        """Own the connection; `sending` and `receiving` are the keys of the two directions."""
        self._loop = loop
        self._connection = connection
        self._sending = sending
        self._receiving = receiving
        self._take = take
        self._frames = Frames()
        self._sent = self._received = 0
        self._waiting = bytearray()
        self._heard_at = boottime()
        self.lost: str | None = None
        self.longest_silence_seconds = 0.0
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        loop.watch(connection.fileno(), self._on_event)
        loop.every(self._send_heartbeat, self)

    @property
    def is_proved(self) -> bool:
        """Return true once the other end has sent a message, and so has seen the whole greeting."""
        return self._received > 0

    def send(self, words: Words) -> None:
        """Send a message as soon as the connection takes it; nothing on a lost channel."""
        if self.lost is not None:
            return
        body = json.dumps(words).encode()
        self._waiting += framed(_hash(self._sending, self._sent, body) + body)
        self._sent += 1
        if len(self._waiting) > _MOST_WAITING_BYTES:
            self.close("it takes no more messages")
            return
        self._flush()

    def close(self, why: str = "closed here") -> None:
        """The other end takes this as the order to kill what it started."""
        if self.lost is not None:
            return
        self.lost = why
        self._loop.every(None, self)
        self._loop.ignore(self._connection.fileno())
        with suppress(OSError):
            # Unread data would make the kernel reset the connection, and the other end lose the last messages.
            for _ in range(_MOST_LAST_READS):
                if not self._connection.recv(_READ_BYTES):
                    break
        # A child whose start hangs on a dead disk has a copy of the descriptor, which would keep it open.
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def _send_heartbeat(self) -> float:
        silent_seconds = boottime() - self._heard_at
        self.longest_silence_seconds = max(self.longest_silence_seconds, silent_seconds)
        if silent_seconds >= SILENCE_SECONDS:
            self.close(f"silent for {silent_seconds:.0f} s")
        self.send({"kind": "heartbeat"})
        return min(boottime() + HEARTBEAT_SECONDS, self._heard_at + SILENCE_SECONDS)

    def _on_event(self) -> None:
        self._flush()
        try:
            data = self._connection.recv(_READ_BYTES) if self.lost is None else b""
        except BlockingIOError:
            return
        except OSError as error:
            self.close(f"connection lost: {error.strerror}")
            return
        if not data:
            self.close("closed by the other end")
            return
        try:
            for frame in self._frames.take(data):
                self._open(frame)
        except FrameError as error:
            self.close(str(error))

    def _open(self, frame: bytes) -> None:
        if self.lost is not None:
            return
        proof, body = frame[:_HASH_BYTES], frame[_HASH_BYTES:]
        if not hmac.compare_digest(proof, _hash(self._receiving, self._received, body)):
            raise FrameError("a message that the other end did not send")
        self._received += 1
        now = boottime()
        self.longest_silence_seconds = max(self.longest_silence_seconds, now - self._heard_at)
        self._heard_at = now
        words = read_message(body)
        if words["kind"] != "heartbeat":
            self._take(words)

    def _flush(self) -> None:
        try:
            while self._waiting and self.lost is None:
                del self._waiting[: self._connection.send(self._waiting)]
        except BlockingIOError:
            pass
        except OSError as error:
            self.close(f"connection lost: {error.strerror}")
        if self.lost is None:
            events = select.POLLIN | (select.POLLOUT if self._waiting else 0)
            self._loop.watch(self._connection.fileno(), self._on_event, events)


def _hash(key: bytes, number: int, body: bytes) -> bytes:
    """Return the keyed hash of a message; its number makes a repeated or exchanged one worthless."""
    return hmac.digest(key, _NUMBER.pack(number) + body, hashlib.sha256)
