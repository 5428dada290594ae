"""Time that makes of scratch disks take, by the rates of the disks; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from iotide_server.campaigns.scratch.expansion import MadeStage
from iotide_server.campaigns.scratch.filling import fills_of
from iotide_wire.geometry import capacity_bytes, data_disks
from iotide_wire.scratch import ScratchMake
from iotide_wire.scratch_plan import ScratchPlan
from iotide_wire.scratch_vocabulary import EXT, LayoutKind, MdLevel, Sync
from iotide_wire.units import GIB, KIB, MIB

SYNC_SPEED_MAX_BYTES_PER_SECOND: Final = 200_000 * KIB
"""md(4): the default of speed_limit_max, for each member."""
INODE_TABLE_RATIO: Final = 256 / 16_384
"""Share of an ext file system that its inode tables take, 1.6 %: inode_size / inode_ratio of mke2fs.conf(5)."""
LARGEST_JOURNAL_BYTES: Final = GIB
"""mke2fs(8) writes the whole journal with lazy_journal_init=0."""
WIPED_BYTES: Final = 16 * MIB
"""Zeroed at both ends of each disk, together."""
ASSEMBLE_SECONDS: Final = 2.0
"""mdadm --create took 0.5 to 1.9 s and lvcreate 0.7 to 2.5 s on Linux 6.1, with mdadm 4.2 and lvm2 2.03.16."""
MKFS_SECONDS: Final = 3.0
"""mkfs took 0.1 to 3 s there, without inode tables and discards; mounting is included."""
WIPE_SECONDS: Final = 1.0
"""For wipefs and mdadm --zero-superblock on one disk; a whole cycle took 0.6 to 2.2 s on loop devices."""


@dataclass(frozen=True, slots=True)
class DiskRates:
    """Size of a disk's arena, and the rates at which it writes.

    Attributes:
        sync_bytes_per_second: of earlier synchronisations; None: as fast as it writes, up to speed_limit_max.
    """

    disk_bytes: int
    bytes_per_second: float
    sync_bytes_per_second: float | None = None

    @property
    def sync_rate(self) -> float:
        return self.sync_bytes_per_second or min(self.bytes_per_second, SYNC_SPEED_MAX_BYTES_PER_SECOND)


@dataclass(frozen=True, slots=True)
class MakeSeconds:
    """Seconds by step; a discard before the make is not included, as disks differ too much."""

    assemble: float = 0.0
    sync: float = 0.0
    mkfs: float = 0.0
    fill: float = 0.0
    wipe: float = 0.0

    @property
    def total(self) -> float:
        return self.assemble + self.sync + self.mkfs + self.fill + self.wipe


def make_seconds(scratch: ScratchPlan, stage: MadeStage, rates: DiskRates) -> MakeSeconds:
    """Return the seconds of one stage, which makes layout and file system, fills it, and wipes the disks.

    `resync = member bytes / min(disk rate, speed_limit_max)` (md(4)): 5.6 h for 3 TB at 150 MB/s. Zeroing members
    takes `member bytes / disk rate`.
    """
    make, layout = stage.make, stage.make.layout.layout
    size_bytes = capacity_bytes(layout, rates.disk_bytes) * make.fs.size_percent // 100
    rate = rates.bytes_per_second * data_disks(layout)
    return MakeSeconds(
        assemble=_assemble_seconds(make),
        sync=_sync_seconds(make, rates),
        mkfs=MKFS_SECONDS + table_bytes(make, rates.disk_bytes) / rate,
        fill=sum(one.ratio for one in fills_of(scratch)) * size_bytes / rate,
        wipe=layout.disks * (WIPE_SECONDS + WIPED_BYTES / rates.bytes_per_second),
    )


def table_bytes(make: ScratchMake, disk_bytes: int) -> float:
    """Return the bytes of inode tables and journal that mkfs of an ext file system writes; 0 for others."""
    if make.fs.type not in EXT:
        return 0.0
    size_bytes = capacity_bytes(make.layout.layout, disk_bytes) * make.fs.size_percent // 100
    return size_bytes * INODE_TABLE_RATIO + min(LARGEST_JOURNAL_BYTES, size_bytes / 64)


def synchronised(make: ScratchMake) -> Sync | None:
    """Return how a make writes whole members; None if it does not."""
    layout = make.layout
    return None if layout.level in {None, MdLevel.RAID0} or layout.sync is Sync.ASSUME_CLEAN else layout.sync


def fixed_seconds(make: ScratchMake) -> float:
    """Return the seconds of a make, with the wipe, that do not depend on its disks."""
    return _assemble_seconds(make) + MKFS_SECONDS + make.layout.disks * WIPE_SECONDS


def _assemble_seconds(make: ScratchMake) -> float:
    kind = make.layout.kind
    if kind in {LayoutKind.SINGLE, LayoutKind.BTRFS}:
        return 0.0
    return ASSEMBLE_SECONDS * (1 + (kind is LayoutKind.LVM_MD))


def _sync_seconds(make: ScratchMake, rates: DiskRates) -> float:
    match synchronised(make):
        case None:
            return 0.0
        case Sync.ZEROED:
            return rates.disk_bytes / rates.bytes_per_second
        case _:
            return rates.disk_bytes / rates.sync_rate


def all_make_seconds(scratch: ScratchPlan, stages: Sequence[MadeStage], rates: DiskRates) -> float:
    """Return the seconds of all makes of a campaign."""
    return sum(make_seconds(scratch, stage, rates).total for stage in stages)
