"""Stripe geometry of a layout: what mkfs should get, what it takes by default, and where partitions and LVM may start.

Needs the standard library alone, so that the node's root program can use it. Letters in docstrings: `c` chunk, `n`
disks, `d` data disks, `W = c*d` bytes of a full stripe, `B` block of the file system.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import lcm
from typing import Final

from iotide_wire.scratch_vocabulary import (
    EXT,
    LEAST_CHUNK_BYTES,
    LEAST_FILESYSTEM_BYTES,
    MKFS,
    MOST_CHUNK_BYTES,
    SECTOR_BYTES,
    WITH_GEOMETRY,
    Alignment,
    BtrfsProfile,
    Filesystem,
    LayoutKind,
    LvmKind,
    MdLevel,
    Start,
)
from iotide_wire.striping import Layout, StripingError, size_text
from iotide_wire.units import GIB, KIB, MIB

START_BYTES: Final = {Start.MIB_1: MIB, Start.SECTORS_63: 63 * SECTOR_BYTES}
LARGEST_LOG_UNIT_BYTES: Final = 256 * KIB
"""mkfs.xfs(8): with a larger stripe unit, the unit of the log becomes 32 KiB."""
LEAST_STRIPED_XFS_BYTES: Final = 600 * MIB
"""mkfs.xfs 6.1 with su and sw rejects 512 MiB ("Log size must be at least 64MB") and accepts 600 MiB."""
LEAST_DETECTED_XFS_BYTES: Final = GIB
"""mkfs.xfs(8): below this size it does not ask the device for stripes."""
EXTENT_BYTES: Final = 4 * MIB
"""Extent of a volume group, unless vgcreate(8) gets another size."""

_DATA_DISKS: Final[dict[MdLevel, Callable[[int], int]]] = {
    MdLevel.RAID0: lambda disks: disks,
    MdLevel.RAID5: lambda disks: disks - 1,
    MdLevel.RAID6: lambda disks: disks - 2,
    MdLevel.RAID10: lambda disks: disks // 2,
}
"""md(4); RAID 10 with near=2. RAID 1 has no stripe."""


@dataclass(frozen=True, slots=True)
class Stripe:
    chunk_bytes: int
    data_disks: int

    @property
    def width_bytes(self) -> int:
        """Return `W = c*d`."""
        return self.chunk_bytes * self.data_disks


@dataclass(frozen=True, slots=True)
class Blocks:
    """Geometry in a superblock, in blocks of the file system; 0 for none."""

    unit: int = 0
    width: int = 0


@dataclass(frozen=True, slots=True)
class Device:
    """Start of the file system on the layout's top device, and its size if known."""

    start_bytes: int = 0
    size_bytes: int | None = None


def array_stripe(layout: Layout) -> Stripe | None:
    """Return the stripe of an md array of the layout; None without a stripe."""
    if layout.level is None or layout.level is MdLevel.RAID1 or layout.chunk_bytes is None:
        return None
    return Stripe(layout.chunk_bytes, _DATA_DISKS[layout.level](layout.array_disks))


def top_stripe(layout: Layout) -> Stripe | None:
    """Return the stripe of the device that holds the file system: LVM's own, otherwise that of the array below."""
    if layout.lvm is LvmKind.STRIPE and layout.lvm_chunk_bytes is not None:
        legs = layout.arrays if layout.kind is LayoutKind.LVM_MD else layout.disks
        return Stripe(layout.lvm_chunk_bytes, legs)
    return array_stripe(layout)


def data_disks(layout: Layout) -> int:
    """Return the disks whose throughput adds up for one large file: 1 for linear volumes and mirrors.

    Btrfs stripes with the profiles raid0, raid10, raid5 and raid6.
    """
    if layout.profile in _BTRFS_STRIPED:
        return capacity_bytes(layout, 1)
    below = array_stripe(layout)
    above = top_stripe(layout)
    if layout.kind is LayoutKind.LVM_MD and layout.lvm is LvmKind.STRIPE and above is not None:
        return above.data_disks * (below.data_disks if below else 1)
    return above.data_disks if above else 1


def reported_io_bytes(layout: Layout) -> tuple[int, int]:
    """Return minimum_io_size and optimal_io_size, as the kernel's md and dm targets set them (sysfs-block)."""
    stripe = top_stripe(layout)
    return (SECTOR_BYTES, 0) if stripe is None else (stripe.chunk_bytes, stripe.width_bytes)


def alignment_offset_bytes(stripe: Stripe | None, start_bytes: int) -> int:
    """Return the kernel's alignment_offset of a partition that starts here; 0 if it starts at a chunk.

    queue_limit_alignment_offset of block/blk-settings.c; its granularity is minimum_io_size.
    """
    return 0 if stripe is None else -start_bytes % stripe.chunk_bytes


def start_multiple_bytes(stripe: Stripe | None) -> int:
    """Return `lcm(1 MiB, W)`: each multiple is aligned for the stripes and for `parted -a optimal`."""
    return MIB if stripe is None else lcm(MIB, stripe.width_bytes)


def detected_pe_start_bytes(stripe: Stripe | None) -> int:
    """Return where pvcreate puts the first extent: 1 MiB, rounded up to W (lvm.conf, data_alignment_detection)."""
    return MIB if stripe is None else -(-MIB // stripe.width_bytes) * stripe.width_bytes


def is_volume_aligned(
    stripe: Stripe, pe_start_bytes: int, first_extent: int = 0, extent_bytes: int = EXTENT_BYTES
) -> bool:
    """Return true if `(pe_start + first extent * extent size) mod W = 0`."""
    return (pe_start_bytes + first_extent * extent_bytes) % stripe.width_bytes == 0


def lvm_chunk_choices(below: Stripe) -> tuple[int, ...]:
    """Return the values of `lvcreate -I` that keep full stripes of the arrays below: multiples of W, powers of two.

    Empty for 3, 5, 6 or 7 data disks: lvcreate(8) accepts powers of two only ("Invalid stripe size").
    """
    powers = (LEAST_CHUNK_BYTES << step for step in range((MOST_CHUNK_BYTES // LEAST_CHUNK_BYTES).bit_length()))
    return tuple(power for power in powers if power % below.width_bytes == 0)


def detected_blocks(layout: Layout, filesystem: Filesystem, block_bytes: int, device: Device) -> Blocks:
    """Return what mkfs takes without options.

    mke2fs uses both values if they exceed a block. mkfs.xfs drops them where alignment_offset is not 0 and below
    1 GiB. The other tools do not ask.
    """
    stripe = top_stripe(layout)
    if stripe is None or filesystem not in WITH_GEOMETRY:
        return Blocks()
    if filesystem is Filesystem.XFS and (
        alignment_offset_bytes(stripe, device.start_bytes)
        or (device.size_bytes is not None and device.size_bytes < LEAST_DETECTED_XFS_BYTES)
    ):
        return Blocks()
    unit, width = stripe.chunk_bytes, stripe.width_bytes
    return Blocks(unit // block_bytes if unit > block_bytes else 0, width // block_bytes if width > block_bytes else 0)


@dataclass(frozen=True, slots=True)
class MkfsGeometry:
    """Geometry option of mkfs, such as `-E` with `stride=16,stripe_width=48`, and the superblock's values after it."""

    flag: str
    words: tuple[str, ...]
    blocks: Blocks


def mkfs_geometry(layout: Layout, filesystem: Filesystem, align: Alignment, block_bytes: int) -> MkfsGeometry | None:
    """Return the option; None for `default`. Raise StripingError if the alignment is impossible.

    ext: `stride = c/B`, `stripe_width = W/B` (mke2fs(8), -E). XFS: `su = c`, `sw = d` (mkfs.xfs(8), -d).
    """
    if align is Alignment.DEFAULT:
        return None
    if filesystem not in WITH_GEOMETRY:
        problem = f"{MKFS[filesystem]} has no option for stripes"
        raise StripingError("align", problem, f"use {Alignment.DEFAULT}")
    if align is Alignment.UNALIGNED:
        words = ("stride=1", "stripe_width=1") if filesystem in EXT else ("noalign",)
        return MkfsGeometry("-E" if filesystem in EXT else "-d", words, Blocks())
    stripe = _stripe_to_align(layout)
    if stripe.chunk_bytes % block_bytes:
        problem = f"a chunk of {size_text(stripe.chunk_bytes)} holds no whole block of {size_text(block_bytes)}"
        raise StripingError("block_bytes", problem, "use smaller blocks or a larger chunk")
    blocks = Blocks(stripe.chunk_bytes // block_bytes, stripe.width_bytes // block_bytes)
    if filesystem in EXT:
        return MkfsGeometry("-E", (f"stride={blocks.unit}", f"stripe_width={blocks.width}"), blocks)
    return MkfsGeometry("-d", (f"su={size_text(stripe.chunk_bytes).lower()}", f"sw={stripe.data_disks}"), blocks)


def _stripe_to_align(layout: Layout) -> Stripe:
    stripe, below = top_stripe(layout), array_stripe(layout)
    if stripe is None:
        raise StripingError("align", f"{layout.text} has no stripe", f"use {Alignment.DEFAULT}")
    if layout.lvm is LvmKind.STRIPE and below is not None and stripe.chunk_bytes % below.width_bytes:
        choices = lvm_chunk_choices(below)
        problem = f"-I {size_text(stripe.chunk_bytes)} splits full stripes of {size_text(below.width_bytes)} below"
        raise StripingError("align", problem, _lvm_remedy(choices, below))
    return stripe


def _lvm_remedy(choices: tuple[int, ...], below: Stripe) -> str:
    if choices:
        return f"use -I {' or '.join(size_text(choice) for choice in choices[:3])}"
    limit = f"no power of two up to {size_text(MOST_CHUNK_BYTES)} is a multiple of it"
    return f"{limit}: use 1, 2, 4 or 8 data disks instead of {below.data_disks}"


_BTRFS_COPIES: Final[dict[BtrfsProfile, int]] = {
    BtrfsProfile.SINGLE: 1,
    BtrfsProfile.RAID0: 1,
    BtrfsProfile.DUP: 2,
    BtrfsProfile.RAID1: 2,
    BtrfsProfile.RAID10: 2,
    BtrfsProfile.RAID1C3: 3,
    BtrfsProfile.RAID1C4: 4,
}
"""Copies of each block, from the table of profiles in mkfs.btrfs(8)."""
_BTRFS_PARITIES: Final = {BtrfsProfile.RAID5: 1, BtrfsProfile.RAID6: 2}
_BTRFS_STRIPED: Final = {BtrfsProfile.RAID0, BtrfsProfile.RAID10, *_BTRFS_PARITIES}


def capacity_bytes(layout: Layout, disk_bytes: int) -> int:
    """Return the bytes of the top device on disks of this size; metadata of md and LVM, a few MiB, is neglected."""
    if layout.profile in _BTRFS_PARITIES:
        return (layout.disks - _BTRFS_PARITIES[layout.profile]) * disk_bytes
    if layout.profile is not None:
        return layout.disks * disk_bytes // _BTRFS_COPIES[layout.profile]
    if layout.level is MdLevel.RAID1:
        return layout.arrays * disk_bytes
    below = array_stripe(layout)
    return (layout.disks if below is None else layout.arrays * below.data_disks) * disk_bytes


def least_filesystem_bytes(filesystem: Filesystem, align: Alignment) -> int:
    """Return the smallest device on which mkfs succeeds."""
    if filesystem is Filesystem.XFS and align is Alignment.ALIGNED:
        return LEAST_STRIPED_XFS_BYTES
    return LEAST_FILESYSTEM_BYTES[filesystem]


def mkfs_blocks(layout: Layout, filesystem: Filesystem, align: Alignment, block_bytes: int, device: Device) -> Blocks:
    """Return the geometry in the superblock after mkfs; raise StripingError as `mkfs_geometry`."""
    option = mkfs_geometry(layout, filesystem, align, block_bytes)
    return detected_blocks(layout, filesystem, block_bytes, device) if option is None else option.blocks
