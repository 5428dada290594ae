"""Unmounts one mount, by its id in the kernel, in the mount namespace of a process.

Usage: unmounting.py PID MOUNT_ID PATH, as root with `python -I -S`. In a user namespace of their own, an ordinary user
decides what each path leads to. So this opens one directory of the namespace, and starts and loads nothing of it.
Exits with 1 and a reason if PATH is not this mount, or the kernel refuses.
"""

import ctypes
import os
import sys
from typing import Final

_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNS: Final = 0x20000
_AT_FDCWD: Final = -100
_AT_SYMLINK_NOFOLLOW: Final = 0x100
_AT_NO_AUTOMOUNT: Final = 0x800
_STATX_MNT_ID: Final = 0x1000
_STATX_BYTES: Final = 256
_MNT_ID_OFFSET: Final = 144
_UMOUNT_NOFOLLOW: Final = 8
_PATH: Final = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


def main(arguments: list[str]) -> int:
    pid, mount_id, path = arguments
    above, name = os.path.split(os.fsencode(path))
    namespace = os.open(f"/proc/{int(pid)}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    if not os.path.samestat(os.fstat(namespace), os.stat("/proc/self/ns/mnt")):  # noqa: PTH116 - no Path: start-up time
        _succeeds(_LIBC.setns(namespace, _CLONE_NEWNS))
    # Held open, the directory above stays the same one. A directory that is a mount point cannot be renamed.
    os.fchdir(os.open(above, _PATH))
    if _mount_id(name) != int(mount_id):
        sys.stderr.write("another file system is mounted over it\n")
        return 1
    _succeeds(_LIBC.umount2(name, _UMOUNT_NOFOLLOW))
    return 0


def _mount_id(name: bytes) -> int:
    found = ctypes.create_string_buffer(_STATX_BYTES)
    _succeeds(_LIBC.statx(_AT_FDCWD, name, _AT_SYMLINK_NOFOLLOW | _AT_NO_AUTOMOUNT, _STATX_MNT_ID, found))
    return int.from_bytes(found.raw[_MNT_ID_OFFSET : _MNT_ID_OFFSET + 8], sys.byteorder)


def _succeeds(status: int) -> None:
    if status != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    try:
        STATUS = main(sys.argv[1:])
    except OSError as error:
        sys.stderr.write(f"{error.strerror}\n")
        STATUS = 1
    sys.stderr.flush()
    # No clean-up of the interpreter, which may look for files.
    os._exit(STATUS)
