"""Empties a run's directory at its end: below itself alone, whatever links, mounts and depths a load left there."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from iotide_agent.runner.files import closing
from iotide_agent.runner.mounts import mount_id_of

OPEN_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MOST_LEVELS: Final = 50
"""Of directories below each other that are held open at a time; what lies deeper is moved up first."""


@contextmanager
def opened_below(name: str, parent: int) -> Iterator[int]:
    """The directory `name` of the open directory `parent`, opened; a symbolic link of that name is not followed."""
    descriptor = os.open(name, OPEN_DIRECTORY, dir_fd=parent)
    with closing(descriptor):
        yield descriptor


def empty_directory(top: int, mount_id: int, path: str, *, keep: str) -> list[str]:
    """Remove all below an open directory but `keep`, never through a symbolic link and never on another mount.

    A bind mount of the same file system has its device number too, so only the mount's own id tells. Return the
    directories on other mounts, which stay; raise OSError where something cannot be removed.
    """
    if mount_id_of(top) != mount_id:
        return [path]
    emptied = _Emptied(top, mount_id, keep)
    while True:
        moved = emptied.moved
        foreign = emptied.empty(top, path, 1)
        if emptied.moved == moved:
            return foreign


class _Emptied:
    """A directory that is emptied; `moved` directories were moved up to it, for another look."""

    def __init__(self, top: int, mount_id: int, keep: str) -> None:
        self.moved = 0
        self._top = top
        self._mount_id = mount_id
        self._keep = keep

    def empty(self, directory: int, path: str, level: int) -> list[str]:
        """Removes all below a directory, and says what has to stay."""
        foreign: list[str] = []
        for name in os.listdir(directory):
            if level == 1 and name == self._keep:
                continue
            found = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if not stat.S_ISDIR(found.st_mode):
                os.unlink(name, dir_fd=directory)
            elif level > MOST_LEVELS:
                # Its number is no other directory's name, also of a removal that was cut off.
                os.rename(name, f".iotide-deep-{found.st_ino}", src_dir_fd=directory, dst_dir_fd=self._top)
                self.moved += 1
            else:
                foreign += self._remove(directory, name, f"{path}/{name}", level)
        return foreign

    def _remove(self, directory: int, name: str, path: str, level: int) -> list[str]:
        with opened_below(name, directory) as below:
            foreign = [path] if mount_id_of(below) != self._mount_id else self.empty(below, path, level + 1)
        if not foreign:
            os.rmdir(name, dir_fd=directory)
        return foreign
