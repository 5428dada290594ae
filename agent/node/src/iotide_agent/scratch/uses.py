"""Finds users of a disk and data on it. No check sees every use, so an adoption makes all of them."""

import errno
import json
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

from iotide_agent.runner.mounts import decode
from iotide_agent.scratch import nfs
from iotide_agent.scratch.commands import Commands
from iotide_agent.scratch.disk import Disk, until
from iotide_agent.scratch.mark import MIB
from iotide_agent.scratch.namespaces import PROC, ProcessMount, mounts
from iotide_agent.scratch.openers import is_below, openers, users_of, worded
from iotide_agent.scratch.refusals import joined
from iotide_agent.scratch.sysfs import Sysfs

_BTRFS: Final = Path("/sys/fs/btrfs")
_ABOVE: Final = (
    ("/sys/block", "loop*/loop/backing_file"),
    ("/sys/kernel/config/target/core", "*/*/udev_path"),
    ("/sys/kernel/config/nvmet/subsystems", "*/namespaces/*/device_path"),
)
"""Files that name a device without a claim of it: loop devices, and exports to other hosts by LIO and nvmet."""
_TABLES: Final = ((Path("/etc/fstab"), 0), (Path("/etc/crypttab"), 1))
"""Tables that name devices, with the column."""
_UNITS: Final = Path("/etc/systemd/system")
_PARTITIONS: Final = (re.compile(r"(?!)"), re.compile(r"-part\d+$"), re.compile(r"p?\d+$"))
"""Endings that name a partition of a disk: none, those of udev's links, those of the kernel."""
_OPEN_SECONDS: Final = 2.0
"""Workers of udev open a device for a moment after each event."""


def uses(disk: Disk, sysfs: Sysfs, commands: Commands, *, own: Collection[str] = ()) -> list[str]:
    """Return every use of a whole disk that must not be adopted, worded; empty for a free disk.

    `own` are kinds of signatures that an interrupted adoption left.
    """
    names = [disk.name, *sysfs.partitions(disk.name)]
    found = [f"it has partitions: {', '.join(names[1:])}"] if len(names) > 1 else []
    found += _claims(disk, sysfs, names)
    found += [f"{file} names it: {path}" for file, path in _settings() if _is_on(path, device_numbers(sysfs, names))]
    kinds = [(name, kind) for name in names for kind in signatures(f"/dev/{name}", commands)]
    found += [f"{name} holds {kind}" for name, kind in kinds if kind not in own]
    return found + _opened(sysfs, names)


def _settings() -> Iterator[tuple[Path, str]]:
    """Yield the paths in /dev that the node's settings mount, decrypt or swap to, which need not be in use now."""
    for file, column in _TABLES:
        for words in map(str.split, _read(file).splitlines()):
            if len(words) > column and not words[0].startswith("#"):
                yield file, decode(words[column])
    for file in sorted(_UNITS.glob("*.mount")) + sorted(_UNITS.glob("*.swap")):
        for line in _read(file).splitlines():
            name, _, value = line.partition("=")
            if name.strip() == "What":
                yield file, value.strip()


def _is_on(path: str, numbers: Collection[int]) -> bool:
    """Return whether a path is one of the devices, or of a partition that such a disk does not have yet."""
    return any(_number_of_path(ending.sub("", path)) in numbers for ending in _PARTITIONS)


def live_uses(sysfs: Sysfs, disk: Disk) -> list[str]:
    """Return every present use of a disk and its partitions, worded, whatever they hold."""
    names = [disk.name, *sysfs.partitions(disk.name)]
    return _claims(disk, sysfs, names) + _opened(sysfs, names)


def _opened(sysfs: Sysfs, names: Collection[str]) -> list[str]:
    return [f"open in process {pid}" for pid in lasting_openers(sysfs, names)]


def _claims(disk: Disk, sysfs: Sysfs, names: Collection[str]) -> list[str]:
    found = [f"mounted at {mount.path} (process {mount.pid})" for mount in mounts_of(sysfs, names)]
    found += [f"swap at {path}" for path in _swaps(sysfs, names)]
    found += [f"{name} is held by {holder}" for name in names for holder in sysfs.names(name, "holders")]
    found += [f"{name} belongs to bcache" for name in names if sysfs.has(name, "bcache")]
    found += [f"{path} is on it" for path in loops_and_exports(sysfs, names)]
    if is_claimed(disk.path):
        found.append("the kernel reports that it is in use (O_EXCL)")
    return found


def is_blank(disk: Disk) -> bool:
    """Return whether the first and the last MiB are zero."""
    last = disk.identity.size_bytes - MIB
    return not any(disk.pread(MIB, offset).strip(b"\0") for offset in (0, last))


def is_claimed(path: str) -> bool:
    """Return whether the kernel has an exclusive user: a mount in any namespace, swap, md, dm, or a program."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW))
    except OSError as error:
        if error.errno == errno.EBUSY:
            return True
        raise
    return False


def signatures(path: str, commands: Commands) -> list[str]:
    """Return the kinds of signatures that libblkid knows: file systems, RAID, LVM, zfs, bcache, drbd, Ceph, tables."""
    printed = commands.run(("wipefs", "--no-act", "--json", "--output", "TYPE", path))
    found = json.loads(printed or "{}").get("signatures", [])
    return [str(signature["type"]) for signature in found]


def lasting_openers(sysfs: Sysfs, names: Collection[str]) -> list[int]:
    """Return the processes that have one of the devices open for longer than udev does.

    A virtual machine can use a disk through a character device, which claims nothing.
    """
    numbers = device_numbers(sysfs, names)
    passages = _made(passage for name in names for passage in sysfs.passages(name))
    found: list[int] = []

    def is_free() -> bool:
        found[:] = openers(numbers, passages)
        return not found

    until(is_free, _OPEN_SECONDS)
    return found


def holders_of(sysfs: Sysfs, names: Collection[str]) -> str:
    """Return what keeps devices in use, worded: what is built on them, swap, loop devices, exports, processes."""
    found = [f"held by {holder}" for name in names for holder in sysfs.names(name, "holders")]
    found += [f"swap at {path}" for path in _swaps(sysfs, names)]
    found += [f"{path} is on it" for path in loops_and_exports(sysfs, names)]
    who = openers(device_numbers(sysfs, names))
    return joined([*found, worded(who)] if who or not found else found)


def users_of_mount(mount: ProcessMount) -> str:
    """Return what keeps a mount of this namespace busy, worded: what is mounted or loops on it, processes."""
    path = mount.path
    found = [f"{other.path} is mounted below it" for other in mounts() if other.is_own and _is_inside(other.path, path)]
    found += [f"swap at {swap}" for swap in _swap_paths() if _is_inside(swap, path)]
    loops = [file for file in Path("/sys/block").glob("loop*/loop/backing_file") if _is_inside(_read(file), path)]
    found += [f"{loop.parent.parent.name} is on {_read(loop)}" for loop in loops]
    found += [f"NFS client {address} has files open" for address in nfs.clients_of(mount.number)]
    who = users_of(path)
    return joined([*found, worded(who)] if who or not found else found)


def _is_inside(path: str, directory: str) -> bool:
    return path != directory and is_below(path, directory)


def device_numbers(sysfs: Sysfs, names: Collection[str]) -> set[int]:
    return _made(sysfs.text(name, "dev") for name in names)


def _made(numbers: Iterable[str]) -> set[int]:
    """Return device numbers of their texts, major:minor; empty ones are left out."""
    pairs = [number.split(":") for number in numbers if number]
    return {os.makedev(int(major), int(minor)) for major, minor in pairs}


def mounts_of(sysfs: Sysfs, names: Collection[str]) -> list[ProcessMount]:
    """Return the mounts of these devices in every mount namespace, the last mounted first."""
    numbers = {sysfs.text(name, "dev") for name in names}
    # Btrfs has device numbers of its own, and mountinfo names only one of its devices.
    sources = device_numbers(sysfs, {*names, *btrfs_siblings(names)})

    def is_of_these(mount: ProcessMount) -> bool:
        # Any user can mount a file system of another type and give it the name of a device as its source.
        is_btrfs = mount.number.startswith("0:") and mount.fstype == "btrfs"
        return mount.number in numbers or (is_btrfs and _number_of_path(mount.source) in sources)

    return [mount for mount in mounts() if is_of_these(mount)][::-1]


def btrfs_siblings(names: Collection[str]) -> set[str]:
    """Return the devices of every mounted Btrfs that has one of these."""
    found: set[str] = set()
    for devices in _BTRFS.glob("*/devices"):
        members = {entry.name for entry in devices.iterdir()}
        found |= members if members & set(names) else set()
    return found


def _swaps(sysfs: Sysfs, names: Collection[str]) -> list[str]:
    numbers = device_numbers(sysfs, names)
    return [path for path in _swap_paths() if _number_of_path(path) in numbers]


def _swap_paths() -> list[str]:
    try:
        lines = (PROC / "swaps").read_text().splitlines()[1:]
    except OSError:
        return []
    return [decode(line.split()[0]) for line in lines]


def loops_and_exports(sysfs: Sysfs, names: Collection[str]) -> list[str]:
    """Return the loop devices and exports to other hosts that use devices without a claim of them."""
    numbers = device_numbers(sysfs, names)
    files = [file for root, pattern in _ABOVE for file in Path(root).glob(pattern)]
    return [str(file.parent) for file in files if _number_of_path(_read(file)) in numbers]


def _number_of_path(path: str) -> int | None:
    """Return the number of a block device, by its path."""
    try:
        found = Path(path).stat() if path.startswith("/dev/") else None
    except OSError:
        return None
    return found.st_rdev if found is not None and stat.S_ISBLK(found.st_mode) else None


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
