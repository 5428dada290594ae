"""Processes that have a device, a file or a directory open, found in /proc."""

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from typing import Final

from iotide_agent.runner.files import closing
from iotide_agent.scratch.namespaces import PROC, ProcessMount, mounts, pids
from iotide_agent.scratch.refusals import joined

_LOCAL: Final = frozenset({"bcachefs", "btrfs", "devtmpfs", "overlay", "ramfs", "rootfs", "tmpfs", "zfs"})
"""Types without a block device below them that answer at once. NFS or FUSE may never answer."""


_FIRST_LINES_BYTES: Final = 128
"""Position, flags and mount id of fdinfo."""


def openers(numbers: Collection[int], passages: Collection[int] = ()) -> list[int]:
    """Return the other processes that have one of these devices open.

    `numbers` are of block devices, `passages` of character devices that pass commands to a disk.
    """
    answering = _answering()

    def is_one(found: os.stat_result) -> bool:
        wanted = numbers if stat.S_ISBLK(found.st_mode) else passages if stat.S_ISCHR(found.st_mode) else ()
        return found.st_rdev in wanted

    return [pid for pid in _others() if any(map(is_one, _opened(pid, answering)))]


def openers_of(descriptor: int) -> str:
    """Return the other processes that have this file open, worded."""
    own, answering = os.fstat(descriptor), _answering()
    return worded(pid for pid in _others() if any(os.path.samestat(own, found) for found in _opened(pid, answering)))


def users_of(directory: str) -> list[int]:
    """Return the processes with an open or mapped file, a working directory or a root below a directory."""
    return [pid for pid in pids() if any(is_below(link, directory) for link in _links(pid)) or _maps(pid, directory)]


def _others() -> list[int]:
    return [pid for pid in pids() if pid != os.getpid()]


def _opened(pid: int, answering: Collection[bytes]) -> Iterator[os.stat_result]:
    directory = f"{PROC}/{pid}/fd"
    # A process may end, or close a descriptor, in between.
    with suppress(OSError):
        for number in os.listdir(directory):  # noqa: PTH208 - strings and no paths: a process may have very many files
            with suppress(OSError):
                file = f"{directory}/{number}"
                is_named = os.readlink(file).startswith("/")  # noqa: PTH115 - as above
                if is_named and _mount_id(f"{directory}info/{number}") in answering:
                    yield os.stat(file)  # noqa: PTH116 - as above


def _mount_id(described: str) -> bytes:
    descriptor = os.open(described, os.O_RDONLY | os.O_CLOEXEC)
    with closing(descriptor):
        _, _, rest = os.read(descriptor, _FIRST_LINES_BYTES).partition(b"mnt_id:\t")
    return rest.partition(b"\n")[0]


def _answering() -> set[bytes]:
    """Return the ids of mounts that wait for no server and no program of a user, as fdinfo writes them."""
    return {b"%d" % mount.id for mount in mounts() if mount.fstype in _LOCAL or _has_device(mount)}


def _has_device(mount: ProcessMount) -> bool:
    return not mount.number.startswith("0:") and not mount.fstype.startswith("fuse")


def _links(pid: int) -> Iterator[str]:
    process = PROC / str(pid)
    with suppress(OSError):
        for entry in (process / "cwd", process / "root", *(process / "fd").iterdir()):
            with suppress(OSError):
                yield str(entry.readlink())


def _maps(pid: int, directory: str) -> bool:
    with suppress(OSError):
        return f" {directory}/".encode(errors="surrogateescape") in (PROC / str(pid) / "maps").read_bytes()
    return False


def is_below(link: str, directory: str) -> bool:
    return link == directory or link.startswith(f"{directory}/")


def worded(found: Iterable[int]) -> str:
    words = []
    for pid in found:
        with suppress(OSError):
            words.append(f"{pid} ({(PROC / str(pid) / 'comm').read_text(errors='replace').strip()})")
    return f"process {joined(words, ', ')}" if words else "no process was found"
