"""Layouts of disks: which ones exist, their canonical text, and the checks that plan, calculator and node share.

Needs the standard library alone, so that the node's root program can use it.
"""

import re
from dataclasses import dataclass
from typing import Final

from iotide_wire.scratch_vocabulary import (
    LEAST_BTRFS_DISKS,
    LEAST_CHUNK_BYTES,
    LEAST_DISKS,
    MOST_ARRAYS,
    MOST_CHUNK_BYTES,
    MOST_DISKS,
    BtrfsProfile,
    LayoutKind,
    LvmKind,
    MdLevel,
    Start,
)
from iotide_wire.units import GIB, KIB, MIB

_FACTORS: Final = {"K": KIB, "M": MIB, "G": GIB}
_SIZE: Final = re.compile(r"(\d{1,12})\s*([KMG])(?:iB)?")
_COUNT: Final = r"(?P<count>\d{1,4})"
_CHUNK: Final = r"(?:x(?P<chunk>\d{1,12}\s*[KMG](?:iB)?))?"
_MD: Final = re.compile(rf"(?:(?P<arrays>\d{{1,4}}) )?(?P<level>raid(?:0|1|5|6|10)) {_COUNT}{_CHUNK}")
_LVM: Final = re.compile(rf"lvm (?P<kind>linear|stripe)(?: {_COUNT}{_CHUNK})?")
_BTRFS: Final = re.compile(rf"btrfs (?P<profile>[a-z0-9]+) {_COUNT}")
_EXAMPLES: Final = (
    "write for instance single, raid5:4x64K, raid1:2, lvm-stripe:4x256K, lvm-linear:3, lvm-linear/raid5:4x64K, "
    "lvm-stripe:3x256K/raid5:5x64K or btrfs-raid1:4"
)


class StripingError(ValueError):
    """A layout or geometry that cannot be made: the field, the problem, and the remedy."""

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}; {remedy}")
        self.field = field
        self.problem = problem
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Layout:
    """Layout of disks.

    Attributes:
        disks: all disks, over all arrays.
        level, chunk_bytes: of md arrays; RAID 1 has no chunk.
        arrays: equal md arrays below one LVM volume.
        lvm, lvm_chunk_bytes: of the LVM volume; only a stripe has a chunk.
        profile: of Btrfs on the disks themselves.
    """

    kind: LayoutKind
    disks: int = 1
    level: MdLevel | None = None
    chunk_bytes: int | None = None
    arrays: int = 1
    lvm: LvmKind | None = None
    lvm_chunk_bytes: int | None = None
    profile: BtrfsProfile | None = None
    start: Start = Start.MIB_1

    @property
    def text(self) -> str:
        """Return the canonical text, such as `lvm stripe 3x256K on raid5 4x64K`; `parse_layout` reads it."""
        match self.kind:
            case LayoutKind.SINGLE:
                return "single"
            case LayoutKind.OFFSET:
                return f"offset {self.start}"
            case LayoutKind.MD:
                return self._array_text
            case LayoutKind.BTRFS:
                return f"btrfs {self.profile} {self.disks}"
            case LayoutKind.LVM:
                return f"lvm {self.lvm} {self.disks}{_chunk_text(self.lvm_chunk_bytes)}"
            case LayoutKind.LVM_MD:
                return self._stripe_text if self.lvm is LvmKind.STRIPE else f"lvm linear on {self._arrays_text}"

    @property
    def array_disks(self) -> int:
        return self.disks // self.arrays

    @property
    def _array_text(self) -> str:
        return f"{self.level} {self.array_disks}{_chunk_text(self.chunk_bytes)}"

    @property
    def _arrays_text(self) -> str:
        return self._array_text if self.arrays == 1 else f"{self.arrays} {self._array_text}"

    @property
    def _stripe_text(self) -> str:
        return f"lvm stripe {self.arrays}{_chunk_text(self.lvm_chunk_bytes)} on {self._array_text}"


def size_text(size_bytes: int) -> str:
    """Return a size as mdadm and LVM write it: `64K`, `1M`."""
    for unit, factor in (("G", GIB), ("M", MIB), ("K", KIB)):
        if size_bytes and not size_bytes % factor:
            return f"{size_bytes // factor}{unit}"
    return str(size_bytes)


def parse_size(text: str) -> int:
    """Return bytes from a size as mdadm and LVM read it: `64K`, `64 KiB` and `1M` are powers of 1024."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise StripingError("size", f"{text!r} is not a size", "write for instance 64K or 1M")
    return int(match[1]) * _FACTORS[match[2]]


def parse_layout(text: str) -> Layout:
    """Return a checked layout from `raid5:4x64K` or the canonical `raid5 4x64K`; raise StripingError.

    `:` and `-` stand for blanks, `/` for `on`.
    """
    plain = " ".join(text.replace("/", " on ").replace(":", " ").replace("-", " ").split())
    upper, _, lower = plain.partition(" on ")
    found = _parse_on(upper, lower) if lower else _parse_plain(upper)
    if found is None:
        raise StripingError("layout", f"{text!r} is not a layout", _EXAMPLES)
    check_layout(found)
    return found


def _parse_plain(text: str) -> Layout | None:
    if text in {"single", "offset", f"offset {Start.SECTORS_63}"}:
        return Layout(LayoutKind.SINGLE) if text == "single" else Layout(LayoutKind.OFFSET, start=Start.SECTORS_63)
    if (match := _MD.fullmatch(text)) and match["arrays"] is None:
        return Layout(LayoutKind.MD, int(match["count"]), MdLevel(match["level"]), _chunk_of(match["chunk"]))
    if (match := _LVM.fullmatch(text)) and match["count"]:
        kind, chunk_bytes = LvmKind(match["kind"]), _chunk_of(match["chunk"])
        return Layout(LayoutKind.LVM, int(match["count"]), lvm=kind, lvm_chunk_bytes=chunk_bytes)
    if (match := _BTRFS.fullmatch(text)) and match["profile"] in set(BtrfsProfile):
        return Layout(LayoutKind.BTRFS, int(match["count"]), profile=BtrfsProfile(match["profile"]))
    return None


def _parse_on(upper: str, lower: str) -> Layout | None:
    above, below = _LVM.fullmatch(upper), _MD.fullmatch(lower)
    if above is None or below is None or (above["count"] and below["arrays"]):
        return None
    arrays = int(above["count"] or below["arrays"] or 1)
    return Layout(
        LayoutKind.LVM_MD,
        arrays * int(below["count"]),
        MdLevel(below["level"]),
        _chunk_of(below["chunk"]),
        arrays,
        LvmKind(above["kind"]),
        _chunk_of(above["chunk"]),
    )


def _chunk_of(text: str | None) -> int | None:
    return None if text is None else parse_size(text)


def _chunk_text(chunk_bytes: int | None) -> str:
    return "" if chunk_bytes is None else f"x{size_text(chunk_bytes)}"


def check_layout(layout: Layout) -> None:
    """Check that tools accept the layout and that it has exactly the fields of its kind; raise StripingError."""
    kind = layout.kind
    has_md, has_lvm = kind in {LayoutKind.MD, LayoutKind.LVM_MD}, kind in {LayoutKind.LVM, LayoutKind.LVM_MD}
    _require(has_md, layout.level, "level", kind)
    _require(has_lvm, layout.lvm, "lvm", kind)
    _require(kind is LayoutKind.BTRFS, layout.profile, "profile", kind)
    _require(has_md and layout.level is not MdLevel.RAID1, layout.chunk_bytes, "chunk_bytes", layout.level or kind)
    is_stripe = layout.lvm is LvmKind.STRIPE
    _require(is_stripe, layout.lvm_chunk_bytes, "lvm_chunk_bytes", f"lvm {layout.lvm}" if layout.lvm else kind)
    if (kind is LayoutKind.OFFSET) is not (layout.start is Start.SECTORS_63):
        problem = f"{layout.start} as the start of {kind}"
        raise StripingError("start", problem, f"use {Start.SECTORS_63} with {LayoutKind.OFFSET}, else {Start.MIB_1}")
    for field, chunk_bytes in (("chunk_bytes", layout.chunk_bytes), ("lvm_chunk_bytes", layout.lvm_chunk_bytes)):
        if chunk_bytes is not None:
            _check_chunk(field, chunk_bytes)
    _check_disks(layout)


def _require(is_wanted: bool, value: object, field: str, owner: str) -> None:  # noqa: FBT001 - of the table above
    if is_wanted and value is None:
        raise StripingError(field, f"{owner} needs {field}", "give it")
    if not is_wanted and value is not None:
        raise StripingError(field, f"{owner} has no {field}", "leave it out")


def _check_chunk(field: str, chunk_bytes: int) -> None:
    """Raise StripingError unless it is a power of two from 4 KiB on: mdadm(8), --chunk; lvcreate(8), --stripesize."""
    if chunk_bytes & (chunk_bytes - 1) or not LEAST_CHUNK_BYTES <= chunk_bytes <= MOST_CHUNK_BYTES:
        limits = f"a power of two of {size_text(LEAST_CHUNK_BYTES)} to {size_text(MOST_CHUNK_BYTES)}"
        raise StripingError(field, f"a chunk of {size_text(chunk_bytes)}", f"use {limits}")


def _check_disks(layout: Layout) -> None:
    disks, arrays = layout.disks, layout.arrays
    if not 1 <= disks <= MOST_DISKS:
        raise StripingError("disks", f"{disks} disks", f"use 1 to {MOST_DISKS}")
    most_arrays = MOST_ARRAYS if layout.kind is LayoutKind.LVM_MD else 1
    if not 1 <= arrays <= most_arrays or disks % arrays:
        remedy = f"use 1 to {most_arrays}, each with the same number of disks"
        raise StripingError("arrays", f"{arrays} arrays of {disks} disks", remedy)
    least = _least_disks(layout)
    if layout.array_disks < least:
        raise StripingError("disks", f"{layout.array_disks} disks for {layout.text}", f"use at least {least}")
    if layout.kind in {LayoutKind.SINGLE, LayoutKind.OFFSET} and disks != 1:
        raise StripingError("disks", f"{disks} disks for {layout.kind}", "use 1")
    if layout.level is MdLevel.RAID10 and layout.array_disks % 2:
        # near=2 of an odd number has no whole number of data disks (md(4)).
        raise StripingError("disks", f"{layout.array_disks} disks for raid10", "use an even number")
    if layout.kind is LayoutKind.LVM_MD and layout.lvm is LvmKind.STRIPE and arrays == 1:
        raise StripingError("arrays", "an LVM stripe over 1 array", "use 2 arrays or more, or lvm linear")


def _least_disks(layout: Layout) -> int:
    if layout.level is not None:
        return LEAST_DISKS[layout.level]
    if layout.profile is not None:
        return LEAST_BTRFS_DISKS[layout.profile]
    return 2 if layout.lvm is LvmKind.STRIPE else 1
