"""Layouts and makes of scratch disks: their canonical texts, and everything that no node may be asked for."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

import iotide_wire
from iotide_wire.scratch import ScratchMake
from iotide_wire.scratch_vocabulary import (
    LEAST_BTRFS_DISKS,
    LEAST_DISKS,
    LEAST_FILESYSTEM_BYTES,
    MKFS,
    MOUNT_OPTIONS,
    BtrfsProfile,
    Filesystem,
    LayoutKind,
    LvmKind,
    MdLevel,
)
from iotide_wire.striping import Layout, StripingError, parse_layout, parse_size
from iotide_wire.units import KIB, MIB

RAID5 = {"kind": "md", "disks": 4, "level": "raid5", "chunk_bytes": 64 * KIB}


@pytest.mark.parametrize(
    "text",
    [
        "single",
        "offset 63s",
        "raid0 4x64K",
        "raid1 2",
        "raid5 4x64K",
        "raid6 6x512K",
        "raid10 4x1M",
        "lvm linear 4",
        "lvm stripe 3x256K",
        "lvm linear on raid5 4x64K",
        "lvm linear on 3 raid5 5x64K",
        "lvm stripe 3x256K on raid5 5x64K",
        "lvm stripe 2x256K on raid1 2",
        "btrfs raid1 4",
    ],
)
def test_a_canonical_text_is_read_as_the_layout_that_it_describes(text: str) -> None:
    assert parse_layout(text).text == text


def test_short_forms_of_the_command_line_mean_the_canonical_layout() -> None:
    assert parse_layout("raid5:4x64 KiB") == parse_layout("raid5 4x64K")
    over = parse_layout("lvm-stripe:3x256K/raid5:5x64K")
    assert over == Layout(
        LayoutKind.LVM_MD, 15, MdLevel.RAID5, 64 * KIB, arrays=3, lvm=LvmKind.STRIPE, lvm_chunk_bytes=256 * KIB
    )
    assert over.array_disks == 5
    assert parse_layout("offset") == parse_layout("offset:63s")
    assert parse_size("1M") == MIB


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        ("raid5:4x48K", "chunk_bytes", "a chunk of 48K; use a power of two of 4K to 4M"),
        ("raid5:4x2K", "chunk_bytes", "a chunk of 2K; use a power of two"),
        ("raid5:4x8M", "chunk_bytes", "a chunk of 8M"),
        ("lvm-stripe:3x192K", "lvm_chunk_bytes", "a chunk of 192K"),
        ("raid1:2x64K", "chunk_bytes", "raid1 has no chunk_bytes; leave it out"),
        ("raid5:4", "chunk_bytes", "raid5 needs chunk_bytes"),
        ("lvm-stripe:4", "lvm_chunk_bytes", "lvm stripe needs lvm_chunk_bytes"),
        ("lvm-linear:4x64K", "lvm_chunk_bytes", "lvm linear has no lvm_chunk_bytes"),
        ("raid0:1x64K", "disks", "1 disks for raid0 1x64K; use at least 2"),
        ("raid1:1", "disks", "use at least 2"),
        ("raid5:2x64K", "disks", "use at least 3"),
        ("raid6:3x64K", "disks", "use at least 4"),
        ("raid10:2x64K", "disks", "use at least 4"),
        ("raid10:5x64K", "disks", "5 disks for raid10; use an even number"),
        ("btrfs-raid6:3", "disks", "use at least 4"),
        ("raid0:65x64K", "disks", "65 disks; use 1 to 64"),
        ("lvm-stripe:1x64K/raid1:2", "arrays", "an LVM stripe over 1 array"),
        ("lvm-linear/17 raid1:2", "arrays", "17 arrays of 34 disks"),
        ("raid4:4x64K", "layout", "'raid4:4x64K' is not a layout; write for instance single"),
        ("3 raid5:4x64K", "layout", "is not a layout"),
        ("btrfs-raid9:4", "layout", "is not a layout"),
        ("/dev/sda", "layout", "is not a layout"),
        ("", "layout", "is not a layout"),
    ],
)
def test_what_no_tool_makes_is_rejected_with_its_field(text: str, field: str, words: str) -> None:
    with pytest.raises(StripingError) as caught:
        parse_layout(text)
    assert caught.value.field == field
    assert words in str(caught.value)


def test_a_make_survives_its_json_and_has_no_free_text() -> None:
    given = {
        "layout": RAID5 | {"bitmap": "internal", "sync": "assume_clean"},
        "fs": {"type": "ext4", "align": "aligned", "data": "journal", "size_percent": 50},
        "mount": {"noatime": True, "commit": 30},
    }
    made = ScratchMake.model_validate_json(json.dumps(given))
    assert ScratchMake.model_validate_json(made.model_dump_json()) == made
    assert made.layout.layout.text == "raid5 4x64K"


@pytest.mark.parametrize(
    ("part", "given", "words"),
    [
        ("layout", RAID5 | {"chunk_bytes": 3}, "a chunk of 3"),
        ("layout", RAID5 | {"disks": 65}, "less than or equal to 64"),
        ("layout", RAID5 | {"disks": "4"}, "valid integer"),
        ("layout", RAID5 | {"disks": True}, "valid integer"),
        ("layout", RAID5 | {"device": "/dev/sda"}, "Extra inputs"),
        ("layout", RAID5 | {"level": "raid4"}, "raid0"),
        ("layout", RAID5 | {"kind": "single"}, "has no level"),
        ("layout", RAID5 | {"start": "63s"}, "63s as the start of md"),
        ("layout", RAID5 | {"level": "raid0", "bitmap": "internal"}, "has no bitmap"),
        ("layout", {"kind": "btrfs", "disks": 2, "profile": "raid1"}, "holds Btrfs alone"),
        ("layout", {"kind": "lvm-md", **{k: v for k, v in RAID5.items() if k != "kind"}}, "needs lvm"),
        ("layout", {"kind": "single", "disks": 2}, "use 1"),
        ("layout", {"kind": "md", "disks": 4, "arrays": 2, "level": "raid1"}, "2 arrays of 4 disks"),
        ("fs", {"type": "zfs"}, "ext2"),
        ("fs", {"type": "xfs", "data": "journal"}, "xfs has no mount option data"),
        ("fs", {"type": "jfs", "align": "aligned"}, "no option for stripes"),
        ("fs", {"type": "ext4", "block_bytes": 1024}, "not a block size"),
        ("fs", {"type": "ext4", "size_percent": 0}, "greater than or equal to 1"),
        ("fs", {"type": "ext4", "options": "-O quota"}, "Extra inputs"),
        ("mount", {"bind": True}, "ext4 has no mount option 'bind'"),
        ("mount", {"noatime": False}, "use no value"),
        ("mount", {"commit": True}, "a whole number of 1 to 900"),
        ("mount", {"commit": 901}, "a whole number of 1 to 900"),
        ("mount", {"logbsize": "256k"}, "ext4 has no mount option 'logbsize'"),
    ],
)
def test_a_make_beyond_the_vocabulary_is_rejected(part: str, given: dict[str, object], words: str) -> None:
    whole: dict[str, object] = {"layout": {"kind": "single"}, "fs": {"type": "ext4"}, "mount": {}}
    with pytest.raises(ValidationError, match=words.replace("(", r"\(")):
        ScratchMake.model_validate_json(json.dumps(whole | {part: given}))


def test_words_of_mount_options_are_their_only_values() -> None:
    whole = {"layout": {"kind": "single"}, "fs": {"type": "xfs"}}
    assert ScratchMake.model_validate(whole | {"mount": {"logbsize": "256k", "logbufs": 8}}).mount["logbufs"] == 8
    for value in ("256k,dev", 256, True):
        with pytest.raises(ValidationError, match="one of 16k"):
            ScratchMake.model_validate(whole | {"mount": {"logbsize": value}})


def test_each_word_has_its_rules() -> None:
    for table in (MKFS, MOUNT_OPTIONS, LEAST_FILESYSTEM_BYTES):
        assert set(table) == set(Filesystem)
    assert set(LEAST_DISKS) == set(MdLevel)
    assert set(LEAST_BTRFS_DISKS) == set(BtrfsProfile)


def test_the_nodes_root_program_needs_the_standard_library_alone() -> None:
    packages = Path(iotide_wire.__file__).parent.parent
    program = (
        f"import sys; sys.path.insert(0, {str(packages)!r}); import iotide_wire.striping_answer\n"
        "assert not [name for name in sys.modules if name.startswith('pydantic')]"
    )
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True)
