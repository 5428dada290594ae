"""Geometry options of the calculator, as mkfs itself reads and stores them."""

import subprocess
from pathlib import Path

import pytest

from iotide_wire.geometry import LEAST_STRIPED_XFS_BYTES, mkfs_geometry
from iotide_wire.scratch_vocabulary import MKFS, Alignment, Filesystem
from iotide_wire.striping import parse_layout

_ENVIRONMENT = {"PATH": "/usr/sbin:/sbin:/usr/bin:/bin"}


def _printed(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, env=_ENVIRONMENT).stdout


@pytest.fixture
def image(tmp_path: Path) -> str:
    file = tmp_path / "image"
    with file.open("wb") as opened:
        opened.truncate(LEAST_STRIPED_XFS_BYTES)
    return str(file)


@pytest.mark.parametrize(("text", "log_blocks"), [("raid5:4x64K", 16), ("lvm-stripe:3x256K", 64), ("raid0:3x512K", 8)])
def test_xfs_takes_the_aligned_geometry(image: str, text: str, log_blocks: int) -> None:
    option = mkfs_geometry(parse_layout(text), Filesystem.XFS, Alignment.ALIGNED, 4096)
    assert option is not None
    printed = " ".join(_printed("mkfs.xfs", "-N", option.flag, ",".join(option.words), image).split())
    assert f"sunit={option.blocks.unit} swidth={option.blocks.width} blks" in printed
    assert f"sunit={log_blocks} blks" in printed


@pytest.mark.parametrize("filesystem", [Filesystem.EXT2, Filesystem.EXT3, Filesystem.EXT4])
def test_ext_stores_the_aligned_geometry(image: str, filesystem: Filesystem) -> None:
    option = mkfs_geometry(parse_layout("raid5:4x64K"), filesystem, Alignment.ALIGNED, 4096)
    assert option is not None
    _printed(MKFS[filesystem], "-q", "-b", "4096", option.flag, ",".join(option.words), image)
    stored = " ".join(_printed("dumpe2fs", "-h", image).split())
    assert f"RAID stride: {option.blocks.unit} RAID stripe width: {option.blocks.width}" in stored
