"""Empty a run's directory at its end, without leaving it through links or mounts, at any depth."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from iotide_agent.runner.files import closing
from iotide_agent.runner.mounts import mount_id_of

OPEN_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MOST_LEVELS: Final = 50
"""Directories held open at a time; deeper ones are moved up first."""


@contextmanager
def opened_below(name: str, parent: int) -> Iterator[int]:
    descriptor = os.open(name, OPEN_DIRECTORY, dir_fd=parent)
    with closing(descriptor):
        yield descriptor


def empty_directory(top: int, mount_id: int, path: str, *, keep: str) -> list[str]:
    """Remove everything below an open directory except `keep`, without following links or entering other mounts.

    Mounts are compared by mount id, because a bind mount has its file system's device number. Return the directories
    on other mounts, which stay; raise OSError if something cannot be removed.
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
    """`moved` directories were moved up to this one and are emptied next."""

    def __init__(self, top: int, mount_id: int, keep: str) -> None:
        self.moved = 0
        self._top = top
        self._mount_id = mount_id
        self._keep = keep

    def empty(self, directory: int, path: str, level: int) -> list[str]:
        foreign: list[str] = []
        for name in os.listdir(directory):
            if level == 1 and name == self._keep:
                continue
            found = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if not stat.S_ISDIR(found.st_mode):
                os.unlink(name, dir_fd=directory)
            elif level > MOST_LEVELS:
                # No name uses this number, even after an interrupted removal.
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
