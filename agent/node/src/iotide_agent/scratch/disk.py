"""An adopted disk, held open and locked: it is compared with list and mark before each step."""

import array
import errno
import fcntl
import os
import stat
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from iotide_agent.runner.files import closing
from iotide_agent.scratch import gpt, mark
from iotide_agent.scratch.mark import BLOCK_BYTES, Adoption, MarkCondition, MarkError, MarkState
from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.site import Site
from iotide_agent.scratch.sysfs import Sysfs

_BLKGETDISKSEQ: Final = 0x80081280
_BLKGETSIZE64: Final = 0x80081272
_LOCK_SECONDS: Final = 10.0
_READ: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
_WRITE: Final = os.O_WRONLY | os.O_SYNC | os.O_CLOEXEC | os.O_NOFOLLOW
_SECTOR_BYTES: Final = 512


class Disk:
    """Holds a disk open. Its descriptor keeps the kernel from giving the name to another disk.

    Attributes:
        device: its name in scratch.toml.
        name: its name in the kernel, such as `sdb`.
    """

    def __init__(self, sysfs: Sysfs, device: str, *, locks: bool = True) -> None:
        """Find the disk, and lock it unless it is only read. Raise ScratchRefusedError unless it is the only one."""
        self._sysfs = sysfs
        self.device = device
        self.name = find(sysfs, device)
        self.identity = sysfs.identity(self.name)
        self.descriptor = os.open(self.path, _READ)
        try:
            self._check_opened()
            if locks:
                _lock(self.descriptor, device)
            self._sequence = _number_of(self.descriptor, _BLKGETDISKSEQ)
        except BaseException:
            os.close(self.descriptor)
            raise

    def close(self) -> None:
        os.close(self.descriptor)

    @property
    def path(self) -> str:
        return f"/dev/{self.name}"

    @property
    def arena(self) -> str:
        """Return the kernel's name of partition 1; raise ScratchRefusedError without one."""
        found = self._sysfs.partition(self.name, 1)
        if found is None:
            raise ScratchRefusedError(
                f"{self.device}: the kernel shows no partition 1; does it read GPT (EFI_PARTITION)?"
            )
        return found

    @property
    def arena_path(self) -> str:
        return f"/dev/{self.arena}"

    def pread(self, size_bytes: int, offset: int) -> bytes:
        # The disk's page cache does not know what was written through a partition.
        os.posix_fadvise(self.descriptor, offset, size_bytes, os.POSIX_FADV_DONTNEED)
        return os.pread(self.descriptor, size_bytes, offset)

    def check_same(self) -> None:
        """Raise ScratchRefusedError if another disk has this name now."""
        identity = self._sysfs.identity(self.name)
        if _number_of(self.descriptor, _BLKGETDISKSEQ) != self._sequence or identity != self.identity:
            raise ScratchRefusedError(f"{self.device}: another disk has the name {self.name} now")

    def adoption(self, site: Site) -> Adoption:
        """Return block 0 of the mark; raise ScratchRefusedError unless root of this node adopted exactly this disk."""
        found = self.any_adoption()
        if not found.is_of(self.identity):
            raise ScratchRefusedError(f"{self.device}: the mark is of another disk, or the disk has changed: {found}")
        if found.machine_id != site.this_machine():
            raise ScratchRefusedError(
                f"{self.device}: it was adopted on another installation (machine-id {found.machine_id}); "
                f"run `iotide-agent scratch adopt --same-disk {self.device}` if that was this node"
            )
        site.adoptions.check(self.device, found)
        return found

    def any_adoption(self) -> Adoption:
        try:
            return mark.adoption_in(self.pread(BLOCK_BYTES, self._mark_start))
        except MarkError as error:
            raise ScratchRefusedError(f"{self.device}: not adopted: {error}") from error

    def state(self) -> MarkState:
        return mark.state_in(self.pread(BLOCK_BYTES, self._mark_start + BLOCK_BYTES))

    def check_ready(self, site: Site) -> Adoption:
        """Check the disk, its mark, root's record of it, and its partitions; raise ScratchRefusedError."""
        self.check_same()
        adoption = self.adoption(site)
        self._check_table(adoption)
        return adoption

    def write_state(self, state: MarkState) -> None:
        self.check_same()
        self._write([(self._mark_start + BLOCK_BYTES, mark.packed(state))])

    def write_adoption(self, adoption: Adoption, *, is_new: bool) -> None:
        """Write block 0, and for a new adoption a dirty state before it: old data may lie in the arena."""
        self.check_same()
        dirty = (self._mark_start + BLOCK_BYTES, mark.packed(MarkState(MarkCondition.DIRTY, variant="adoption")))
        self._write([*([dirty] if is_new else []), (self._mark_start, mark.packed(adoption))], exclusive=is_new)

    def write_table(self, adoption_id: str) -> None:
        """Write the partition table. Killed before it, an adoption has a mark and no table, or only the spare one."""
        self.check_same()
        size_bytes = self.identity.size_bytes
        self._write(gpt.blocks(mark.table_of(adoption_id, size_bytes), size_bytes, self.block_bytes), exclusive=True)

    def has_table(self, adoption_id: str) -> bool:
        return gpt.read(self.pread, self.block_bytes) == mark.table_of(adoption_id, self.identity.size_bytes)

    def clear(self) -> None:
        """Overwrite the mark and both copies of the table, the mark last."""
        self.check_same()
        size_bytes = self.identity.size_bytes
        end = self._mark_start + mark.MIB
        zeros = [(0, bytes(mark.MIB)), (end, bytes(size_bytes - end)), (self._mark_start, bytes(mark.MIB))]
        self._write(zeros, exclusive=True)

    def read_partitions(self) -> None:
        """Have the kernel read the table; raise ScratchRefusedError if it keeps partitions that are in use."""
        try:
            self._sysfs.read_partitions(self.name, self.descriptor)
        except OSError as error:
            raise ScratchRefusedError(f"{self.device}: the kernel does not read its table: {error.strerror}") from error

    @property
    def block_bytes(self) -> int:
        return int(self._sysfs.text(self.name, "queue/logical_block_size") or _SECTOR_BYTES)

    @property
    def _mark_start(self) -> int:
        try:
            return mark.mark_start_bytes(self.identity.size_bytes)
        except MarkError as error:
            raise ScratchRefusedError(f"{self.device}: {error}") from error

    def _check_opened(self) -> None:
        number = _shown(os.fstat(self.descriptor).st_rdev)
        size_bytes = _number_of(self.descriptor, _BLKGETSIZE64)
        is_same = self._sysfs.text(self.name, "dev") == number and size_bytes == self.identity.size_bytes
        # Between the search and the open, another disk may have got this name.
        if not is_same or self.identity.device != self.device:
            raise ScratchRefusedError(f"{self.device}: it changed while it was opened")

    def _check_table(self, adoption: Adoption) -> None:
        size_bytes = self.identity.size_bytes
        if not self.has_table(adoption.id):
            raise ScratchRefusedError(f"{self.device}: its partition table is not the one of its adoption")
        if len(self._sysfs.partitions(self.name)) != len(mark.table_of(adoption.id, size_bytes).partitions):
            raise ScratchRefusedError(
                f"{self.device}: the kernel shows {self._sysfs.partitions(self.name)} as partitions"
            )
        start = _SECTOR_BYTES * int(self._sysfs.text(self.arena, "start") or 0)
        if (start, self._sysfs.size_bytes(self.arena)) != mark.arena_bytes(size_bytes):
            raise ScratchRefusedError(f"{self.device}: the kernel's partition 1 has other bounds than the adoption")
        check_node(self._sysfs, self.arena)

    def _write(self, blocks: list[tuple[int, bytes]], *, exclusive: bool = False) -> None:
        try:
            descriptor = os.open(self.path, _WRITE | (os.O_EXCL if exclusive else 0))
        except OSError as error:
            if error.errno == errno.EBUSY:
                raise ScratchRefusedError(f"{self.device}: the kernel reports that it is in use (O_EXCL)") from error
            raise
        with closing(descriptor):
            if os.fstat(descriptor).st_rdev != os.fstat(self.descriptor).st_rdev:
                raise ScratchRefusedError(f"{self.device}: another device has the name {self.name} now")
            for offset, data in blocks:
                write_all(descriptor, data, offset)
            os.fsync(descriptor)


def find(sysfs: Sysfs, device: str) -> str:
    """Return the kernel's name of the only disk with this identity; raise ScratchRefusedError for none or two."""
    found = names_of(sysfs, device)
    if not found:
        raise ScratchRefusedError(f"{device}: no disk of this node has this identity")
    if len(found) > 1:
        raise ScratchRefusedError(f"{device}: {len(found)} disks have this identity: {', '.join(found)}")
    reason = sysfs.why_unfit(found[0])
    if reason is not None:
        raise ScratchRefusedError(f"{device} ({found[0]}): {reason}")
    return found[0]


def names_of(sysfs: Sysfs, device: str) -> list[str]:
    """Return the kernel's names of all disks with this identity."""
    return [name for name in sysfs.disks() if sysfs.identity(name).device == device]


def check_node(sysfs: Sysfs, name: str) -> None:
    """Raise ScratchRefusedError unless /dev/NAME, which commands get, is the device that /sys has under this name."""
    check_number(sysfs, name, Path("/dev", name).lstat())


def check_number(sysfs: Sysfs, name: str, found: os.stat_result) -> None:
    """Raise ScratchRefusedError unless a file is the block device that /sys has under this name."""
    if not stat.S_ISBLK(found.st_mode) or sysfs.text(name, "dev") != _shown(found.st_rdev):
        raise ScratchRefusedError(f"/dev/{name} is another device than in /sys; restart udev, or remove it")


def _shown(number: int) -> str:
    return f"{os.major(number)}:{os.minor(number)}"


def write_all(descriptor: int, data: bytes, offset: int) -> None:
    written = 0
    while written < len(data):
        written += os.pwrite(descriptor, data[written:], offset + written)


def until(holds: Callable[[], bool], seconds: float, pause_seconds: float = 0.1) -> bool:
    """Ask until it holds; return whether it did within the time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(pause_seconds)  # /sys and mountinfo announce nothing that could be waited for
    return True


def _lock(descriptor: int, device: str) -> None:
    """Lock the disk as systemd.io/BLOCK_DEVICE_LOCKING describes: udev then leaves it and its partitions alone."""

    def locked() -> bool:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    if not until(locked, _LOCK_SECONDS):
        raise ScratchRefusedError(f"{device}: another program holds the lock of the disk")


def _number_of(descriptor: int, request: int) -> int:
    found = array.array("B", bytes(8))
    try:
        fcntl.ioctl(descriptor, request, found)
    except OSError as error:
        if request == _BLKGETDISKSEQ and error.errno == errno.ENOTTY:
            raise ScratchRefusedError("this kernel does not number disks; scratch devices need Linux 5.15") from error
        raise
    (number,) = struct.unpack("Q", found)
    return int(number)
