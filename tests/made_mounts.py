"""Real file systems made for a test: memory, or an image file, formatted and mounted through a loop device."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from iotide_agent.runner.mounts import MountLine, parse_mountinfo
from iotide_wire.units import MIB

_EXT: Final = ("-q", "-F", "-m", "0", "-U", "{uuid}")


@dataclass(frozen=True)
class FileSystem:
    """A kind of file system.

    Attributes:
        mkfs: command that formats the image with the UUID, without the image's path; empty for file systems in
            memory.
        options: of mount.
    """

    fstype: str
    mkfs: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    size_bytes: int = 160 * MIB


FILE_SYSTEMS: Final = {
    "ext2": FileSystem("ext2", ("mkfs.ext2", *_EXT)),
    "ext3-ordered": FileSystem("ext3", ("mkfs.ext3", *_EXT), ("data=ordered",)),
    "ext3-writeback": FileSystem("ext3", ("mkfs.ext3", *_EXT), ("data=writeback",)),
    "ext3-journal": FileSystem("ext3", ("mkfs.ext3", *_EXT), ("data=journal",)),
    "ext4": FileSystem("ext4", ("mkfs.ext4", *_EXT), ("noatime",)),
    # mkfs.xfs refuses to make less than 300 MiB; the image is sparse.
    "xfs": FileSystem("xfs", ("mkfs.xfs", "-q", "-m", "uuid={uuid}"), size_bytes=320 * MIB),
    "btrfs": FileSystem("btrfs", ("mkfs.btrfs", "-q", "-U", "{uuid}"), size_bytes=256 * MIB),
    "tmpfs": FileSystem("tmpfs", options=("mode=0700",)),
}
SMALL: Final = FileSystem("ext4", ("mkfs.ext4", *_EXT, "-N", "2048"), size_bytes=64 * MIB)
"""Small limits of data and of files."""


@dataclass(frozen=True)
class MadeMount:
    """A mounted file system.

    Attributes:
        point: its mount point, which belongs only to this user.
        image: its image file; None in memory.
        uuid: the UUID passed to mkfs.
    """

    file_system: FileSystem
    point: Path
    image: Path | None
    uuid: str

    def line(self) -> MountLine:
        """Return its line of the kernel's mountinfo."""
        text = Path("/proc/self/mountinfo").read_text()
        return [line for line in parse_mountinfo(text) if line.mount_point == str(self.point)][-1]

    def mount(self) -> None:
        """Mount it, again if it was unmounted."""
        options = ",".join((*self.file_system.options, *(("loop",) if self.image else ())))
        if self.image is None:
            options += f",size={self.file_system.size_bytes}"
        source = self.image or "iotide-test"
        run_as_root("mount", "-t", self.file_system.fstype, "-o", options.lstrip(","), source, self.point)
        run_as_root("chown", f"{os.geteuid()}:{os.getegid()}", self.point)

    def unmount(self, *options: str) -> None:
        """Unmount it, or the last mount over it."""
        run_as_root("umount", *options, self.point)


@contextmanager
def made_mount(file_system: FileSystem, point: Path) -> Iterator[MadeMount]:
    """Mount it at a new directory `point`. Unmount it at the end without force, so that any remaining use is found."""
    point.mkdir(mode=0o700)
    image = point.with_name(f"{point.name}.image") if file_system.mkfs else None
    made = MadeMount(file_system, point, image, str(uuid4()))
    if image is not None:
        with image.open("wb") as empty:
            empty.truncate(file_system.size_bytes)
        environment = os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
        mkfs = [argument.format(uuid=made.uuid) for argument in file_system.mkfs]
        subprocess.run([*mkfs, str(image)], check=True, stdout=subprocess.DEVNULL, env=environment)
    try:
        made.mount()
        yield made
        if point.is_mount():
            made.unmount()
    finally:
        while point.is_mount():
            made.unmount("--lazy")
        if image is not None:
            image.unlink()


def as_root(*command: str | Path) -> list[str]:
    """Return the command as root runs it, for mounts; `./dev` needs passwordless sudo if it does not run as root."""
    return [*(() if os.geteuid() == 0 else ("sudo", "-n")), *map(str, command)]


def run_as_root(*command: str | Path) -> None:
    subprocess.run(as_root(*command), check=True)
