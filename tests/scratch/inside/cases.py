"""Combinations of layout and file system, each with an option that the reference names."""

from typing import Any, Final, NamedTuple

from iotide_wire.striping import Layout, parse_layout

_MD: Final = {"sync": "assume_clean"}
_FIELDS: Final = ("kind", "disks", "level", "chunk_bytes", "arrays", "lvm", "lvm_chunk_bytes", "profile", "start")


class Case(NamedTuple):
    """One combination: canonical text of the layout, further words of `layout`, and `fs`, as a make has them."""

    text: str
    more: dict[str, Any]
    fs: dict[str, Any]

    @property
    def layout(self) -> Layout:
        return parse_layout(self.text)

    @property
    def words(self) -> dict[str, Any]:
        """Return the fields `layout` and `fs` of a make."""
        sent = {name: getattr(self.layout, name) for name in _FIELDS if getattr(self.layout, name) is not None}
        return {"layout": sent | self.more, "fs": self.fs}

    def __str__(self) -> str:
        return "+".join((self.text, *map(str, self.fs.values()))).replace(" ", "_")


CASES: Final = (
    Case("single", {}, {"type": "ext2"}),
    Case("single", {}, {"type": "ext3", "data": "ordered"}),
    Case("single", {}, {"type": "ext3", "data": "writeback"}),
    Case("single", {}, {"type": "ext3", "data": "journal"}),
    Case("single", {}, {"type": "ext4"}),
    Case("single", {}, {"type": "xfs"}),
    Case("single", {}, {"type": "btrfs"}),
    Case("single", {}, {"type": "jfs", "size_percent": 50}),
    Case("single", {}, {"type": "reiserfs", "size_percent": 50}),
    Case("single", {}, {"type": "f2fs", "size_percent": 50}),
    Case("offset 63s", {}, {"type": "ext4"}),
    Case("raid0 4x64K", {}, {"type": "ext4", "align": "aligned"}),
    Case("raid0 4x64K", {}, {"type": "xfs", "align": "unaligned"}),
    Case("raid1 2", _MD, {"type": "ext4"}),
    Case("raid5 3x256K", {"sync": "wait"}, {"type": "xfs"}),
    Case("raid6 4x64K", _MD | {"bitmap": "internal"}, {"type": "ext4", "align": "aligned"}),
    Case("raid10 4x64K", _MD, {"type": "xfs"}),
    Case("lvm linear 2", {}, {"type": "ext4"}),
    Case("lvm stripe 4x256K", {}, {"type": "xfs", "align": "aligned"}),
    Case("lvm stripe 3x64K", {}, {"type": "ext4", "align": "aligned"}),
    Case("lvm linear on raid5 4x64K", _MD, {"type": "ext4", "align": "aligned"}),
    Case("lvm stripe 2x256K on raid0 2x64K", {}, {"type": "xfs"}),
    Case("btrfs raid0 3", {}, {"type": "btrfs"}),
    Case("btrfs raid1 2", {}, {"type": "btrfs"}),
    Case("btrfs raid5 3", {}, {"type": "btrfs"}),
)
