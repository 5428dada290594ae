"""Local file systems: ext2, ext3, ext4, XFS, JFS, ReiserFS and Btrfs by their own tools, and tmpfs."""

import re
from collections.abc import Iterable
from typing import ClassVar, Final

from iotide_agent.probes.base import (
    CommandProbe,
    Probe,
    Texts,
    known,
    labelled,
    named_numbers,
    number,
    text_of,
    unavailable_fact,
)
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, FileWant, Unavailable, Want
from iotide_wire.facts import Facts
from iotide_wire.units import GIB, KIB, MIB

_EXT_FIELDS: Final = {
    "Block size": "ext.block_bytes",
    "Inode size": "ext.inode_bytes",
    "Inode count": "ext.inode_count",
    "Reserved block count": "ext.reserved_blocks",
}
_EXT_STRIPES: Final = {"RAID stride": "ext.stripe_unit_bytes", "RAID stripe width": "ext.stripe_width_bytes"}
"""In file system blocks, with XFS's names, to compare both with the RAID below."""
_EXT_LINE: Final = re.compile(r"^([A-Z][^:\n]*):[ \t]*(.*)$", re.MULTILINE)
_EXT_STATES: Final = frozenset({"needs_recovery", "orphan_present"})
"""Features that change while the file system is mounted."""
_XFS_NUMBER: Final = re.compile(r"([A-Za-z][\w-]*)=(\d{1,18})\b", re.ASCII)
_XFS_FEATURES: Final = (
    "crc",
    "finobt",
    "sparse",
    "rmapbt",
    "reflink",
    "bigtime",
    "inobtcount",
    "nrext64",
    "lazy-count",
)
_BTRFS_PROFILE: Final = re.compile(r"^(Data|Metadata|System), ?(\w+):", re.MULTILINE)


class ExtProbe(Probe):
    name: ClassVar[str] = "ext"

    def matches(self, mount: Mount) -> bool:
        return mount.fstype in {"ext2", "ext3", "ext4"}

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        uevent = FileWant(f"/sys/dev/block/{mount.device}/uevent")
        yield uevent
        device = named_numbers(text_of(texts, uevent)).get("DEVNAME")
        if device:
            yield _superblock(device)
            yield _options(device)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        uevent = FileWant(f"/sys/dev/block/{mount.device}/uevent")
        device = named_numbers(text_of(texts, uevent)).get("DEVNAME", "")
        options = text_of(texts, _options(device))
        facts: Facts = {"ext.options": ",".join(sorted(options.splitlines()))} if options else {}
        superblock = texts.get(_superblock(device), Unavailable("the device has no name in /sys/dev/block"))
        if isinstance(superblock, Unavailable):
            return facts | {"ext.features": unavailable_fact(superblock)}
        fields = dict(_EXT_LINE.findall(superblock))
        features = sorted(set(fields.get("Filesystem features", "").split()) - _EXT_STATES)
        found = {fact: number(fields.get(field, "").strip()) for field, fact in _EXT_FIELDS.items()}
        block_bytes = found["ext.block_bytes"] or 0
        for field, fact in _EXT_STRIPES.items():
            found[fact] = (number(fields.get(field, "").strip()) or 0) * block_bytes
        return facts | {"ext.features": ",".join(features)} | known(found)


class XfsProbe(CommandProbe):
    name: ClassVar[str] = "xfs"
    package: ClassVar[str] = "xfsprogs"
    argv: ClassVar[tuple[str, ...]] = ("xfs_info", "{0.mount_point}")
    fact: ClassVar[str] = "xfs.geometry"

    def read(self, printed: str) -> Facts:
        sections = _xfs_sections(printed)
        meta, data, log = (sections.get(name, {}) for name in ("meta-data", "data", "log"))
        if not ("isize" in meta and "bsize" in data and "blocks" in log and "realtime" in sections):
            return {"xfs.geometry": "unavailable, because xfs_info printed no geometry"}
        block_bytes = data["bsize"]
        everything = meta | log
        return {
            "xfs.block_bytes": block_bytes,
            "xfs.inode_bytes": meta["isize"],
            "xfs.sector_bytes": meta.get("sectsz"),
            "xfs.allocation_group_count": meta.get("agcount"),
            "xfs.stripe_unit_bytes": data.get("sunit", 0) * block_bytes,
            "xfs.stripe_width_bytes": data.get("swidth", 0) * block_bytes,
            "xfs.log": "internal" if re.search(r"^log +=internal", printed, re.MULTILINE) else "external",
            "xfs.log_bytes": log["blocks"] * log.get("bsize", block_bytes),
            "xfs.features": ",".join(sorted(name for name in _XFS_FEATURES if everything.get(name))),
        }


class BtrfsProbe(CommandProbe):
    """Facts are the profiles of data and metadata; several are joined by commas."""

    name: ClassVar[str] = "btrfs"
    package: ClassVar[str] = "btrfs-progs"
    argv: ClassVar[tuple[str, ...]] = ("btrfs", "filesystem", "usage", "{0.mount_point}")
    fact: ClassVar[str] = "btrfs.data_profile"

    def read(self, printed: str) -> Facts:
        found = _BTRFS_PROFILE.findall(printed)
        _, _, unallocated = printed.partition("Unallocated:\n")
        facts: Facts = {
            f"btrfs.{kind.lower()}_profile": ",".join(sorted({profile for name, profile in found if name == kind}))
            for kind in ("Data", "Metadata", "System")
        }
        return facts | {"btrfs.device_count": len(unallocated.strip().splitlines())}


def _superblock(device: str) -> CommandWant:
    return CommandWant(("tune2fs", "-l", f"/dev/{device}"), "e2fsprogs")


def _options(device: str) -> FileWant:
    return FileWant(f"/proc/fs/ext4/{device}/options")


def _xfs_sections(geometry: str) -> dict[str, dict[str, int]]:
    """A line that begins with `=` continues the section above."""
    sections: dict[str, dict[str, int]] = {}
    section: dict[str, int] = {}
    for line in geometry.splitlines():
        label, _, rest = line.partition("=")
        if label.strip():
            section = sections.setdefault(label.strip(), {})
        for name, digits in _XFS_NUMBER.findall(rest):
            section.setdefault(name, int(digits))
    return sections


class JfsProbe(CommandProbe):
    name: ClassVar[str] = "jfs"
    package: ClassVar[str] = "jfsutils"
    argv: ClassVar[tuple[str, ...]] = ("jfs_tune", "-l", "{0.source}")
    fact: ClassVar[str] = "jfs.block_bytes"

    def read(self, printed: str) -> Facts:
        found = labelled(printed)
        flags = found.get("JFS flags", "").split()
        return known(
            {
                "jfs.block_bytes": _leading(found.get("Aggregate block size")),
                "jfs.sector_bytes": _leading(found.get("Physical block size")),
                "jfs.block_count": _leading(found.get("Aggregate size")),
                "jfs.allocation_group_blocks": _leading(found.get("Allocation group size")),
                "jfs.log": ("internal" if "JFS_INLINELOG" in flags else "external") if flags else None,
                "jfs.flags": ",".join(sorted(flags))[:500],
            }
        )


def _leading(text: str | None) -> int | None:
    found = re.match(r"\d+", text or "", re.ASCII)
    return number(found[0]) if found else None


_HEAD: Final = re.compile(r"of format (\S+) with (\S+) journal")
_HASH: Final = re.compile(r'^Hash function used to sort names: "(\w+)"', re.MULTILINE)
_JOURNAL: Final = re.compile(r"^\s*Size (\d{1,12}) blocks", re.MULTILINE | re.ASCII)


class ReiserfsProbe(CommandProbe):
    """ReiserFS 3; reiserfstune refuses mounted file systems."""

    name: ClassVar[str] = "reiserfs"
    package: ClassVar[str] = "reiserfsprogs"
    argv: ClassVar[tuple[str, ...]] = ("debugreiserfs", "{0.source}")
    fact: ClassVar[str] = "reiserfs.block_bytes"

    def read(self, printed: str) -> Facts:
        fields = labelled(printed)
        head, names, journal = (found.search(printed) for found in (_HEAD, _HASH, _JOURNAL))
        return known(
            {
                "reiserfs.block_bytes": number(fields.get("Blocksize")),
                "reiserfs.block_count": number(fields.get("Count of blocks on the device")),
                "reiserfs.format": head[1] if head else None,
                "reiserfs.journal": head[2] if head else None,
                "reiserfs.journal_blocks": number(journal[1]) if journal else None,
                "reiserfs.hash": names[1] if names else None,
            }
        )


_FACTORS: Final = {"k": KIB, "m": MIB, "g": GIB}


class TmpfsProbe(Probe):
    name: ClassVar[str] = "tmpfs"

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        options = dict(option.partition("=")[::2] for option in mount.options)
        facts: Facts = {"tmpfs.huge": options.get("huge", "never"), "tmpfs.swappable": "noswap" not in options}
        size = options.get("size", "")
        digits, suffix = (size[:-1], size[-1:]) if size[-1:] in _FACTORS else (size, "")
        # The kernel's default is half of the memory, which is in memory.total_bytes.
        return facts | {"tmpfs.size_bytes": int(digits) * _FACTORS.get(suffix, 1)} if digits.isdecimal() else facts
