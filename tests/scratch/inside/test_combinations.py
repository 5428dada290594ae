"""Every layout and file system of the vocabulary's tools on disks with serial numbers, under udev."""

import os
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from scratch.inside.rig import leftovers, performed, prepare

from iotide_wire.striping import parse_layout

MD: Final = {"sync": "assume_clean"}
CASES: Final[tuple[tuple[str, dict[str, Any], dict[str, Any]], ...]] = (
    ("single", {}, {"type": "ext2"}),
    ("single", {}, {"type": "ext3", "data": "ordered"}),
    ("single", {}, {"type": "ext3", "data": "writeback"}),
    ("single", {}, {"type": "ext3", "data": "journal"}),
    ("single", {}, {"type": "ext4"}),
    ("single", {}, {"type": "xfs"}),
    ("single", {}, {"type": "btrfs"}),
    ("single", {}, {"type": "jfs", "size_percent": 50}),
    ("single", {}, {"type": "reiserfs", "size_percent": 50}),
    ("single", {}, {"type": "f2fs", "size_percent": 50}),
    ("offset 63s", {}, {"type": "ext4"}),
    ("raid0 4x64K", {}, {"type": "ext4", "align": "aligned"}),
    ("raid0 4x64K", {}, {"type": "xfs", "align": "unaligned"}),
    ("raid1 2", MD, {"type": "ext4"}),
    ("raid5 3x256K", {"sync": "wait"}, {"type": "xfs"}),
    ("raid6 4x64K", MD | {"bitmap": "internal"}, {"type": "ext4", "align": "aligned"}),
    ("raid10 4x64K", MD, {"type": "xfs"}),
    ("lvm linear 2", {}, {"type": "ext4"}),
    ("lvm stripe 4x256K", {}, {"type": "xfs", "align": "aligned"}),
    ("lvm stripe 3x64K", {}, {"type": "ext4", "align": "aligned"}),
    ("lvm linear on raid5 4x64K", MD, {"type": "ext4", "align": "aligned"}),
    ("lvm stripe 2x256K on raid0 2x64K", {}, {"type": "xfs"}),
    ("btrfs raid0 3", {}, {"type": "btrfs"}),
    ("btrfs raid1 2", {}, {"type": "btrfs"}),
    ("btrfs raid5 3", {}, {"type": "btrfs"}),
)


@pytest.fixture(scope="module", autouse=True)
def adopted() -> None:
    prepare()


@pytest.mark.parametrize(("text", "more", "fs"), CASES, ids=lambda value: str(value).replace(" ", "_"))
def test_a_combination_is_made_mounted_written_and_wiped(text: str, more: dict[str, Any], fs: dict[str, Any]) -> None:
    layout = parse_layout(text)
    names = ("kind", "disks", "level", "chunk_bytes", "arrays", "lvm", "lvm_chunk_bytes", "profile", "start")
    sent = {name: getattr(layout, name) for name in names if getattr(layout, name) is not None} | more
    order: dict[str, Any] = {"order": 1 + CASES.index((text, more, fs)), "fence": 7}
    performed("recover")  # of a failed combination before
    made = performed("make", **order, layout=sent, fs=fs)
    assert made["outcome"] == "done", made["reason"]
    mounted = performed("mount", **order, options={"noatime": True})
    assert mounted["outcome"] == "done", mounted["reason"]
    point = Path(mounted["answer"]["mount"])
    (point / "file").write_bytes(os.urandom(8 * 1024**2))
    os.sync()
    shown = subprocess.check_output(("findmnt", "--noheadings", "--output", "FSTYPE", point), text=True)
    assert shown.strip() == fs["type"]
    expect_geometry(text, fs, made["answer"]["geometry"])
    wiped = performed("wipe", **order)
    assert wiped["outcome"] == "done", wiped["reason"]
    assert leftovers() == []


def expect_geometry(text: str, fs: dict[str, Any], geometry: dict[str, Any]) -> None:
    read = {
        "raid0 4x64K": ("stride_blocks", 16, "stripe_width_blocks", 64),
        "raid6 4x64K": ("stride_blocks", 16, "stripe_width_blocks", 32),
        "lvm stripe 3x64K": ("stride_blocks", 16, "stripe_width_blocks", 48),
        "lvm linear on raid5 4x64K": ("stride_blocks", 16, "stripe_width_blocks", 48),
        "lvm stripe 4x256K": ("data_sunit", 64, "data_swidth", 256),
    }.get(text)
    if read is not None and fs.get("align") == "aligned":
        unit, unit_blocks, width, width_blocks = read
        assert (geometry["fs"][unit], geometry["fs"][width]) == (unit_blocks, width_blocks)
