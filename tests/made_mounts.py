"""Real file systems made for a test: an image in a file, formatted and mounted through a loop device, or memory."""

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
    """How one is made.

    Attributes:
        mkfs: formats the image, whose path is added, and gives it the UUID; empty for what lives in memory.
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
    # mkfs.xfs makes nothing smaller than 300 MiB; the image is sparse.
    "xfs": FileSystem("xfs", ("mkfs.xfs", "-q", "-m", "uuid={uuid}"), size_bytes=320 * MIB),
    "btrfs": FileSystem("btrfs", ("mkfs.btrfs", "-q", "-U", "{uuid}"), size_bytes=256 * MIB),
    "tmpfs": FileSystem("tmpfs", options=("mode=0700",)),
}
SMALL: Final = FileSystem("ext4", ("mkfs.ext4", *_EXT, "-N", "2048"), size_bytes=64 * MIB)
"""Soon full, of data and of files."""


@dataclass(frozen=True)
class MadeMount:
    """One that is mounted.

    Attributes:
        point: where; it belongs to this user alone.
        image: what it is made in; None in memory.
        uuid: as mkfs was told.
    """

    file_system: FileSystem
    point: Path
    image: Path | None
    uuid: str

    def line(self) -> MountLine:
        """The kernel's own line of it."""
        text = Path("/proc/self/mountinfo").read_text()
        return [line for line in parse_mountinfo(text) if line.mount_point == str(self.point)][-1]

    def mount(self) -> None:
        """Mounts it, again where it was unmounted."""
        options = ",".join((*self.file_system.options, *(("loop",) if self.image else ())))
        if self.image is None:
            options += f",size={self.file_system.size_bytes}"
        source = self.image or "iotide-test"
        run_as_root("mount", "-t", self.file_system.fstype, "-o", options.lstrip(","), source, self.point)
        run_as_root("chown", f"{os.geteuid()}:{os.getegid()}", self.point)

    def unmount(self, *options: str) -> None:
        """Unmounts it, or what was mounted over it last."""
        run_as_root("umount", *options, self.point)


@contextmanager
def made_mount(file_system: FileSystem, point: Path) -> Iterator[MadeMount]:
    """Mounted at `point`, which is made, and in the end unmounted: plainly, so that whatever still uses it is found."""
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
    """The command as root runs it, for mounts; `./dev` asks for passwordless sudo where it is not root itself."""
    return [*(() if os.geteuid() == 0 else ("sudo", "-n")), *map(str, command)]


def run_as_root(*command: str | Path) -> None:
    """Runs it to its end."""
    subprocess.run(as_root(*command), check=True)
