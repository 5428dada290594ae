"""Words and limits of scratch devices, for the plan, the messages and the node's root program.

Needs the standard library alone. Sizes are in bytes. A server may ask a node for nothing that is not in here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from iotide_wire.units import KIB, MIB

MOST_DISKS: Final = 64
MOST_ARRAYS: Final = 16
"""Equal md arrays below one LVM volume."""
LEAST_CHUNK_BYTES: Final = 4 * KIB
MOST_CHUNK_BYTES: Final = 4 * MIB
MOST_CLIENTS: Final = 64
"""Nodes that mount an export."""
BLOCK_BYTES: Final = (4096,)
"""Block sizes of file systems; the page size of all CPUs on which each of them mounts."""
SECTOR_BYTES: Final = 512
WHOLE_PERCENT: Final = 100
"""A file system that takes all of its device."""


LAYOUT_FACT: Final = "scratch.layout"
"""Fact of a mount on scratch disks: the canonical text of its layout, as the plan chose it."""
WITH_BITMAP: Final = " bitmap"
"""End of that text if the arrays have a write-intent bitmap."""


class LayoutKind(StrEnum):
    """Layers between disks and file system.

    SINGLE: one disk. OFFSET: one disk, with the file system from sector 63 on, as fdisk placed partitions until 2010.
    MD: one array. LVM: one volume on the disks. LVM_MD: one volume on `arrays` equal arrays. BTRFS: the disks
    themselves, for a Btrfs with a profile.
    """

    SINGLE = "single"
    OFFSET = "offset"
    MD = "md"
    LVM = "lvm"
    LVM_MD = "lvm-md"
    BTRFS = "btrfs"


class MdLevel(StrEnum):
    """RAID level of an md array; RAID10 is its layout near=2."""

    RAID0 = "raid0"
    RAID1 = "raid1"
    RAID5 = "raid5"
    RAID6 = "raid6"
    RAID10 = "raid10"


class BtrfsProfile(StrEnum):
    """Profile of Btrfs for data and metadata."""

    SINGLE = "single"
    DUP = "dup"
    RAID0 = "raid0"
    RAID1 = "raid1"
    RAID1C3 = "raid1c3"
    RAID1C4 = "raid1c4"
    RAID10 = "raid10"
    RAID5 = "raid5"
    RAID6 = "raid6"


class LvmKind(StrEnum):
    """LINEAR: `lvcreate` without `-i`, one disk or array after another. STRIPE: `lvcreate -i N -I chunk`."""

    LINEAR = "linear"
    STRIPE = "stripe"


class Start(StrEnum):
    """First byte of the file system on its disk."""

    MIB_1 = "1MiB"
    SECTORS_63 = "63s"


class Bitmap(StrEnum):
    """Write-intent bitmap of an md array with redundancy. RAID 0 has none and gets no option."""

    NONE = "none"
    INTERNAL = "internal"


class Sync(StrEnum):
    """How an md array with redundancy becomes consistent before its first run.

    WAIT: it synchronises, and the make ends after that. ASSUME_CLEAN: `--assume-clean` on members as they are.
    ZEROED: zeroes are written to all members, then `--assume-clean`, which mdadm(8) allows.
    """

    WAIT = "wait"
    ASSUME_CLEAN = "assume_clean"
    ZEROED = "zeroed"


class Filesystem(StrEnum):
    EXT2 = "ext2"
    EXT3 = "ext3"
    EXT4 = "ext4"
    XFS = "xfs"
    JFS = "jfs"
    REISERFS = "reiserfs"
    F2FS = "f2fs"
    BTRFS = "btrfs"


class Alignment(StrEnum):
    """Geometry that mkfs gets.

    DEFAULT: none, mkfs asks the device. ALIGNED: the layout's stripe, by option. UNALIGNED: options that switch
    detection off: `stride=1,stripe_width=1`, `noalign`.
    """

    DEFAULT = "default"
    ALIGNED = "aligned"
    UNALIGNED = "unaligned"


class DataMode(StrEnum):
    """The mount option `data=` of ext3 and ext4."""

    ORDERED = "ordered"
    WRITEBACK = "writeback"
    JOURNAL = "journal"


EXT: Final = frozenset({Filesystem.EXT2, Filesystem.EXT3, Filesystem.EXT4})
WITH_GEOMETRY: Final = EXT | {Filesystem.XFS}
"""File systems whose mkfs has options for stripes; jfs, reiserfs, f2fs and btrfs have none (their manuals)."""
WITH_DATA_MODE: Final = frozenset({Filesystem.EXT3, Filesystem.EXT4})

LEAST_DISKS: Final[Mapping[MdLevel, int]] = {
    MdLevel.RAID0: 2,
    MdLevel.RAID1: 2,
    MdLevel.RAID5: 3,
    MdLevel.RAID6: 4,
    MdLevel.RAID10: 4,
}
"""From the definitions in md(4). mdadm also takes fewer for RAID 5 and 10, which then are mirrors."""

LEAST_BTRFS_DISKS: Final[Mapping[BtrfsProfile, int]] = {
    BtrfsProfile.SINGLE: 1,
    BtrfsProfile.DUP: 1,
    BtrfsProfile.RAID0: 2,
    BtrfsProfile.RAID1: 2,
    BtrfsProfile.RAID1C3: 3,
    BtrfsProfile.RAID1C4: 4,
    BtrfsProfile.RAID10: 4,
    BtrfsProfile.RAID5: 3,
    BtrfsProfile.RAID6: 4,
}
"""From the table of profiles in mkfs.btrfs(8), without the degenerate cases that Linux 5.15 added."""

LEAST_FILESYSTEM_BYTES: Final[Mapping[Filesystem, int]] = {
    Filesystem.EXT2: 1 * MIB,
    Filesystem.EXT3: 8 * MIB,
    Filesystem.EXT4: 8 * MIB,
    Filesystem.XFS: 300 * MIB,
    Filesystem.JFS: 16 * MIB,
    Filesystem.REISERFS: 34 * MIB,
    Filesystem.F2FS: 64 * MIB,
    Filesystem.BTRFS: 128 * MIB,
}
"""Smallest device that mkfs accepts with its defaults, rounded up: mkfs.xfs(8) since 5.19, mkfs.jfs(8), mkreiserfs's
8,193 blocks of journal, mkfs.btrfs(8) (109 MiB).
"""

MKFS: Final[Mapping[Filesystem, str]] = {
    Filesystem.EXT2: "mkfs.ext2",
    Filesystem.EXT3: "mkfs.ext3",
    Filesystem.EXT4: "mkfs.ext4",
    Filesystem.XFS: "mkfs.xfs",
    Filesystem.JFS: "mkfs.jfs",
    Filesystem.REISERFS: "mkfs.reiserfs",
    Filesystem.F2FS: "mkfs.f2fs",
    Filesystem.BTRFS: "mkfs.btrfs",
}
MDADM: Final = "mdadm"
LVM: Final = "lvm"
DMSETUP: Final = "dmsetup"
PROGRAMS: Final = (*MKFS.values(), MDADM, LVM, DMSETUP)
"""Programs that not every node has."""
MODULE: Final = "{}.ko"
"""Module of the kernel that mounts a file system."""


@dataclass(frozen=True, slots=True)
class MountOption:
    """One mount option. Without `words` and limits it is a flag, whose value is true.

    Attributes:
        words: allowed values.
        least, most: limits of a whole number.
    """

    words: tuple[str, ...] = ()
    least: int = 0
    most: int = 0

    def accepts(self, value: object) -> bool:
        if self.words:
            return isinstance(value, str) and value in self.words
        if self.most:
            return isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most
        return value is True

    @property
    def wanted(self) -> str:
        if self.words:
            return f"one of {', '.join(self.words)}"
        return f"a whole number of {self.least} to {self.most}" if self.most else "no value"


_FLAG: Final = MountOption()
_COMMIT: Final = MountOption(least=1, most=900)
"""Seconds."""
_ANY: Final = {"noatime": _FLAG, "relatime": _FLAG, "nodiratime": _FLAG}
_JOURNAL: Final = {**_ANY, "lazytime": _FLAG, "nobarrier": _FLAG, "commit": _COMMIT}

MOUNT_OPTIONS: Final[Mapping[Filesystem, Mapping[str, MountOption]]] = {
    Filesystem.EXT2: _ANY,
    Filesystem.EXT3: _JOURNAL,
    Filesystem.EXT4: {**_JOURNAL, "nodelalloc": _FLAG, "noauto_da_alloc": _FLAG, "dioread_nolock": _FLAG},
    Filesystem.XFS: {
        **_ANY,
        "lazytime": _FLAG,
        "logbufs": MountOption(least=2, most=8),
        "logbsize": MountOption(words=("16k", "32k", "64k", "128k", "256k")),
        "allocsize": MountOption(words=("4k", "64k", "256k", "1m", "4m", "16m", "64m", "256m", "1g")),
        "largeio": _FLAG,
        "swalloc": _FLAG,
    },
    Filesystem.JFS: _ANY,
    Filesystem.REISERFS: {**_ANY, "notail": _FLAG, "barrier": MountOption(words=("none", "flush"))},
    Filesystem.F2FS: {**_ANY, "lazytime": _FLAG, "nobarrier": _FLAG, "mode": MountOption(words=("adaptive", "lfs"))},
    Filesystem.BTRFS: {
        **_ANY,
        "lazytime": _FLAG,
        "nobarrier": _FLAG,
        "commit": _COMMIT,
        "nodatacow": _FLAG,
        "nodatasum": _FLAG,
        "autodefrag": _FLAG,
        "compress": MountOption(words=("lzo", "zlib", "zstd")),
    },
}
"""By file system, from ext4(5), xfs(5), btrfs(5), mount(8) and the kernel's documentation of f2fs.

Option `data` of ext3 and ext4 is not here: `fs.data` sets it. A value is true, a whole number or one of the words.
"""
MOST_MOUNT_OPTIONS: Final = 8
