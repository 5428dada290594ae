"""Time that makes of scratch disks take, where none was measured on the set."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from iotide_server.campaigns.scratch.expansion import MadeStage
from iotide_server.campaigns.scratch.filling import fills_of
from iotide_wire.geometry import capacity_bytes, data_disks
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
    """Size of a disk's arena, and the rate at which it writes."""

    disk_bytes: int
    bytes_per_second: float


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
    """Return the seconds of one stage, which makes layout and file system and wipes them.

    `resync = member bytes / min(disk rate, speed_limit_max)` (md(4)): 5.6 h for 3 TB at 150 MB/s. Zeroing members
    takes `member bytes / disk rate`.
    """
    layout = stage.make.layout.layout
    disk_rate = rates.bytes_per_second
    size_bytes = capacity_bytes(layout, rates.disk_bytes) * scratch.size_percent // 100
    mkfs = MKFS_SECONDS
    rate = disk_rate * data_disks(layout)
    if stage.make.fs.type in EXT:
        mkfs += (size_bytes * INODE_TABLE_RATIO + min(LARGEST_JOURNAL_BYTES, size_bytes / 64)) / rate
    fill = sum(one.ratio for one in fills_of(scratch)) * size_bytes / rate
    has_layers = layout.kind not in {LayoutKind.SINGLE, LayoutKind.BTRFS}
    return MakeSeconds(
        assemble=ASSEMBLE_SECONDS * (1 + (layout.kind is LayoutKind.LVM_MD)) if has_layers else 0.0,
        sync=_sync_seconds(scratch, layout.level, rates),
        mkfs=mkfs,
        fill=fill,
        wipe=layout.disks * (WIPE_SECONDS + WIPED_BYTES / disk_rate),
    )


def _sync_seconds(scratch: ScratchPlan, level: MdLevel | None, rates: DiskRates) -> float:
    if level in {None, MdLevel.RAID0} or scratch.sync is Sync.ASSUME_CLEAN:
        return 0.0
    if scratch.sync is Sync.ZEROED:
        return rates.disk_bytes / rates.bytes_per_second
    return rates.disk_bytes / min(rates.bytes_per_second, SYNC_SPEED_MAX_BYTES_PER_SECOND)


def all_make_seconds(scratch: ScratchPlan, stages: Sequence[MadeStage], rates: DiskRates) -> float:
    """Return the seconds of all makes of a campaign."""
    return sum(make_seconds(scratch, stage, rates).total for stage in stages)
