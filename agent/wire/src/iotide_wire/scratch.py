"""Description of one file system on scratch disks, as a stage has it made and the node's root program accepts it."""

from collections.abc import Mapping
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, StrictBool, StrictInt, StrictStr, model_validator

from iotide_wire.base import Message
from iotide_wire.scratch_vocabulary import (
    BLOCK_BYTES,
    MOST_ARRAYS,
    MOST_DISKS,
    MOST_MOUNT_OPTIONS,
    MOUNT_OPTIONS,
    WHOLE_PERCENT,
    WITH_DATA_MODE,
    WITH_GEOMETRY,
    Alignment,
    Bitmap,
    BtrfsProfile,
    DataMode,
    Filesystem,
    LayoutKind,
    LvmKind,
    MdLevel,
    Start,
    Sync,
)
from iotide_wire.striping import Layout, check_layout

_WITHOUT_BITMAP: Final = frozenset({None, MdLevel.RAID0})


def _check_block(block_bytes: int) -> int:
    if block_bytes not in BLOCK_BYTES:
        message = f"{block_bytes} is not a block size; use {', '.join(map(str, BLOCK_BYTES))}"
        raise ValueError(message)
    return block_bytes


class ScratchLayout(Message):
    """Layout of disks; `striping.Layout` explains the fields and `striping.check_layout` has the rules."""

    kind: LayoutKind
    disks: Annotated[StrictInt, Field(ge=1, le=MOST_DISKS)] = 1
    level: MdLevel | None = None
    chunk_bytes: StrictInt | None = None
    arrays: Annotated[StrictInt, Field(ge=1, le=MOST_ARRAYS)] = 1
    lvm: LvmKind | None = None
    lvm_chunk_bytes: StrictInt | None = None
    profile: BtrfsProfile | None = None
    start: Start = Start.MIB_1
    bitmap: Bitmap = Bitmap.NONE
    sync: Sync = Sync.WAIT

    @property
    def layout(self) -> Layout:
        given = {name: getattr(self, name) for name in type(self).model_fields if name not in {"bitmap", "sync"}}
        return Layout(**given)

    @model_validator(mode="after")
    def _checked(self) -> Self:
        check_layout(self.layout)
        if self.bitmap is not Bitmap.NONE and self.level in _WITHOUT_BITMAP:
            message = f"bitmap: {self.layout.text} has no bitmap; leave it out"
            raise ValueError(message)
        return self


class ScratchFilesystem(Message):
    """File system on a layout.

    Attributes:
        data: of ext3 and ext4; null: the kernel's default.
        discard: the arenas are discarded before the make; mkfs never discards.
        size_percent: share of the device that the file system takes, from its start.
    """

    type: Filesystem
    align: Alignment = Alignment.DEFAULT
    data: DataMode | None = None
    block_bytes: Annotated[StrictInt, AfterValidator(_check_block)] = BLOCK_BYTES[0]
    discard: StrictBool = False
    size_percent: Annotated[StrictInt, Field(ge=1, le=WHOLE_PERCENT)] = WHOLE_PERCENT

    @model_validator(mode="after")
    def _checked(self) -> Self:
        if self.data is not None and self.type not in WITH_DATA_MODE:
            message = f"data: {self.type} has no mount option data; leave it out"
            raise ValueError(message)
        if self.align is not Alignment.DEFAULT and self.type not in WITH_GEOMETRY:
            message = f"align: mkfs of {self.type} has no option for stripes; use default"
            raise ValueError(message)
        return self


MountOptions = Annotated[
    dict[StrictStr, StrictBool | StrictInt | StrictStr], Field(max_length=MOST_MOUNT_OPTIONS, default_factory=dict)
]
"""Values by option, as `scratch_vocabulary.MOUNT_OPTIONS` has them; flags are true."""


def check_mount_options(filesystem: Filesystem, options: Mapping[str, object]) -> None:
    """Raise ValueError for an option that the file system lacks, or a value that it does not accept."""
    known = MOUNT_OPTIONS[filesystem]
    for name, value in options.items():
        if name not in known:
            message = f"{filesystem} has no mount option {name!r}; known are {', '.join(known)}"
            raise ValueError(message)
        if not known[name].accepts(value):
            message = f"{name} of {filesystem} is {value!r}; use {known[name].wanted}"
            raise ValueError(message)


class ScratchMake(Message):
    """Layout, file system and mount that a node makes on a set of scratch disks before a stage."""

    layout: ScratchLayout
    fs: ScratchFilesystem
    mount: MountOptions

    @model_validator(mode="after")
    def _checked(self) -> Self:
        check_mount_options(self.fs.type, self.mount)
        if (self.layout.kind is LayoutKind.BTRFS) and self.fs.type is not Filesystem.BTRFS:
            message = f"layout: {self.layout.layout.text} holds Btrfs alone; use fs.type btrfs"
            raise ValueError(message)
        return self
