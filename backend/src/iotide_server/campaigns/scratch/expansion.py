"""Block `scratch` of a plan, expanded to stages that a node makes, with every combination that it cannot make."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, NamedTuple

from iotide_wire.geometry import Blocks, Device, capacity_bytes, least_filesystem_bytes, mkfs_blocks
from iotide_wire.scratch import ScratchFilesystem, ScratchLayout, ScratchMake, check_mount_options
from iotide_wire.scratch_plan import FilesystemChoice, LayoutChoice, ScratchPlan, mount_options_of
from iotide_wire.scratch_vocabulary import (
    BLOCK_BYTES,
    DMSETUP,
    LVM,
    MDADM,
    MKFS,
    MODULE,
    WHOLE_PERCENT,
    WITH_BITMAP,
    WITH_DATA_MODE,
    WITH_GEOMETRY,
    Alignment,
    Bitmap,
    DataMode,
    Filesystem,
    LayoutKind,
)
from iotide_wire.striping import Layout, StripingError
from iotide_wire.units import format_bytes, format_percent

_SEPARATOR: Final = " / "


@dataclass(frozen=True, slots=True)
class AnnouncedSet:
    """A set of disks as its node announced it; None where that is unknown.

    Attributes:
        disk_bytes: sizes of the disks' arenas.
        lacks: programs and modules of the kernel that the node lacks.
        target_name: target of the set.
    """

    disk_bytes: Sequence[int] | None = None
    lacks: frozenset[str] = frozenset()
    target_name: str | None = None

    def size_bytes(self, layout: Layout, size_percent: int) -> int | None:
        if self.disk_bytes is None or len(self.disk_bytes) < layout.disks:
            return None
        return capacity_bytes(layout, min(self.disk_bytes)) * size_percent // 100


UNKNOWN_SET: Final = AnnouncedSet()


@dataclass(frozen=True, slots=True)
class MadeStage:
    """Stage that a node makes.

    Attributes:
        round: from 1.
        blocks: geometry after mkfs.
        size_bytes: of the file system; None if unknown.
    """

    variant: str
    round: int
    make: ScratchMake
    blocks: Blocks
    size_bytes: int | None


@dataclass(frozen=True, slots=True)
class ImpossibleCell:
    variant: str
    reason: str


@dataclass(frozen=True, slots=True)
class Expansion:
    """All rounds in order; `cells` are those of one round."""

    stages: Sequence[MadeStage]
    cells: Sequence[MadeStage]
    impossible: Sequence[ImpossibleCell]

    def impossible_by_reason(self) -> dict[str, list[str]]:
        by_reason: defaultdict[str, list[str]] = defaultdict(list)
        for cell in self.impossible:
            by_reason[cell.reason].append(cell.variant)
        return by_reason

    def same_geometry(self) -> Iterator[str]:
        """Yield a sentence for each file system that two alignments make alike."""
        alike: defaultdict[tuple[str, ...], list[Alignment]] = defaultdict(list)
        for cell in self.cells:
            fs = cell.make.fs
            if fs.type in WITH_GEOMETRY:
                layout_text = cell.variant.split(_SEPARATOR)[0]
                found = alike[layout_text, fs.type, _blocks_text(cell.blocks)]
                if fs.align not in found:
                    found.append(fs.align)
        for (layout_text, filesystem, blocks_text), aligns in alike.items():
            if len(aligns) > 1:
                yield f"{' and '.join(aligns)} make the same {filesystem} on {layout_text} ({blocks_text})"


class _Combination(NamedTuple):
    layout: LayoutChoice
    filesystem: FilesystemChoice
    data: DataMode | None
    align: Alignment
    mount: str


def combination_count(plan: ScratchPlan) -> int:
    """Return the number of combinations of one round, possible or not."""
    filesystems = sum(len(choice.data or ()) or 1 for choice in plan.filesystems)
    return len(plan.layouts) * filesystems * len(plan.options) * len(plan.mount)


def expand(plan: ScratchPlan, known: AnnouncedSet = UNKNOWN_SET) -> Expansion:
    """Return the stages of all rounds, layouts outermost.

    Each second round runs in reverse, A B C C B A, so that a steady drift affects all variants equally.
    """
    cells, impossible = [], []
    for combination in _combinations(plan):
        variant = _variant(plan, combination)
        try:
            cells.append(_cell(plan, combination, variant, known))
        except ValueError as error:
            impossible.append(ImpossibleCell(variant, str(error)))
    return Expansion(list(_in_rounds(cells, plan.rounds)), cells, impossible)


def _combinations(plan: ScratchPlan) -> Iterator[_Combination]:
    filesystems = [(choice, data) for choice in plan.filesystems for data in choice.data or (None,)]
    for layout, (filesystem, data), align, mount in product(plan.layouts, filesystems, plan.options, plan.mount):
        yield _Combination(layout, filesystem, data, align, mount)


def _in_rounds(cells: Sequence[MadeStage], rounds: int) -> Iterator[MadeStage]:
    for number in range(1, rounds + 1):
        for cell in cells if number % 2 else reversed(cells):
            yield replace(cell, round=number)


def _variant(plan: ScratchPlan, combination: _Combination) -> str:
    """Return the canonical text; the name of the set and the order of keys have no effect."""
    layout, filesystem, data, align, mount = combination
    layout_text = layout.text
    if layout.is_disks and filesystem.profile is not None:
        layout_text = f"btrfs {filesystem.profile} {layout.disks or 1}"
    if layout.array_bitmap is not Bitmap.NONE:
        layout_text += WITH_BITMAP
    fs_text = filesystem.type if data is None else f"{filesystem.type} data={data}"
    if filesystem.profile is not None and not layout.is_disks:
        fs_text = f"{fs_text} {filesystem.profile}"
    parts = [layout_text, fs_text, align, mount]
    if plan.size_percent != WHOLE_PERCENT:
        parts.append(f"size {plan.size_percent} %")
    if plan.fill_ratio is not None:
        parts.append(f"fill {format_percent(plan.fill_ratio)}")
    return _SEPARATOR.join(parts)


def _cell(plan: ScratchPlan, combination: _Combination, variant: str, known: AnnouncedSet) -> MadeStage:
    """Raise ValueError with the reason if no node, or not this one, can make it."""
    choice, filesystem, data, align, mount = combination
    _check_profile(choice, filesystem)
    layout = choice.layout(filesystem.profile)
    kind, mount_options = filesystem.type, mount_options_of(mount)
    if data is not None and kind not in WITH_DATA_MODE:
        raise StripingError("data", f"{kind} has no mount option data", "use it with ext3 and ext4")
    check_mount_options(kind, mount_options)
    _check_known(layout, filesystem, known)
    size_bytes = known.size_bytes(layout, plan.size_percent)
    device = Device(size_bytes=size_bytes)
    blocks = mkfs_blocks(layout, kind, align, BLOCK_BYTES[0], device)
    least_bytes = least_filesystem_bytes(kind, align)
    if size_bytes is not None and size_bytes < least_bytes:
        problem = f"{layout.text} has {format_bytes(size_bytes)}, but {kind} {align} needs {format_bytes(least_bytes)}"
        raise StripingError("size", problem, "use larger disks")
    made = ScratchLayout(
        **{name: getattr(layout, name) for name in Layout.__dataclass_fields__},
        bitmap=choice.array_bitmap,
        sync=plan.sync,
    )
    is_discarding = plan.precondition == "discard"
    fs = ScratchFilesystem(type=kind, align=align, data=data, discard=is_discarding, size_percent=plan.size_percent)
    make = ScratchMake(layout=made, fs=fs, mount=mount_options)
    return MadeStage(variant, 1, make=make, blocks=blocks, size_bytes=size_bytes)


def _check_profile(choice: LayoutChoice, filesystem: FilesystemChoice) -> None:
    if filesystem.profile is not None and not choice.is_disks:
        problem = f"btrfs {filesystem.profile} needs the disks themselves, not {choice.text}"
        raise StripingError("profile", problem, "use {disks: N} as its layout")
    if filesystem.profile is None and choice.is_disks and (choice.disks or 1) > 1:
        problem = f"{filesystem.type} takes one device, not {choice.text}"
        raise StripingError("profile", problem, "use a profile of btrfs")


def _check_known(layout: Layout, filesystem: FilesystemChoice, known: AnnouncedSet) -> None:
    if known.disk_bytes is not None and layout.disks > len(known.disk_bytes):
        problem = f"{layout.text} needs {layout.disks} disks, but the set has {len(known.disk_bytes)}"
        raise StripingError("disks", problem, "adopt more disks")
    lacking = [name for name in _needs(layout, filesystem.type) if name in known.lacks]
    if lacking:
        named = " and ".join(lacking)
        raise StripingError("filesystems", f"the node lacks {named}", f"install {named} there")


def _needs(layout: Layout, filesystem: Filesystem) -> Iterator[str]:
    """Yield the programs and the module of the kernel that a make needs."""
    yield MKFS[filesystem]
    yield MODULE.format(filesystem)
    if layout.level is not None:
        yield MDADM
    if layout.lvm is not None:
        yield LVM
    if layout.kind is LayoutKind.OFFSET:
        yield DMSETUP


def _blocks_text(blocks: Blocks) -> str:
    return f"stripe unit {blocks.unit}, width {blocks.width} blocks" if blocks.width else "no stripes"
