"""Processes that have a device, a file or a directory open, found in /proc."""

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")


def pids() -> list[int]:
    return sorted(int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit())


def openers(numbers: Collection[int]) -> list[int]:
    """Return the other processes that have a block device with one of these numbers open."""
    return [pid for pid in _others() if any(_is_device(found, numbers) for found in _opened(pid))]


def openers_of(descriptor: int) -> str:
    """Return the other processes that have this file open, worded."""
    own = os.fstat(descriptor)
    return worded(pid for pid in _others() if any(os.path.samestat(own, found) for found in _opened(pid)))


def users_of(directory: str) -> str:
    """Return the processes with an open file, a working directory or a root below a directory, worded."""
    return worded(pid for pid in pids() if any(_is_below(link, directory) for link in _links(pid)))


def namespace_of(pid: int | str) -> str:
    """Return the mount namespace of a process; empty once it has ended."""
    with suppress(OSError):
        return str((_PROC / str(pid) / "ns/mnt").readlink())
    return ""


def _others() -> list[int]:
    return [pid for pid in pids() if pid != os.getpid()]


def _opened(pid: int) -> Iterator[os.stat_result]:
    # A process may end, or close a descriptor, in between.
    with suppress(OSError):
        for entry in (_PROC / str(pid) / "fd").iterdir():
            with suppress(OSError):
                yield entry.stat()


def _links(pid: int) -> Iterator[str]:
    process = _PROC / str(pid)
    with suppress(OSError):
        for entry in (process / "cwd", process / "root", *(process / "fd").iterdir()):
            with suppress(OSError):
                yield str(entry.readlink())


def _is_device(found: os.stat_result, numbers: Collection[int]) -> bool:
    return stat.S_ISBLK(found.st_mode) and found.st_rdev in numbers


def _is_below(link: str, directory: str) -> bool:
    return link == directory or link.startswith(f"{directory}/")


def worded(found: Iterable[int]) -> str:
    words = []
    for pid in found:
        with suppress(OSError):
            words.append(f"{pid} ({(_PROC / str(pid) / 'comm').read_text(errors='replace').strip()})")
    return f"process {', '.join(words)}" if words else "no process was found"
