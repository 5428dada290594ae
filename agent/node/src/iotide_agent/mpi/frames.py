"""Messages on a stream: a length of four bytes, then the message, up to a limit."""

import struct
from typing import Final

MOST_BYTES: Final = 65_536
_LENGTH: Final = struct.Struct("!I")


class FrameError(Exception):
    """The other end sent something else than a message."""


def framed(body: bytes) -> bytes:
    return _LENGTH.pack(len(body)) + body


class Frames:
    """Cuts received bytes into messages; it holds at most one incomplete message."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._waiting = bytearray()

    def take(self, data: bytes) -> list[bytes]:
        """Return the messages that are complete now; raise FrameError for a length above the limit."""
        self._waiting += data
        found = []
        while len(self._waiting) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._waiting)
            if length > self._most_bytes:
                raise FrameError(f"a message of {length} bytes; the limit is {self._most_bytes}")
            end = _LENGTH.size + length
            if len(self._waiting) < end:
                break
            found.append(bytes(self._waiting[_LENGTH.size : end]))
            del self._waiting[:end]
        return found
