"""Stripe geometry: the values that Linux 6.1, mdadm 4.2, lvm2 2.03.16, e2fsprogs 1.47 and xfsprogs 6.1 showed."""

from dataclasses import asdict
from json import dumps

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_wire.geometry import (
    START_BYTES,
    Blocks,
    Device,
    Stripe,
    alignment_offset_bytes,
    data_disks,
    detected_blocks,
    detected_pe_start_bytes,
    is_volume_aligned,
    lvm_chunk_choices,
    mkfs_blocks,
    mkfs_geometry,
    reported_io_bytes,
    start_multiple_bytes,
)
from iotide_wire.scratch_vocabulary import WITH_GEOMETRY, Alignment, Filesystem, Start
from iotide_wire.striping import StripingError, parse_layout
from iotide_wire.striping_answer import striping_answer
from iotide_wire.units import GIB, KIB, MIB

EXT4, XFS = Filesystem.EXT4, Filesystem.XFS
RAID5 = parse_layout("raid5:4x64K")
RAID5_STRIPE = Stripe(64 * KIB, 3)


@pytest.mark.parametrize(
    ("text", "minimum_kib", "optimal_kib", "ext4", "xfs"),
    [
        ("raid0:4x64K", 64, 256, (16, 64), (16, 64)),
        ("raid5:4x64K", 64, 192, (16, 48), (16, 48)),
        ("lvm-linear/raid5:4x64K", 64, 192, (16, 48), (16, 48)),
        ("raid6:4x64K", 64, 128, (16, 32), (16, 32)),
        ("raid10:4x64K", 64, 128, (16, 32), (16, 32)),
        ("raid1:2", 0.5, 0, (0, 0), (0, 0)),
        ("lvm-linear:4", 0.5, 0, (0, 0), (0, 0)),
        ("single", 0.5, 0, (0, 0), (0, 0)),
        ("lvm-stripe:4x256K", 256, 1024, (64, 256), (64, 256)),
        ("lvm-stripe:4x64K", 64, 256, (16, 64), (16, 64)),
        ("lvm-stripe:2x256K/raid0:2x64K", 256, 512, (64, 128), (64, 128)),
    ],
)
def test_the_kernel_reports_and_mkfs_takes_the_recorded_values(
    text: str, minimum_kib: float, optimal_kib: int, ext4: tuple[int, int], xfs: tuple[int, int]
) -> None:
    layout = parse_layout(text)
    assert reported_io_bytes(layout) == (minimum_kib * KIB, optimal_kib * KIB)
    assert detected_blocks(layout, EXT4, 4096, Device()) == Blocks(*ext4)
    assert detected_blocks(layout, XFS, 4096, Device()) == Blocks(*xfs)


def test_a_start_at_63_sectors_costs_xfs_its_geometry_but_not_ext() -> None:
    device = Device(START_BYTES[Start.SECTORS_63])
    assert alignment_offset_bytes(RAID5_STRIPE, device.start_bytes) == 33280
    assert detected_blocks(RAID5, EXT4, 4096, device) == Blocks(16, 48)
    assert detected_blocks(RAID5, XFS, 4096, device) == Blocks()
    assert detected_blocks(RAID5, XFS, 4096, Device(MIB)) == Blocks(16, 48)  # alignment_offset is 0


def test_a_small_xfs_is_made_without_geometry() -> None:
    assert detected_blocks(RAID5, XFS, 4096, Device(size_bytes=GIB - 1)) == Blocks()
    assert detected_blocks(RAID5, XFS, 4096, Device(size_bytes=GIB)) == Blocks(16, 48)


@pytest.mark.parametrize(
    ("text", "filesystem", "words"),
    [
        ("raid5:4x64K", Filesystem.EXT3, ("stride=16", "stripe_width=48")),
        ("raid5:5x64K", Filesystem.EXT3, ("stride=16", "stripe_width=64")),
        ("raid5:5x64K", XFS, ("su=64k", "sw=4")),
        ("raid10:6x1M", XFS, ("su=1m", "sw=3")),
        ("lvm-stripe:4x256K", EXT4, ("stride=64", "stripe_width=256")),
        ("lvm-linear/raid6:6x64K", XFS, ("su=64k", "sw=4")),
        ("lvm-stripe:2x256K/raid0:2x64K", XFS, ("su=256k", "sw=2")),
    ],
)
def test_aligned_names_the_stripe(text: str, filesystem: Filesystem, words: tuple[str, ...]) -> None:
    option = mkfs_geometry(parse_layout(text), filesystem, Alignment.ALIGNED, 4096)
    assert option is not None
    assert option.words == words


@pytest.mark.parametrize("filesystem", [Filesystem.EXT2, XFS])
def test_unaligned_leaves_no_geometry_where_default_detects_it(filesystem: Filesystem) -> None:
    made = {align: mkfs_blocks(RAID5, filesystem, align, 4096, Device()) for align in Alignment}
    assert made == {
        Alignment.DEFAULT: Blocks(16, 48),
        Alignment.ALIGNED: Blocks(16, 48),
        Alignment.UNALIGNED: Blocks(),
    }


@pytest.mark.parametrize(
    ("text", "filesystem", "align", "words"),
    [
        ("single", EXT4, Alignment.ALIGNED, "single has no stripe; use default"),
        ("raid1:2", XFS, Alignment.ALIGNED, "raid1 2 has no stripe"),
        ("lvm-linear:3", EXT4, Alignment.ALIGNED, "has no stripe"),
        ("lvm-linear/raid1:2", EXT4, Alignment.ALIGNED, "has no stripe"),
        ("raid5:4x64K", Filesystem.JFS, Alignment.ALIGNED, "mkfs.jfs has no option for stripes"),
        ("raid5:4x64K", Filesystem.BTRFS, Alignment.UNALIGNED, "mkfs.btrfs has no option for stripes"),
        ("lvm-stripe:3x256K/raid5:4x64K", EXT4, Alignment.ALIGNED, "use 1, 2, 4 or 8 data disks instead of 3"),
        ("lvm-stripe:3x64K/raid5:5x64K", XFS, Alignment.ALIGNED, "of 256K below; use -I 256K or 512K or 1M"),
    ],
)
def test_what_cannot_be_aligned_says_why(text: str, filesystem: Filesystem, align: Alignment, words: str) -> None:
    with pytest.raises(StripingError) as caught:
        mkfs_geometry(parse_layout(text), filesystem, align, 4096)
    assert words in str(caught.value)


def test_a_chunk_smaller_than_a_block_cannot_be_aligned() -> None:
    with pytest.raises(StripingError, match="a chunk of 4K holds no whole block of 64K"):
        mkfs_geometry(parse_layout("raid0:2x4K"), XFS, Alignment.ALIGNED, 64 * KIB)


@pytest.mark.parametrize(
    ("text", "disks"), [("raid10:6x64K", 3), ("raid6:12x64K", 10), ("raid1:3", 1), ("single", 1), ("btrfs-raid0:4", 4)]
)
def test_data_disks(text: str, disks: int) -> None:
    assert data_disks(parse_layout(text)) == disks


def test_a_stripe_over_arrays_adds_their_data_disks() -> None:
    assert data_disks(parse_layout("lvm-stripe:3x256K/raid5:5x64K")) == 12
    assert data_disks(parse_layout("lvm-linear/3 raid5:5x64K")) == 4


def test_a_pv_at_one_mebibyte_splits_stripes_of_192_kib() -> None:
    assert detected_pe_start_bytes(RAID5_STRIPE) == 1152 * KIB
    assert is_volume_aligned(RAID5_STRIPE, 1152 * KIB)
    assert not is_volume_aligned(RAID5_STRIPE, MIB)
    assert not is_volume_aligned(RAID5_STRIPE, 1152 * KIB, first_extent=1)
    assert is_volume_aligned(RAID5_STRIPE, 1152 * KIB, first_extent=3)
    assert start_multiple_bytes(RAID5_STRIPE) == 3 * MIB
    assert start_multiple_bytes(None) == MIB


@pytest.mark.parametrize("disks", [3, 5, 6, 7, 9])
def test_no_lvm_chunk_keeps_stripes_of_data_disks_that_are_no_power_of_two(disks: int) -> None:
    assert lvm_chunk_choices(Stripe(64 * KIB, disks)) == ()


def test_lvm_chunks_are_the_powers_of_two_from_a_full_stripe_on() -> None:
    assert lvm_chunk_choices(Stripe(256 * KIB, 4)) == (MIB, 2 * MIB, 4 * MIB)


chunks = st.integers(0, 10).map(lambda power: 4 * KIB << power)


@given(chunks, st.integers(1, 63), st.integers(0, 2**40))
def test_each_aligned_start_is_a_multiple_that_the_calculator_names(chunk: int, disks: int, factor: int) -> None:
    stripe = Stripe(chunk, disks)
    start_bytes = factor * start_multiple_bytes(stripe)
    assert start_bytes % stripe.width_bytes == 0
    assert alignment_offset_bytes(stripe, start_bytes) == 0
    assert is_volume_aligned(stripe, detected_pe_start_bytes(stripe))
    assert MIB <= detected_pe_start_bytes(stripe) < MIB + stripe.width_bytes


def test_the_answer_is_plain_data_with_every_file_system_and_alignment() -> None:
    answer = striping_answer("raid5:4x64K", list(Filesystem))
    assert len(answer.mkfs) == len(Filesystem) * len(Alignment)
    assert {mkfs.filesystem for mkfs in answer.mkfs if mkfs.problem} == set(Filesystem) - WITH_GEOMETRY
    assert '"width_bytes": 196608' in dumps(asdict(answer))
    assert "ext4: aligned makes the same geometry as default." in answer.notes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("raid0:4x512K", "XFS logs in units of 32K"),
        ("raid5:4x64K", "`pvcreate --dataalignment 3M`"),
        ("raid5:4x64K", "extents of 4M are no multiple of 192K"),
        ("lvm-linear:4", "A file is on one leg of a linear volume at a time"),
        ("lvm-stripe:3x256K/raid5:4x64K", "(3 data disks), so no -I keeps full stripes"),
        ("lvm-stripe:3x64K/raid5:5x64K", "-I should be a multiple of 256K: 256K, 512K, 1M, 2M, 4M."),
        ("lvm-stripe:3x256K/raid5:5x64K", "mkfs detects the LVM stripe only"),
    ],
)
def test_notes_name_what_no_tool_reports(text: str, words: str) -> None:
    assert words in " ".join(striping_answer(text).notes)


def test_an_aligned_raid_has_no_note_about_its_volumes() -> None:
    assert striping_answer("raid5:5x64K", [XFS]).notes == ("xfs: aligned makes the same geometry as default.",)
    assert striping_answer("lvm-linear/raid5:5x64K", [XFS]).notes == striping_answer("raid5:5x64K", [XFS]).notes


def test_a_device_that_is_too_small_has_no_command() -> None:
    answer = striping_answer("raid5:4x64K", [XFS], device=Device(size_bytes=512 * MIB))
    assert [mkfs.problem is None for mkfs in answer.mkfs] == [True, False, True]
    assert "use 600 MiB or more" in str(answer.mkfs[1].problem)
