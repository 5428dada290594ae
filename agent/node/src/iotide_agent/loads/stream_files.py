"""The files of a recorded stream: chunks wait in a ring of memory until a writer of some directory takes them."""

import ctypes
import errno
import mmap
import os
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

from iotide_agent.loads.stream_wire import FILE_NAME, PAGE_BYTES

_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_LIBC.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_longlong, ctypes.c_longlong)
_FREED_AT_ONCE_BYTES: Final = 16 * 1024**2
"""Freeing as much takes 12 ms at most; meanwhile the next file gets no space."""
_UNSUPPORTED: Final = frozenset({errno.EOPNOTSUPP, errno.ENOSYS})


class Chunk(NamedTuple):
    """A part of the ring's memory, and how much of it is data."""

    memory: memoryview
    used_bytes: int


class Ring:
    """Chunks of page-aligned memory that go round from the receiver to the writers and back.

    Writers take from `filled` what has waited longest, and end by None; `high_water` is most chunks out of the ring at
    once.
    """

    def __init__(self, ring_bytes: int, chunk_bytes: int) -> None:
        self._chunks = max(2, ring_bytes // chunk_bytes)
        # Populated now: a page fault while the stream runs would cost as much as receiving a datagram.
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE
        memory = memoryview(mmap.mmap(-1, self._chunks * chunk_bytes, flags=flags))
        self._free: queue.SimpleQueue[memoryview] = queue.SimpleQueue()
        for number in range(self._chunks):
            self._free.put(memory[number * chunk_bytes : (number + 1) * chunk_bytes])
        # Not a SimpleQueue: of writers that wait, that one wakes any, and one of three equal disks would get nothing.
        self.filled: queue.Queue[Chunk | None] = queue.Queue()
        self.high_water = 0

    def take(self, timeout_seconds: float) -> memoryview | None:
        """Memory to receive into, or None where all of it waits to be written."""
        try:
            memory = self._free.get(timeout=timeout_seconds) if timeout_seconds else self._free.get_nowait()
        except queue.Empty:
            return None
        self.high_water = max(self.high_water, self.in_use())
        return memory

    def give_back(self, memory: memoryview) -> None:
        """What it held is on its way to the disk or not wanted."""
        self._free.put(memory)

    def in_use(self) -> int:
        """Chunks that are with the receiver or the writers."""
        return self._chunks - self._free.qsize()


class FileRule(NamedTuple):
    """How a directory's part of the stream is laid out in files.

    Attributes:
        file_bytes: a file is full with so many, in whole chunks; also what is allocated at once.
        is_single: one file that goes on growing instead.
        kept_files: with more, the oldest is removed, beside which the next one begins; 0 keeps all.
        direct: O_DIRECT; otherwise through the page cache, flushed when the file is full.
    """

    file_bytes: int
    is_single: bool
    kept_files: int
    direct: bool


class StreamFiles:
    """The files in one directory, written one after another.

    A file that is full is flushed beside the writing of the next, and the oldest removed: the latter took 90 ms for
    512 MiB of an idle ext4 with `discard`, five chunks at 4 Gbit/s, and several times that on a busy one.
    """

    def __init__(self, directory: str, rule: FileRule) -> None:
        self._directory = Path(directory)
        self._rule = rule
        self._kept: list[tuple[Path, int]] = []
        self._beside = ThreadPoolExecutor(max_workers=1)
        self._begun: list[Future[None]] = []
        self._made = 0
        self._descriptor = -1
        self._written = 0
        self._allocated = 0

    def write(self, chunk: Chunk) -> None:
        """Appends the chunk, which begins and may end a file."""
        if self._descriptor < 0:
            self._open()
        if self._written + chunk.used_bytes > self._allocated:
            self._allocate()
        # Whole pages for O_DIRECT; what is too much of the last one is cut off when the file is closed.
        paged_bytes = -(-chunk.used_bytes // PAGE_BYTES) * PAGE_BYTES
        rest, offset = chunk.memory[:paged_bytes], self._written
        while rest:
            done = os.pwrite(self._descriptor, rest, offset)
            rest, offset = rest[done:], offset + done
        self._written += chunk.used_bytes
        if not self._rule.is_single and self._written + len(chunk.memory) > self._rule.file_bytes:
            self._leave()

    def close(self) -> None:
        """Cuts the last file to its data and makes sure that all of them are on the disk."""
        self._leave()
        self._wait()
        self._beside.shutdown()

    def kept_bytes(self) -> int:
        """In the files that were not removed."""
        return sum(size_bytes for _, size_bytes in self._kept)

    def remove(self) -> None:
        """Removes them all."""
        for path, _ in self._kept:
            path.unlink()

    def _path(self, number: int) -> Path:
        return self._directory / FILE_NAME.format(number)

    def _leave(self) -> None:
        """Has the open file ended; no more than one is at a time, so that a slow disk is seen in the ring."""
        if self._descriptor < 0:
            return
        self._wait()
        self._do_beside(self._end, self._descriptor, self._path(self._made), self._written)
        self._descriptor = -1

    def _do_beside(self, work: Callable[..., None], *arguments: object) -> None:
        self._begun.append(self._beside.submit(work, *arguments))

    def _wait(self) -> None:
        """Until what is done beside the writing is done; raises what it raised."""
        while self._begun:
            self._begun.pop(0).result()

    def _end(self, descriptor: int, path: Path, written_bytes: int) -> None:
        os.ftruncate(descriptor, written_bytes)
        os.fsync(descriptor)
        os.close(descriptor)
        self._kept.append((path, written_bytes))

    def _make_room(self) -> None:
        if len(self._kept) >= self._rule.kept_files:
            oldest, left_bytes = self._kept.pop(0)
            # Bit by bit: what is allocated meanwhile waits until ext4 has freed, and with `discard` trimmed, the whole.
            while left_bytes > 0:
                left_bytes -= _FREED_AT_ONCE_BYTES
                os.truncate(oldest, max(0, left_bytes))
            oldest.unlink()

    def _open(self) -> None:
        if self._rule.kept_files:
            self._do_beside(self._make_room)
        self._made += 1
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | (os.O_DIRECT if self._rule.direct else 0)
        self._descriptor = os.open(self._path(self._made), flags, 0o600)
        self._written = self._allocated = 0

    def _allocate(self) -> None:
        """Room ahead, by the kernel alone: posix_fallocate would write where the file system cannot do it."""
        if _LIBC.fallocate(self._descriptor, 0, self._allocated, self._rule.file_bytes) != 0:
            error = ctypes.get_errno()
            if error not in _UNSUPPORTED:
                raise OSError(error, os.strerror(error), str(self._path(self._made)))
        self._allocated += self._rule.file_bytes


class Writer(threading.Thread):
    """Writes what the ring holds into one directory; several share the ring, and a slow one takes less.

    One that has written `most_bytes` leaves the rest to the others; 0 is no limit.

    Attributes:
        written_bytes: of data.
        longest_seconds: that one chunk took, with the opening and allocating of its file and the wait for the last one.
        error: what ended it before its time.
        ended_at: CLOCK_MONOTONIC after the last flush.
    """

    def __init__(self, ring: Ring, directory: str, rule: FileRule, most_bytes: int = 0) -> None:
        super().__init__(daemon=True)
        self._ring = ring
        self._most_bytes = most_bytes
        self.files = StreamFiles(directory, rule)
        self.written_bytes = 0
        self.longest_seconds = 0.0
        self.error: OSError | None = None
        self.ended_at = 0.0

    def run(self) -> None:
        """Writes until the ring says that nothing more comes."""
        try:
            while not 0 < self._most_bytes <= self.written_bytes and (chunk := self._ring.filled.get()):
                began = time.monotonic()
                self.files.write(chunk)
                self.longest_seconds = max(self.longest_seconds, time.monotonic() - began)
                self.written_bytes += chunk.used_bytes
                self._ring.give_back(chunk.memory)
            self.files.close()
        except OSError as error:
            self.error = error
        self.ended_at = time.monotonic()
