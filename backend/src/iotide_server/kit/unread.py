"""Answers that clients have not read yet: a process keeps a bounded amount of them in memory."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from typing import Final

from iotide_wire.units import KIB, MIB

MOST_UNREAD_BYTES: Final = 128 * MIB  # of one process. The largest answers have some 40 MB
PIECE_BYTES: Final = 64 * KIB


class Unread:
    """Counts the unread bytes of all connections. Beyond the limit it ends connections of whoever has most of them."""

    def __init__(self, most_bytes: int = MOST_UNREAD_BYTES) -> None:
        self.most_bytes = most_bytes
        self.total_bytes = 0
        self._sizes: dict[Backlog, int] = {}  # in the order in which they began to wait

    def note(self, backlog: "Backlog", size_bytes: int) -> None:
        """Replace the size of a backlog, and make room where all together are too large."""
        grown_bytes = size_bytes - self._sizes.get(backlog, 0)
        self.total_bytes += grown_bytes
        if size_bytes:
            self._sizes[backlog] = size_bytes
        else:
            self._sizes.pop(backlog, None)
        while grown_bytes > 0 and self.total_bytes > self.most_bytes and len(self._sizes) > 1:
            self._most_of_one_holder().abort()

    def _most_of_one_holder(self) -> "Backlog":
        """Return the oldest backlog of the holder with most bytes."""
        of_holders = Counter[str]()
        for backlog, size_bytes in self._sizes.items():
            of_holders[backlog.holder()] += size_bytes
        [(most, _)] = of_holders.most_common(1)
        return next(backlog for backlog in self._sizes if backlog.holder() == most)


class Backlog(asyncio.Transport):
    """A transport that passes answers on in pieces, each once the client has taken the one before.

    asyncio and uvloop keep an answer in memory until its last byte was sent, and their TLS reports nothing of what
    waits behind it. Its protocol has to call `pause` and `resume` when the inner transport, whose limits are as low as
    can be, does so with it. `holder` names whose connection it is.
    """

    def __init__(self, transport: asyncio.Transport, unread: Unread, holder: Callable[[], str]) -> None:
        super().__init__()
        self._transport = transport
        self._unread = unread
        self.holder = holder
        self._pieces = deque[bytes]()
        self._kept_bytes = 0
        self._handed_bytes = 0
        self._is_paused = False
        self._is_noted = False
        self._is_ending = False

    @property
    def taken_bytes(self) -> int:
        """What the client has taken since the connection began."""
        return self._handed_bytes - self._transport.get_write_buffer_size()

    @property
    def is_unread(self) -> bool:
        """Whether anything waits for the client."""
        return self._is_paused or bool(self._pieces)

    def pause(self) -> None:
        """Keep what comes from now on."""
        self._is_paused = True

    def resume(self) -> None:
        """Pass on what was kept, until the client does not keep up again."""
        self._is_paused = False
        self._pass_on()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send the data, or keep what the client does not take yet."""
        if self._transport.is_closing():
            return
        self._pieces.extend(bytes(data[start : start + PIECE_BYTES]) for start in range(0, len(data), PIECE_BYTES))
        self._kept_bytes += len(data)
        self._pass_on()

    def _pass_on(self) -> None:
        while self._pieces and not self._is_paused:
            piece = self._pieces.popleft()
            self._kept_bytes -= len(piece)
            self._handed_bytes += len(piece)
            self._transport.write(piece)
        if self.is_unread or self._is_noted:
            self._is_noted = self.is_unread
            self._unread.note(self, self.get_write_buffer_size() if self.is_unread else 0)
        if self._is_ending and not self._pieces:
            self._transport.close()

    def close(self) -> None:
        """End the connection once all was sent."""
        if not self._pieces:
            self._transport.close()
        elif not self._is_ending:
            self._is_ending = True
            self._transport.pause_reading()

    def abort(self) -> None:
        self.forget()
        self._transport.abort()

    def forget(self) -> None:
        """Drop what was kept: the connection has ended."""
        self._pieces.clear()
        self._kept_bytes = 0
        self._is_noted = False
        self._unread.note(self, 0)

    def is_closing(self) -> bool:
        return self._is_ending or self._transport.is_closing()

    def get_write_buffer_size(self) -> int:
        return self._kept_bytes + self._transport.get_write_buffer_size()

    def get_extra_info(self, name: str, default: object = None) -> object:
        return self._transport.get_extra_info(name, default)

    def pause_reading(self) -> None:
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Receive again, unless the connection is about to end."""
        if not self._is_ending:
            self._transport.resume_reading()
