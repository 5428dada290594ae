"""File systems on loop devices for the gallery, recreated on demand."""

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
    """File system to create.

    Attributes:
        mkfs: the command, without the devices.
        devices: number of devices.
        options: mount options.
    """

    mkfs: tuple[str, ...]
    devices: int = 1
    options: str = "defaults"


@dataclass(frozen=True)
class LoopMount:
    """Mount point over loop devices."""

    devices: Sequence[str]
    mount_point: Path

    def mount_new(self, disk: Disk) -> None:
        as_root(*disk.mkfs, *self.devices)
        as_root("mount", "-o", disk.options, self.devices[0], self.mount_point)

    def replace(self, disk: Disk) -> None:
        """Unmount, create another file system and mount it, like an operator between two stages."""
        as_root("umount", self.mount_point)
        self.mount_new(disk)


@contextmanager
def loop_mount(mount_point: Path, disk: Disk) -> Iterator[LoopMount]:
    """Yield a file system on its own loop devices next to the mount point's parent, removed at the end."""
    images = [mount_point.parents[1] / f"{mount_point.name}-{number}.image" for number in range(disk.devices)]
    for image in images:
        with image.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, _IMAGE_BYTES)
    # Bypass the page cache below the loop device; otherwise every read would come from memory.
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
    """Run a command as root and return its output.

    Raises:
        StackError: it failed.
    """
    argv = list(map(str, command))
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StackError(f"{' '.join(argv)}: {done.stdout}{done.stderr}")
    return done.stdout.strip()
