"""File systems on loop devices for the gallery, made anew as often as an experiment asks for it."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bring_up import StackError

_IMAGE_BYTES: Final = 2 * 1024**3


@dataclass(frozen=True)
class Disk:
    """How a file system is made.

    Attributes:
        mkfs: the command, without the devices.
        devices: how many it takes.
        options: of the mount.
    """

    mkfs: tuple[str, ...]
    devices: int = 1
    options: str = "defaults"


@dataclass(frozen=True)
class LoopMount:
    """A mount point over loop devices."""

    devices: Sequence[str]
    mount_point: Path

    def mount_new(self, disk: Disk) -> None:
        """Make the file system and mount it."""
        as_root(*disk.mkfs, *self.devices)
        as_root("mount", "-o", disk.options, self.devices[0], self.mount_point)

    def replace(self, disk: Disk) -> None:
        """What an operator does between two stages: unmount, make another file system, mount that."""
        as_root("umount", self.mount_point)
        self.mount_new(disk)


@contextmanager
def loop_mount(mount_point: Path, disk: Disk) -> Iterator[LoopMount]:
    """A file system on loop devices of its own beside the mount point's parent; all of it is gone in the end."""
    images = [mount_point.parents[1] / f"{mount_point.name}-{number}.image" for number in range(disk.devices)]
    for image in images:
        with image.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, _IMAGE_BYTES)
    # Past the page cache below the loop device too, or every read would come out of memory.
    devices = [as_root("losetup", "--find", "--show", "--direct-io=on", image) for image in images]
    try:
        mount_point.mkdir()
        mount = LoopMount(devices, mount_point)
        mount.mount_new(disk)
        try:
            yield mount
        finally:
            as_root("umount", mount_point)
    finally:
        for device in devices:
            as_root("losetup", "--detach", device)


def as_root(*command: str | Path) -> str:
    """What a command prints that only root may run.

    Raises:
        StackError: it failed.
    """
    argv = list(map(str, command))
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StackError(f"{' '.join(argv)}: {done.stdout}{done.stderr}")
    return done.stdout.strip()
