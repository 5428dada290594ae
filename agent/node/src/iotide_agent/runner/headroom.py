"""Disk space that the agent reserves before a run, so that a full disk does not cost the result."""

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

HEADROOM_BYTES: Final = 16 * 1024**2
"""For one order's records, tool output and result; most need less than one MiB."""
NAME: Final = "headroom"
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_CANNOT_SET_ASIDE: Final = frozenset({errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS})


def is_full(error: OSError) -> bool:
    return error.errno in _FULL


def set_aside(directory: Path) -> None:
    """Raise OSError if there is less space."""
    descriptor = os.open(directory / NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, HEADROOM_BYTES)
    except OSError as error:
        if error.errno not in _CANNOT_SET_ASIDE:
            give_back(directory)
            raise
    finally:
        os.close(descriptor)


def give_back(directory: Path) -> bool:
    with suppress(OSError):
        (directory / NAME).unlink()
        return True
    return False


def free_bytes(directory: Path) -> int:
    """Return the bytes that this user can write there; 0 if no file can be created."""
    found = os.statvfs(directory)
    if found.f_files and not found.f_ffree:
        return 0
    return found.f_frsize * (found.f_bfree if os.geteuid() == 0 else found.f_bavail)
