"""Limits the memory for responses that clients have not read."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from typing import Final

from iotide_wire.units import KIB, MIB

MOST_UNREAD_BYTES: Final = 128 * MIB  # per process; the largest responses take about 40 MB
PIECE_BYTES: Final = 64 * KIB


class Unread:
    """Tracks unread bytes. Above the limit, it closes connections of the holder with the most."""

    def __init__(self, most_bytes: int = MOST_UNREAD_BYTES) -> None:
        self.most_bytes = most_bytes
        self.total_bytes = 0
        self._sizes: dict[Backlog, int] = {}

    def note(self, backlog: "Backlog", size_bytes: int) -> None:
        grown_bytes = size_bytes - self._sizes.get(backlog, 0)
        self.total_bytes += grown_bytes
        if size_bytes:
            self._sizes[backlog] = size_bytes
        else:
            self._sizes.pop(backlog, None)
        while grown_bytes > 0 and self.total_bytes > self.most_bytes and len(self._sizes) > 1:
            self._most_of_one_holder().abort()

    def _most_of_one_holder(self) -> "Backlog":
        of_holders = Counter[str]()
        for backlog, size_bytes in self._sizes.items():
            of_holders[backlog.holder()] += size_bytes
        [(most, _)] = of_holders.most_common(1)
        return next(backlog for backlog in self._sizes if backlog.holder() == most)


class Backlog(asyncio.Transport):
    """Transport that sends a response in pieces, each after the previous one was read.

    asyncio and uvloop keep a response until its last byte is sent, and their TLS hides waiting data. The protocol
    must forward the inner transport's `pause` and `resume`.
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
        return self._handed_bytes - self._transport.get_write_buffer_size()

    @property
    def is_unread(self) -> bool:
        return self._is_paused or bool(self._pieces)

    def pause(self) -> None:
        self._is_paused = True

    def resume(self) -> None:
        self._is_paused = False
        self._pass_on()

    def write(self, data: bytes | bytearray | memoryview) -> None:
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
        if not self._pieces:
            self._transport.close()
        elif not self._is_ending:
            self._is_ending = True
            self._transport.pause_reading()

    def abort(self) -> None:
        self.forget()
        self._transport.abort()

    def forget(self) -> None:
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
        if not self._is_ending:
            self._transport.resume_reading()
