"""Local file systems on a block device: ext2, ext3, ext4, XFS and Btrfs, by what their own tools say."""

import re
from collections.abc import Iterable
from typing import ClassVar, Final

from iotide_agent.probes.base import CommandProbe, Probe, Texts, known, named_numbers, number, text_of, unavailable_fact
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, FileWant, Unavailable, Want
from iotide_wire.facts import Facts

_EXT_FIELDS: Final = {
    "Block size": "ext.block_bytes",
    "Inode size": "ext.inode_bytes",
    "Inode count": "ext.inode_count",
    "Reserved block count": "ext.reserved_blocks",
}
_EXT_STRIPES: Final = {"RAID stride": "ext.stripe_unit_bytes", "RAID stripe width": "ext.stripe_width_bytes"}
"""In blocks of the file system; the names are XFS's, so that both compare with the RAID below."""
_EXT_LINE: Final = re.compile(r"^([A-Z][^:\n]*):[ \t]*(.*)$", re.MULTILINE)
_EXT_STATES: Final = frozenset({"needs_recovery", "orphan_present"})
"""Features that come and go by themselves while the file system is mounted."""
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
    """The ext family: layout from the superblock, effective options (defaults too) from the kernel."""

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
    """XFS: geometry by xfs_info."""

    name: ClassVar[str] = "xfs"
    package: ClassVar[str] = "xfsprogs"
    argv: ClassVar[tuple[str, ...]] = ("xfs_info", "{0.mount_point}")
    fact: ClassVar[str] = "xfs.geometry"

    def read(self, printed: str) -> Facts:
        sections = _xfs_sections(printed)
        meta, data, log = (sections.get(name, {}) for name in ("meta-data", "data", "log"))
        if not ("isize" in meta and "bsize" in data and "blocks" in log and "realtime" in sections):
            return {"xfs.geometry": "unavailable, because xfs_info printed something else than a geometry"}
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
    """Btrfs: profiles of data and metadata, which decide where copies and stripes go; several are joined by commas."""

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
    """The numbers of each section; a line that begins with `=` goes on with the section above."""
    sections: dict[str, dict[str, int]] = {}
    section: dict[str, int] = {}
    for line in geometry.splitlines():
        label, _, rest = line.partition("=")
        if label.strip():
            section = sections.setdefault(label.strip(), {})
        for name, digits in _XFS_NUMBER.findall(rest):
            section.setdefault(name, int(digits))
    return sections
