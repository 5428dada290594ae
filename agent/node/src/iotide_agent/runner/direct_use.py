"""Observes whether a load uses O_DIRECT: the flags of its descriptors, and its files' pages in the cache."""

import ctypes
import mmap
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from iotide_agent.runner.card import StepCard
from iotide_agent.runner.direct import resident_pages
from iotide_agent.runner.files import closing

_MOST_PROCESSES: Final = 32
_MOST_FILES: Final = 32
_WINDOW_BYTES: Final = 16 * 1024**2
_MOST_WINDOWS: Final = 64
"""Limit the windows of a large file, so that a file of many terabytes costs no more than one of 1 GiB."""
_NO_DATA: Final = os.O_DIRECTORY | os.O_PATH
_CACHESTAT: Final = 451
"""System call number on all architectures, from Linux 6.5 on."""
_OPEN: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long


class Cached(NamedTuple):
    cached_bytes: int
    of_bytes: int


class _Range(ctypes.Structure):
    _fields_ = (("offset", ctypes.c_uint64), ("length", ctypes.c_uint64))


class _Cachestat(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("cache", "dirty", "writeback", "evicted", "recently_evicted"))


class DescriptorWatch:
    """Counts looks at which a step had its files open with O_DIRECT, and only without it, until all steps had."""

    def __init__(self) -> None:
        self._looks: dict[str, list[int]] = {}
        self._step_of: dict[str, str] = {}

    def begin(self, group: Sequence[StepCard]) -> None:
        self._looks = {step.name: [0, 0] for step in group if step.direct_files}
        self._step_of = {real_path(file): step.name for step in group for file in step.direct_files}

    def look(self, pids: Iterable[int]) -> None:
        if all(direct for direct, _ in self._looks.values()):
            return
        seen: dict[str, bool] = {}
        for pid in list(pids)[:_MOST_PROCESSES]:
            for step, is_direct in self._opened(pid):
                seen[step] = seen.get(step, False) or is_direct
        for step, is_direct in seen.items():
            self._looks[step][0 if is_direct else 1] += 1

    def record(self, step: StepCard) -> dict[str, int]:
        """Return the looks at a step's descriptors, for its record."""
        direct, buffered = self._looks.get(step.name, (0, 0))
        return {"direct_looks": direct, "buffered_looks": buffered} if step.direct_files else {}

    def _opened(self, pid: int) -> Iterator[tuple[str, bool]]:
        try:
            for number in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - runs each second
                link = os.readlink(f"/proc/{pid}/fd/{number}")  # noqa: PTH115 - as above
                step = self._step_of.get(link) or self._step_of.get(link.rpartition("/")[0])
                flags = _flags(pid, number) if step else _NO_DATA
                if step and not flags & _NO_DATA:
                    yield step, bool(flags & os.O_DIRECT)
        except OSError:
            return  # the process or a descriptor has gone, or belongs to another user


def _flags(pid: int, number: str) -> int:
    descriptor = os.open(f"/proc/{pid}/fdinfo/{number}", os.O_RDONLY | os.O_CLOEXEC)
    with closing(descriptor):
        words = os.read(descriptor, 256).split()
    return int(words[words.index(b"flags:") + 1], 8)


def real_path(path: str) -> str:
    """Follow a name of a device, such as /dev/disk/by-id/...; other paths are not touched, as a target may hang."""
    return os.path.realpath(path) if path.startswith("/dev/") else path


def evict(paths: Iterable[str]) -> None:
    """Drop the cached pages of files, so that pages found later come from what ran meanwhile."""
    for descriptor in _opened(paths):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def cached(paths: Iterable[str]) -> Cached:
    """Return how much of these files, and of the files in these directories, is in the page cache.

    Files that cannot be examined count as nothing.
    """
    found = [_cached(descriptor) for descriptor in _opened(paths)]
    return Cached(sum(one.cached_bytes for one in found), sum(one.of_bytes for one in found))


def _opened(paths: Iterable[str]) -> Iterator[int]:
    for path in paths:
        for name in _files(real_path(path)):
            try:
                descriptor = os.open(name, _OPEN | os.O_NOFOLLOW)
            except OSError:
                continue
            with closing(descriptor):
                mode = os.fstat(descriptor).st_mode
                if stat.S_ISREG(mode) or stat.S_ISBLK(mode):
                    yield descriptor


def _files(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            files = (entry.path for entry in entries if not entry.name.startswith("."))
            return [name for name, _ in zip(files, range(_MOST_FILES), strict=False)]
    except NotADirectoryError:
        return [path]
    except OSError:
        return []


def _cached(descriptor: int) -> Cached:
    size_bytes = os.lseek(descriptor, 0, os.SEEK_END)  # also of a device
    stats = _Cachestat()
    whole = ctypes.byref(_Range(0, 0))
    try:
        if _LIBC.syscall(ctypes.c_long(_CACHESTAT), descriptor, whole, ctypes.byref(stats), 0) == 0:
            return Cached(min(stats.cache * mmap.PAGESIZE, size_bytes), size_bytes)
        return _sampled(descriptor, size_bytes)
    except (OSError, ValueError):
        return Cached(0, 0)  # some file systems cannot map a file


def _sampled(descriptor: int, size_bytes: int) -> Cached:
    windows = min(_MOST_WINDOWS, -(-size_bytes // _WINDOW_BYTES))
    held = looked = 0
    for number in range(windows):
        offset = size_bytes * number // windows // _WINDOW_BYTES * _WINDOW_BYTES
        length = min(_WINDOW_BYTES, size_bytes - offset)
        with mmap.mmap(descriptor, length, access=mmap.ACCESS_COPY, offset=offset) as pages:
            held += resident_pages(pages)
        looked += -(-length // mmap.PAGESIZE)
    return Cached(min(size_bytes, size_bytes * held // looked), size_bytes) if looked else Cached(0, 0)
