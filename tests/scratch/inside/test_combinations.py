"""Every layout and file system of the vocabulary's tools on disks with serial numbers, under udev."""

import os
from pathlib import Path
from typing import Any, Final

import pytest
from scratch.inside.cases import CASES, Case
from scratch.inside.rig import done, leftovers, new_order, performed, run

from iotide_wire.geometry import START_BYTES, Blocks, Device, mkfs_blocks, reported_io_bytes
from iotide_wire.scratch_vocabulary import WITH_GEOMETRY, Alignment, Filesystem, LayoutKind
from iotide_wire.striping import Layout

BLOCK_BYTES: Final = 4096
READ: Final = {Filesystem.XFS: ("data_sunit", "data_swidth")}
EXT_READ: Final = ("stride_blocks", "stripe_width_blocks")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_combination_is_made_mounted_written_and_wiped(case: Case) -> None:
    order = new_order()
    performed("recover")  # of a failed combination before
    made = done("make", **order, **case.words)
    point = Path(done("mount", **order, options={"noatime": True})["mount"])
    (point / "file").write_bytes(os.urandom(8 * 1024**2))
    os.sync()
    assert run("findmnt", "--noheadings", "--output", "FSTYPE", str(point)).strip() == case.fs["type"]
    expect_calculated(case, made["geometry"])
    done("wipe", **order)
    assert leftovers() == []


def expect_calculated(case: Case, geometry: dict[str, dict[str, Any]]) -> None:
    """Compare what the tools read back with what the calculator says before."""
    layout, filesystem = case.layout, Filesystem(case.fs["type"])
    (top, facts) = [*geometry.items()][1]
    assert (facts["minimum_io_size"], facts["optimal_io_size"]) == reported_io_bytes(layout), top
    if filesystem in WITH_GEOMETRY:
        start_bytes = START_BYTES[layout.start] if layout.kind is LayoutKind.OFFSET else 0
        align = Alignment(case.fs.get("align", "default"))
        device = Device(start_bytes, facts["size_bytes"])
        unit, width = (geometry["fs"].get(name, 0) for name in READ.get(filesystem, EXT_READ))
        assert Blocks(unit, width) == calculated(mkfs_blocks(layout, filesystem, align, BLOCK_BYTES, device), case)
    expect_parts(layout, geometry)


def calculated(blocks: Blocks, case: Case) -> Blocks:
    """Return the superblock's values; `unaligned` has mke2fs write a stride of one block."""
    is_ext = case.fs["type"].startswith("ext")
    return Blocks(1, 1) if is_ext and case.fs.get("align") == "unaligned" else blocks


def expect_parts(layout: Layout, geometry: dict[str, dict[str, Any]]) -> None:
    arrays = [facts for facts in geometry.values() if "level_text" in facts]
    assert [facts["level_text"] for facts in arrays] == [layout.level] * len(arrays)
    assert len({*map(str, arrays)} if layout.level is None else arrays) == (layout.arrays if layout.level else 0)
    if layout.chunk_bytes is not None:
        assert {facts["chunk_text"] for facts in arrays} == {f"{layout.chunk_bytes // 1024}K"}
    if layout.lvm_chunk_bytes is not None:
        table = next(facts["table"] for facts in geometry.values() if "table" in facts)
        legs = layout.arrays if layout.kind is LayoutKind.LVM_MD else layout.disks
        assert f" striped {legs} {layout.lvm_chunk_bytes // 512} " in table
