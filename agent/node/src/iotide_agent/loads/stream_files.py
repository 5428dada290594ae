"""Files of a recorded stream: chunks wait in a ring of memory for the writers of directories."""

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
"""Freeing this much takes 12 ms at most, in which the next file gets no space."""
_UNSUPPORTED: Final = frozenset({errno.EOPNOTSUPP, errno.ENOSYS})


class Chunk(NamedTuple):
    memory: memoryview
    used_bytes: int


class Ring:
    """Chunks of page-aligned memory between receiver and writers.

    None in `filled` ends a writer; `high_water` is the maximum number of chunks in use.
    """

    def __init__(self, ring_bytes: int, chunk_bytes: int) -> None:
        self._chunks = max(2, ring_bytes // chunk_bytes)
        # Populated now: a page fault during the stream would cost as much as receiving a datagram.
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE
        memory = memoryview(mmap.mmap(-1, self._chunks * chunk_bytes, flags=flags))
        self._free: queue.SimpleQueue[memoryview] = queue.SimpleQueue()
        for number in range(self._chunks):
            self._free.put(memory[number * chunk_bytes : (number + 1) * chunk_bytes])
        # Not a SimpleQueue: it wakes any waiting writer, so one of three equal disks would starve.
        self.filled: queue.Queue[Chunk | None] = queue.Queue()
        self.high_water = 0

    def take(self, timeout_seconds: float) -> memoryview | None:
        """Return memory to receive into, or None if all of it waits to be written."""
        try:
            memory = self._free.get(timeout=timeout_seconds) if timeout_seconds else self._free.get_nowait()
        except queue.Empty:
            return None
        self.high_water = max(self.high_water, self.in_use())
        return memory

    def give_back(self, memory: memoryview) -> None:
        self._free.put(memory)

    def in_use(self) -> int:
        return self._chunks - self._free.qsize()


class FileRule(NamedTuple):
    """Layout of files.

    Attributes:
        file_bytes: size of a full file, in whole chunks; allocated at once.
        is_single: one growing file instead.
        kept_files: number of files, plus one while the oldest is removed; 0 keeps all.
    """

    file_bytes: int
    is_single: bool
    kept_files: int
    direct: bool


class StreamFiles:
    """Files of one directory, written in order.

    A thread flushes full files and removes old ones. Removing 512 MiB takes 90 ms on an idle ext4 with `discard`, the
    time of five chunks at 4 Gbit/s.
    """

    def __init__(self, directory: str, rule: FileRule) -> None:
        self._directory = Path(directory)
        self._rule = rule
        self._kept: list[tuple[Path, int]] = []
        self._background = ThreadPoolExecutor(max_workers=1)
        self._begun: list[Future[None]] = []
        self._made = 0
        self._descriptor = -1
        self._written = 0
        self._allocated = 0

    def write(self, chunk: Chunk) -> None:
        if self._descriptor < 0:
            self._open()
        if self._written + chunk.used_bytes > self._allocated:
            self._allocate()
        # Whole pages, for O_DIRECT. Closing the file cuts the rest of the last page.
        paged_bytes = -(-chunk.used_bytes // PAGE_BYTES) * PAGE_BYTES
        rest, offset = chunk.memory[:paged_bytes], self._written
        while rest:
            done = os.pwrite(self._descriptor, rest, offset)
            rest, offset = rest[done:], offset + done
        self._written += chunk.used_bytes
        if not self._rule.is_single and self._written + len(chunk.memory) > self._rule.file_bytes:
            self._leave()

    def close(self) -> None:
        self._leave()
        self._wait()
        self._background.shutdown()

    def kept_bytes(self) -> int:
        return sum(size_bytes for _, size_bytes in self._kept)

    def remove(self) -> None:
        for path, _ in self._kept:
            path.unlink()

    def _path(self, number: int) -> Path:
        return self._directory / FILE_NAME.format(number)

    def _leave(self) -> None:
        """End the open file in the background, only one at a time: a slow disk must show in the ring."""
        if self._descriptor < 0:
            return
        self._wait()
        self._do_in_background(self._end, self._descriptor, self._path(self._made), self._written)
        self._descriptor = -1

    def _do_in_background(self, work: Callable[..., None], *arguments: object) -> None:
        self._begun.append(self._background.submit(work, *arguments))

    def _wait(self) -> None:
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
            # In steps: new allocations wait until ext4 has freed, and with `discard` trimmed, the whole range.
            while left_bytes > 0:
                left_bytes -= _FREED_AT_ONCE_BYTES
                os.truncate(oldest, max(0, left_bytes))
            oldest.unlink()

    def _open(self) -> None:
        if self._rule.kept_files:
            self._do_in_background(self._make_room)
        self._made += 1
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | (os.O_DIRECT if self._rule.direct else 0)
        self._descriptor = os.open(self._path(self._made), flags, 0o600)
        self._written = self._allocated = 0

    def _allocate(self) -> None:
        """Allocate ahead in the kernel only: posix_fallocate would write if the file system cannot allocate."""
        if _LIBC.fallocate(self._descriptor, 0, self._allocated, self._rule.file_bytes) != 0:
            error = ctypes.get_errno()
            if error not in _UNSUPPORTED:
                raise OSError(error, os.strerror(error), str(self._path(self._made)))
        self._allocated += self._rule.file_bytes


class Writer(threading.Thread):
    """Thread that writes chunks of the ring into one directory, up to `most_bytes`; 0 is no limit.

    Attributes:
        longest_seconds: maximum per chunk, with opening and allocating its file and waiting for the previous one.
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
