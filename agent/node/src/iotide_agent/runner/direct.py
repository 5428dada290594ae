"""Test for O_DIRECT on a target."""

import ctypes
import mmap
import os
from typing import Final

from iotide_agent.runner.files import closing

TRIAL_BYTES: Final = 1024**2

_LIBC: Final = ctypes.CDLL(None)


def try_direct(directory: int) -> bool:
    """Return true if a write and a read with O_DIRECT in this open directory work and bypass the page cache.

    They are tried, because support varies even within a file system: tmpfs accepts O_DIRECT only on new kernels. Some
    programs behind FUSE accept direct writes and refuse direct reads.
    """
    name = ".iotide-direct-trial"
    try:
        trial = os.open(name, os.O_RDWR | os.O_CREAT | os.O_DIRECT | os.O_CLOEXEC, 0o600, dir_fd=directory)
    except OSError:
        works = False
    else:
        with closing(trial), mmap.mmap(-1, TRIAL_BYTES) as aligned:
            works = _transfers(trial, aligned) and not _is_cached(name, directory)
    _unlink_if_there(name, directory)
    return works


def _transfers(descriptor: int, data: mmap.mmap) -> bool:
    try:
        return os.pwrite(descriptor, data, 0) == len(data) == os.readv(descriptor, [data])
    except OSError:
        return False


def _is_cached(name: str, directory: int) -> bool:
    """Return true if the page is cached: with data=journal, ext3 and ext4 accept O_DIRECT and still cache.

    A read without waiting is not enough: it succeeds on devices that answer at once, such as memory. A resident page
    is not enough either: on tmpfs, which refuses such reads, the page is the file.
    """
    file = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=directory)
    try:
        with closing(file), mmap.mmap(file, mmap.PAGESIZE, access=mmap.ACCESS_COPY) as page:
            return resident_pages(page) > 0 and os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT) > 0
    except OSError:
        return False


def resident_pages(mapped: mmap.mmap) -> int:
    """Return how many pages of a mapped file are in the page cache; none if the kernel does not say."""
    held = (ctypes.c_ubyte * -(-len(mapped) // mmap.PAGESIZE))()
    # The file must be unmapped before this function returns.
    address = ctypes.addressof(ctypes.c_ubyte.from_buffer(mapped))
    failed = _LIBC.mincore(ctypes.c_void_p(address), ctypes.c_size_t(len(mapped)), held)
    return 0 if failed else sum(page & 1 for page in held)


def _unlink_if_there(name: str, directory: int) -> None:
    try:
        os.unlink(name, dir_fd=directory)
    except FileNotFoundError:
        return
