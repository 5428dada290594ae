"""Answer of the stripe calculator, as plain data for the command, the API and a page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from iotide_wire.geometry import (
    EXTENT_BYTES,
    LARGEST_LOG_UNIT_BYTES,
    Blocks,
    Device,
    Stripe,
    alignment_offset_bytes,
    array_stripe,
    data_disks,
    detected_pe_start_bytes,
    is_volume_aligned,
    least_filesystem_bytes,
    lvm_chunk_choices,
    mkfs_blocks,
    mkfs_geometry,
    reported_io_bytes,
    start_multiple_bytes,
    top_stripe,
)
from iotide_wire.scratch_vocabulary import (
    EXT,
    MKFS,
    MOST_CHUNK_BYTES,
    WITH_GEOMETRY,
    Alignment,
    Filesystem,
    LayoutKind,
    LvmKind,
)
from iotide_wire.striping import Layout, StripingError, parse_layout, size_text
from iotide_wire.units import KIB, MIB, format_bytes

USUAL_FILESYSTEMS: Final = (Filesystem.EXT4, Filesystem.XFS)
LEAST_BLOCK_BYTES: Final = KIB
MOST_BLOCK_BYTES: Final = 64 * KIB
DEVICE: Final = "DEVICE"


@dataclass(frozen=True, slots=True)
class MkfsAnswer:
    """One file system with one alignment.

    Attributes:
        command: arguments, with `DEVICE` for the device; null if impossible.
        unit_blocks, width_blocks: stride and stripe width in the superblock; 0 for none, null if impossible.
        problem: why it is impossible.
    """

    filesystem: Filesystem
    align: Alignment
    command: tuple[str, ...] | None
    unit_blocks: int | None
    width_blocks: int | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class StripingAnswer:
    """Numbers of a layout.

    Attributes:
        chunk_bytes, width_bytes: of the top device; null without stripes.
        minimum_io_bytes, optimal_io_bytes: as the kernel reports them for it.
        start_bytes: where the partition or file system starts on it.
        alignment_offset_bytes: as the kernel reports it for that start.
        start_is_aligned: the start is a multiple of the stripe.
        start_multiple_bytes: aligned starts are its multiples; `pvcreate --dataalignment` takes it too.
        pe_start_bytes: first extent of a PV on the arrays, where pvcreate detects the stripes.
        lvm_chunk_choices_bytes: values of `lvcreate -I` for a stripe over such arrays; empty: none fits, null: any.
    """

    layout: str
    disks: int
    data_disks: int
    chunk_bytes: int | None
    width_bytes: int | None
    minimum_io_bytes: int
    optimal_io_bytes: int
    block_bytes: int
    start_bytes: int
    alignment_offset_bytes: int
    start_is_aligned: bool
    start_multiple_bytes: int
    pe_start_bytes: int
    lvm_chunk_choices_bytes: tuple[int, ...] | None
    mkfs: tuple[MkfsAnswer, ...]
    notes: tuple[str, ...]


def striping_answer(
    layout_text: str,
    filesystems: Sequence[Filesystem] = USUAL_FILESYSTEMS,
    block_bytes: int = 4 * KIB,
    device: Device | None = None,
) -> StripingAnswer:
    """Return all numbers of a layout; raise StripingError if tools reject the layout or the block size."""
    layout, device = parse_layout(layout_text), device or Device()
    if block_bytes & (block_bytes - 1) or not LEAST_BLOCK_BYTES <= block_bytes <= MOST_BLOCK_BYTES:
        limits = f"a power of two of {size_text(LEAST_BLOCK_BYTES)} to {size_text(MOST_BLOCK_BYTES)}"
        raise StripingError("block_bytes", f"a block of {block_bytes} bytes", f"use {limits}")
    stripe, below = top_stripe(layout), array_stripe(layout)
    minimum_io_bytes, optimal_io_bytes = reported_io_bytes(layout)
    multiple_bytes = start_multiple_bytes(stripe)
    pairs = [(filesystem, align) for filesystem in filesystems for align in Alignment]
    mkfs = tuple(_mkfs(layout, filesystem, align, block_bytes, device) for filesystem, align in pairs)
    return StripingAnswer(
        layout=layout.text,
        disks=layout.disks,
        data_disks=data_disks(layout),
        chunk_bytes=stripe.chunk_bytes if stripe else None,
        width_bytes=stripe.width_bytes if stripe else None,
        minimum_io_bytes=minimum_io_bytes,
        optimal_io_bytes=optimal_io_bytes,
        block_bytes=block_bytes,
        start_bytes=device.start_bytes,
        alignment_offset_bytes=alignment_offset_bytes(stripe, device.start_bytes),
        start_is_aligned=device.start_bytes % (stripe.width_bytes if stripe else 4 * KIB) == 0,
        start_multiple_bytes=multiple_bytes,
        pe_start_bytes=detected_pe_start_bytes(below),
        lvm_chunk_choices_bytes=lvm_chunk_choices(below) if below else None,
        mkfs=mkfs,
        notes=(*_notes(layout, device), *_notes_on_mkfs(mkfs, stripe)),
    )


def _mkfs(layout: Layout, filesystem: Filesystem, align: Alignment, block_bytes: int, device: Device) -> MkfsAnswer:
    try:
        _check_possible(layout, filesystem, align, device)
        option = mkfs_geometry(layout, filesystem, align, block_bytes)
        blocks = mkfs_blocks(layout, filesystem, align, block_bytes, device)
    except StripingError as error:
        return MkfsAnswer(filesystem, align, None, None, None, str(error))
    geometry = () if option is None else (option.flag, ",".join(option.words))
    command = (MKFS[filesystem], *_block_option(filesystem, block_bytes), *geometry, *_devices(layout))
    return MkfsAnswer(filesystem, align, command, blocks.unit, blocks.width, None)


def _check_possible(layout: Layout, filesystem: Filesystem, align: Alignment, device: Device) -> None:
    if layout.kind is LayoutKind.BTRFS and filesystem is not Filesystem.BTRFS:
        raise StripingError("filesystem", f"{layout.text} holds btrfs only", "use btrfs")
    least_bytes = least_filesystem_bytes(filesystem, align)
    if device.size_bytes is not None and device.size_bytes < least_bytes:
        problem = f"{format_bytes(device.size_bytes)} is too small for {filesystem} {align}"
        raise StripingError("size", problem, f"use {format_bytes(least_bytes)} or more")


def _block_option(filesystem: Filesystem, block_bytes: int) -> tuple[str, ...]:
    if filesystem in EXT:
        return "-b", str(block_bytes)
    return ("-b", f"size={block_bytes}") if filesystem is Filesystem.XFS else ()


def _devices(layout: Layout) -> tuple[str, ...]:
    if layout.profile is None:
        return (DEVICE,)
    return ("-d", layout.profile, "-m", layout.profile, *[f"{DEVICE}{number}" for number in range(1, layout.disks + 1)])


def _notes(layout: Layout, device: Device) -> Iterator[str]:
    stripe, below = top_stripe(layout), array_stripe(layout)
    if stripe is not None and device.start_bytes % stripe.width_bytes:
        yield (
            f"The start {size_text(device.start_bytes)} is no multiple of the stripe {size_text(stripe.width_bytes)}; "
            f"start at a multiple of {size_text(start_multiple_bytes(stripe))}."
        )
    if layout.lvm is LvmKind.LINEAR and max(layout.arrays, 1 if layout.level else layout.disks) > 1:
        yield "A file is on one leg of a linear volume at a time; `lvcreate -i N -I chunk` stripes over all."
    if below is not None:
        yield from _notes_on_lvm(layout, below)


def _notes_on_lvm(layout: Layout, below: Stripe) -> Iterator[str]:
    width = size_text(below.width_bytes)
    if not is_volume_aligned(below, MIB):
        yield (
            f"A PV whose data starts at 1M is not aligned with {width}, and no tool reports it: leave detection on, "
            f"or use `pvcreate --dataalignment {size_text(start_multiple_bytes(below))}`."
        )
    if not is_volume_aligned(below, detected_pe_start_bytes(below), first_extent=1):
        yield f"Make one volume for each group: extents of {size_text(EXTENT_BYTES)} are no multiple of {width}."
    if layout.lvm is not LvmKind.STRIPE:
        return
    yield "mkfs detects the LVM stripe only, not the arrays below."
    stripe, choices = top_stripe(layout), lvm_chunk_choices(below)
    if not choices:
        what = f"No power of two up to {size_text(MOST_CHUNK_BYTES)} is a multiple of {width}"
        yield f"{what} ({below.data_disks} data disks), so no -I keeps full stripes."
    elif stripe is not None and stripe.chunk_bytes % below.width_bytes:
        yield f"-I should be a multiple of {width}: {', '.join(size_text(choice) for choice in choices)}."


def _notes_on_mkfs(answers: Sequence[MkfsAnswer], stripe: Stripe | None) -> Iterator[str]:
    is_xfs = any(answer.filesystem is Filesystem.XFS for answer in answers)
    if is_xfs and stripe is not None and stripe.chunk_bytes > LARGEST_LOG_UNIT_BYTES:
        yield f"XFS logs in units of 32K, since a chunk of {size_text(stripe.chunk_bytes)} is above 256K."
    for filesystem in dict.fromkeys(answer.filesystem for answer in answers if answer.filesystem in WITH_GEOMETRY):
        for align in _same_as_default([answer for answer in answers if answer.filesystem is filesystem]):
            yield f"{filesystem}: {align} makes the same geometry as default."


def _same_as_default(answers: Sequence[MkfsAnswer]) -> list[Alignment]:
    by_align = {a.align: Blocks(a.unit_blocks or 0, a.width_blocks or 0) for a in answers if a.problem is None}
    default = by_align.pop(Alignment.DEFAULT, None)
    return [align for align, blocks in by_align.items() if blocks == default]
