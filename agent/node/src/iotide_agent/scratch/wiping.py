"""Empty the arenas of dirty disks, and show that they are empty before a mark becomes clean."""

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from iotide_agent.runner.files import closing
from iotide_agent.scratch.commands import LONG_SECONDS, Commands, is_installed
from iotide_agent.scratch.disk import Disk, check_number, write_all
from iotide_agent.scratch.mark import MIB, MarkCondition
from iotide_agent.scratch.refusals import DirtyError, ScratchRefusedError
from iotide_agent.scratch.site import Site
from iotide_agent.scratch.stack import Stack, wait_unclaimed
from iotide_agent.scratch.uses import signatures

EDGE_BYTES: Final = 8 * MIB
"""Zeroed at both ends of an arena. Offsets of data in md and LVM lie inside."""
_BTRFS_COPIES: Final = (64 * MIB, 256 * 1024 * MIB)
_COPY_BYTES: Final = 4096
_ANY: Final = (0, 1, 2)


class Wiper:
    """Takes apart what is on arenas and wipes them."""

    def __init__(self, site: Site, commands: Commands) -> None:
        self._site = site
        self._sysfs = site.sysfs
        self._commands = commands
        self._patience_seconds = site.patience_seconds

    def clean(self, disks: Sequence[Disk], *, discards: bool, before_unmount: Sequence[str] = ()) -> None:
        """Make dirty disks clean.

        Raise ScratchRefusedError if something is on them that is not theirs alone, DirtyError if the proof fails.
        """
        if not disks:
            return
        for disk in disks:
            self._check_dirty(disk)
        Stack(disks, self._sysfs, self._commands, self._patience_seconds, before_unmount).take_apart()
        for disk in disks:
            self._wipe(disk, discards=discards)
        forget_btrfs(disks, self._commands)

    def _check_dirty(self, disk: Disk) -> None:
        disk.check_ready(self._site)
        if disk.state().is_clean:
            raise ScratchRefusedError(f"{disk.device}: its mark is clean, so iotide has nothing to wipe on it")

    def _wipe(self, disk: Disk, *, discards: bool) -> None:
        self._check_dirty(disk)
        wait_unclaimed(disk, self._sysfs, self._patience_seconds)
        path = disk.arena_path
        if discards:
            # First: what a disk returns for discarded blocks may be old data, or change later.
            self._commands.run(("blkdiscard", path), ok=_ANY, limit_seconds=LONG_SECONDS)
        kinds = signatures(path, self._commands)
        if "linux_raid_member" in kinds:
            self._commands.run(("mdadm", "--zero-superblock", "--quiet", path), ok=_ANY)
        # Also after mdadm: its superblock lies past older ones, which it uncovers.
        self._commands.run(("wipefs", "--all", "--quiet", path))
        self._commands.journal.write("zeroing", device=disk.device)
        self._zero(disk)
        left = signatures(path, self._commands)
        if left:
            raise DirtyError(f"{disk.device}: it still holds {', '.join(left)}")
        wait_unclaimed(disk, self._sysfs, self._patience_seconds)
        if self._sysfs.names(disk.arena, "holders"):
            raise DirtyError(f"{disk.device}: held by {', '.join(self._sysfs.names(disk.arena, 'holders'))}")
        disk.write_state(replace(disk.state(), condition=MarkCondition.CLEAN, since_s=int(time.time())))
        self._commands.journal.write("clean", device=disk.device)

    def _zero(self, disk: Disk) -> None:
        # O_EXCL: not a byte while a mount, an array or a volume has the arena.
        descriptor = os.open(disk.arena_path, os.O_WRONLY | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW)
        with closing(descriptor):
            check_number(self._sysfs, disk.arena, os.fstat(descriptor))
            for start, length in zeroed_ranges(self._sysfs.size_bytes(disk.arena)):
                for offset in range(start, start + length, MIB):
                    write_all(descriptor, bytes(min(MIB, start + length - offset)), offset)
            os.fsync(descriptor)


def forget_btrfs(disks: Sequence[Disk], commands: Commands) -> None:
    """Have the kernel forget arenas as members of an unmounted Btrfs, which it would mix with a new one."""
    if is_installed("btrfs") and Path("/dev/btrfs-control").exists():
        commands.run(("btrfs", "device", "scan", "--forget", *(disk.arena_path for disk in disks)), ok=_ANY)


def zeroed_ranges(size_bytes: int) -> list[tuple[int, int]]:
    """Return offset and size of what wiping overwrites in an arena."""
    last = size_bytes - EDGE_BYTES
    if last <= EDGE_BYTES:
        return [(0, size_bytes)]
    copies = [(offset, _COPY_BYTES) for offset in _BTRFS_COPIES if EDGE_BYTES <= offset < last]
    return [(0, EDGE_BYTES), *copies, (last, EDGE_BYTES)]
