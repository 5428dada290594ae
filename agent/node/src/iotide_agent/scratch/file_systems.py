"""Arguments of mkfs and mount. Pure.

Fixed for all: no lazy initialisation, whose thread would disturb a run, and no discard, which is a step of its own.
No option here turns off a tool's exclusive claim of its device: a single `-F` or `-f` only overrides a signature.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.requests import Making
from iotide_wire.geometry import mkfs_geometry
from iotide_wire.scratch_vocabulary import (
    EXT,
    MKFS,
    MOUNT_OPTIONS,
    SECTOR_BYTES,
    WHOLE_PERCENT,
    BtrfsProfile,
    Filesystem,
)

ALWAYS: Final = ("nodev", "nosuid")
"""A file system may hold anything that a load wrote."""
_DATA_MODE: Final = "data"
_PLACED_METADATA: Final[Mapping[BtrfsProfile, BtrfsProfile]] = {
    BtrfsProfile.RAID0: BtrfsProfile.RAID1,
    BtrfsProfile.RAID5: BtrfsProfile.RAID1,
    BtrfsProfile.RAID6: BtrfsProfile.RAID1C3,
}
"""Profile of the metadata where it differs from that of the data: btrfs(5) advises against parity for metadata."""


def mkfs(making: Making, devices: Sequence[str], size_bytes: int) -> list[str]:
    """Return the command that makes the file system on `devices`, one except for Btrfs.

    `size_bytes` is the size of the device, or of the smallest one.
    """
    return _MKFS[making.type](making, devices, size_bytes * making.size_percent // 100)


def mount_options(making: Making, asked: Mapping[str, bool | int | str], devices: Sequence[str]) -> str:
    """Return the argument of `mount -o`; raise ScratchRefusedError for an option of another file system."""
    known = MOUNT_OPTIONS[making.type]
    for name, value in asked.items():
        if name not in known or not known[name].accepts(value):
            raise ScratchRefusedError(f"{making.type} has no mount option {name} with this value")
    words = [name if value is True else f"{name}={value}" for name, value in asked.items()]
    if making.data is not None:
        words.append(f"{_DATA_MODE}={making.data}")
    if making.type is Filesystem.BTRFS:
        # The kernel mounts the members that it scanned last, so each is named.
        words += [f"device={device}" for device in devices]
    return ",".join((*ALWAYS, *words))


def _ext(making: Making, devices: Sequence[str], size_bytes: int) -> list[str]:
    words = ["lazy_itable_init=0", "nodiscard"]
    if making.type is not Filesystem.EXT2:
        words.append("lazy_journal_init=0")
    words += _geometry(making)
    options = ["-q", "-F", "-b", str(making.block_bytes), "-E", ",".join(words)]
    return [MKFS[making.type], *options, devices[0], *_blocks(making, size_bytes, making.block_bytes)]


def _xfs(making: Making, devices: Sequence[str], size_bytes: int) -> list[str]:
    words = list(_geometry(making))
    if making.size_percent < WHOLE_PERCENT:
        words.append(f"size={size_bytes // making.block_bytes * making.block_bytes}")
    options = ["-b", f"size={making.block_bytes}", *(("-d", ",".join(words)) if words else ())]
    return [MKFS[making.type], "-q", "-f", "-K", *options, devices[0]]


def _btrfs(making: Making, devices: Sequence[str], size_bytes: int) -> list[str]:
    options = ["-q", "-f", "-K"]
    profile = making.layout.profile
    if profile is not None:
        options += ["-d", profile, "-m", _PLACED_METADATA.get(profile, profile)]
    if making.size_percent < WHOLE_PERCENT:
        options += ["-b", str(size_bytes // making.block_bytes * making.block_bytes)]
    return [MKFS[making.type], *options, *devices]


def _jfs(making: Making, devices: Sequence[str], size_bytes: int) -> list[str]:
    return [MKFS[making.type], "-q", devices[0], *_blocks(making, size_bytes, making.block_bytes)]


def _reiserfs(making: Making, devices: Sequence[str], size_bytes: int) -> list[str]:
    # `-q` asks nothing. `-f` would also override a mount.
    options = ["-q", "-b", str(making.block_bytes)]
    return [MKFS[making.type], *options, devices[0], *_blocks(making, size_bytes, making.block_bytes)]


def _f2fs(making: Making, devices: Sequence[str], size_bytes: int) -> list[str]:
    return [MKFS[making.type], "-q", "-f", "-t", "0", devices[0], *_blocks(making, size_bytes, SECTOR_BYTES)]


def _geometry(making: Making) -> tuple[str, ...]:
    found = mkfs_geometry(making.layout, making.type, making.align, making.block_bytes)
    return () if found is None else found.words


def _blocks(making: Making, size_bytes: int, block_bytes: int) -> list[str]:
    return [str(size_bytes // block_bytes)] if making.size_percent < WHOLE_PERCENT else []


_MKFS: Final[Mapping[Filesystem, Callable[[Making, Sequence[str], int], list[str]]]] = {
    **dict.fromkeys(EXT, _ext),
    Filesystem.XFS: _xfs,
    Filesystem.JFS: _jfs,
    Filesystem.REISERFS: _reiserfs,
    Filesystem.F2FS: _f2fs,
    Filesystem.BTRFS: _btrfs,
}
