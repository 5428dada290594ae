"""Geometry read back from what was made, as facts: numbers by name. Texts of tools are parsed by pure functions."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from iotide_agent.scratch.commands import Commands
from iotide_agent.scratch.refusals import CommandFailedError
from iotide_agent.scratch.sysfs import Sysfs
from iotide_wire.scratch_vocabulary import EXT, Filesystem

Facts = dict[str, int | str]
_DUMPE2FS: Final = {
    "Block size": "block_bytes",
    "RAID stride": "stride_blocks",
    "RAID stripe width": "stripe_width_blocks",
    "Block count": "block_count",
    "Journal size": "journal_text",
}
_XFS: Final = re.compile(r"\b(bsize|agcount|agsize|sunit|swidth)=(\d+)")
_XFS_SECTION: Final = re.compile(r"^(\S+)?\s*=")
_MDADM: Final = {"Chunk Size": "chunk_text", "Data Offset": "data_offset_text", "Layout": "layout_text",
                 "Raid Level": "level_text", "State": "state_text", "Consistency Policy": "consistency_text",
                 "Intent Bitmap": "bitmap_text"}  # fmt: skip
_QUEUE: Final = ("queue/minimum_io_size", "queue/optimal_io_size", "queue/logical_block_size", "alignment_offset")


def read_back(sysfs: Sysfs, commands: Commands, filesystem: Filesystem, top: str) -> dict[str, Facts]:
    """Return facts by device, and of the file system as `fs`. A tool that fails leaves its facts out."""
    found: dict[str, Facts] = {"fs": _of_file_system(commands, filesystem, f"/dev/{top}")}
    for device in [top, *_below(sysfs, top)]:
        # The queue of a partition is that of its disk.
        above = "../" if sysfs.has(device, "partition") else ""
        facts: Facts = {name.rpartition("/")[2]: int(sysfs.text(device, above + name) or 0) for name in _QUEUE}
        facts["size_bytes"] = sysfs.size_bytes(device)
        if sysfs.has(device, "md"):
            facts |= of_mdadm(_printed(commands, ("mdadm", "--detail", f"/dev/{device}")))
        if sysfs.has(device, "dm"):
            facts["table"] = _printed(commands, ("dmsetup", "table", *sysfs.numbers(device))).strip()
        found[device] = facts
    return found


def of_dumpe2fs(text: str) -> Facts:
    return _named(text, _DUMPE2FS)


def of_mdadm(text: str) -> Facts:
    return _named(text, _MDADM)


def of_xfs_info(text: str) -> Facts:
    """Return numbers named by section, such as `data_sunit` in blocks."""
    found: Facts = {}
    section = "data"
    for line in text.splitlines():
        named = _XFS_SECTION.match(line)
        section = named[1] if named and named[1] else section
        for name, value in _XFS.findall(line):
            found.setdefault(f"{section.partition('=')[0]}_{name}", int(value))
    return found


def _of_file_system(commands: Commands, filesystem: Filesystem, path: str) -> Facts:
    if filesystem in EXT:
        return of_dumpe2fs(_printed(commands, ("dumpe2fs", "-h", path)))
    if filesystem is Filesystem.XFS:
        return of_xfs_info(_printed(commands, ("xfs_info", path)))
    return {}


def _below(sysfs: Sysfs, device: str) -> list[str]:
    found = []
    for slave in sysfs.names(device, "slaves"):
        found += [slave, *_below(sysfs, slave)]
    return found


def _printed(commands: Commands, argv: Sequence[str]) -> str:
    try:
        return commands.run(argv)
    except CommandFailedError:
        return ""


def _named(text: str, names: Mapping[str, str]) -> Facts:
    found: Facts = {}
    for line in text.splitlines():
        label, _, value = line.partition(":")
        if label.strip() in names:
            word = value.strip()
            found[names[label.strip()]] = int(word) if word.isdigit() else word
    return found
