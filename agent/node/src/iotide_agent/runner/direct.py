"""Whether O_DIRECT does on a target what its name says."""

import ctypes
import mmap
import os
from typing import Final

from iotide_agent.runner.files import closing

TRIAL_BYTES: Final = 1024**2

_LIBC: Final = ctypes.CDLL(None)


def try_direct(directory: int) -> bool:
    """Whether a write with O_DIRECT into this open directory works, and goes past the page cache.

    It is tried, since no table of file systems is right: tmpfs takes O_DIRECT on new kernels and not on old ones.
    """
    name = ".iotide-direct-trial"
    try:
        trial = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_DIRECT | os.O_CLOEXEC, 0o600, dir_fd=directory)
    except OSError:
        works = False
    else:
        with closing(trial), mmap.mmap(-1, TRIAL_BYTES) as aligned:
            works = _writes(trial, aligned) and not _is_cached(name, directory)
    # Some file systems make the file and then refuse the flag.
    _unlink_if_there(name, directory)
    return works


def _writes(descriptor: int, data: mmap.mmap) -> bool:
    try:
        return os.pwrite(descriptor, data, 0) == len(data)
    except OSError:
        return False


def _is_cached(name: str, directory: int) -> bool:
    """Whether it can be read without waiting: with data=journal ext3 and ext4 take O_DIRECT and cache all the same.

    Such a read alone says too much: it brings the page in where a device, as one in memory, answers at once. That the
    page is there says too much as well: of tmpfs, which takes no such reads, the page is the file.
    """
    file = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=directory)
    try:
        with closing(file), mmap.mmap(file, mmap.PAGESIZE, access=mmap.ACCESS_COPY) as page:
            return _is_resident(page) and os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT) > 0
    except OSError:  # some file systems map no files either
        return False


def _is_resident(page: mmap.mmap) -> bool:
    held = ctypes.c_ubyte()
    # It lives no longer than this function, or the page could not be unmapped.
    address = ctypes.addressof(ctypes.c_ubyte.from_buffer(page))
    failed = _LIBC.mincore(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), ctypes.byref(held))
    return failed == 0 and bool(held.value & 1)


def _unlink_if_there(name: str, directory: int) -> None:
    try:
        os.unlink(name, dir_fd=directory)
    except FileNotFoundError:
        return
