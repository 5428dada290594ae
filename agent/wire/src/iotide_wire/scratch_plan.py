"""Block `scratch` of a campaign plan: layouts, file systems, alignments and mounts that nodes make for its stages."""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    StrictBool,
    StrictInt,
    model_validator,
)
from pydantic_core import CoreSchema

from iotide_wire.base import Message, Name
from iotide_wire.scratch_vocabulary import (
    MOST_ARRAYS,
    MOST_DISKS,
    MOUNT_OPTIONS,
    WHOLE_PERCENT,
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
from iotide_wire.striping import Layout, check_layout, parse_layout
from iotide_wire.units import parse_bytes, parse_ratio

MOST_ROUNDS: Final = 10
MOST_FILL_RATIO: Final = 0.85
"""The runner keeps a tenth of a run's bytes free, and ext4 5 % of a file system for root."""
NO_OPTIONS: Final = "defaults"
"""A mount without options, as mount(8) writes it."""
MountValue = bool | int | str

Precondition = Literal["none", "discard", "fill"]
"""State of the disks before each make. `discard`: all blocks are discarded. `fill`: the file system is filled
to 85 % and emptied, so that a flash disk has no unwritten blocks.
"""


def _bytes_of(given: object) -> object:
    return parse_bytes(given) if isinstance(given, str) else given


def _ratio_of(given: object) -> object:
    return parse_ratio(given) if isinstance(given, str) else given


ChunkBytes = Annotated[
    StrictInt | None, BeforeValidator(_bytes_of), Field(validation_alias=AliasChoices("chunk_bytes", "chunk"))
]
RaidNumber = Literal[0, 1, 5, 6, 10]
Disks = Annotated[StrictInt, Field(ge=1, le=MOST_DISKS)]


class ScratchArray(Message):
    """One md array below an LVM volume."""

    raid: RaidNumber
    disks: Disks
    chunk_bytes: ChunkBytes = None
    bitmap: Bitmap = Bitmap.NONE


class LayoutChoice(Message):
    """One layout: `single`, `offset`, `raid5 4x64K` and other canonical texts, or their parts.

    Attributes:
        disks: disks of the array or volume. Without `raid` and `lvm`: the disks themselves; several only for Btrfs.
        chunk_bytes: of the array or of the LVM stripe. `chunk: 64 KiB` works too.
        on: array below the LVM volume.
        arrays: number of these arrays.
        start: `63s` starts the file system at sector 63 of one disk.
    """

    raid: RaidNumber | None = None
    lvm: LvmKind | None = None
    disks: Disks | None = None
    chunk_bytes: ChunkBytes = None
    bitmap: Bitmap = Bitmap.NONE
    on: ScratchArray | None = None
    arrays: Annotated[StrictInt, Field(ge=1, le=MOST_ARRAYS)] = 1
    start: Start = Start.MIB_1

    @property
    def is_disks(self) -> bool:
        """Return true if the file system gets the disks themselves."""
        return self.raid is None and self.lvm is None and self.start is Start.MIB_1

    @property
    def array_bitmap(self) -> Bitmap:
        return self.bitmap if self.on is None else self.on.bitmap

    def layout(self, profile: BtrfsProfile | None = None) -> Layout:
        """Return the layout, with the profile if it is of disks; raise StripingError for too few of them."""
        found = self._layout(profile if self.is_disks else None)
        check_layout(found)
        return found

    def _layout(self, profile: BtrfsProfile | None) -> Layout:
        disks, chunk_bytes, array = self.disks or 1, self.chunk_bytes, self.on
        if self.lvm is not None and array is not None:
            level, total = MdLevel(f"raid{array.raid}"), self.arrays * array.disks
            return Layout(LayoutKind.LVM_MD, total, level, array.chunk_bytes, self.arrays, self.lvm, chunk_bytes)
        if self.lvm is not None:
            return Layout(LayoutKind.LVM, disks, lvm=self.lvm, lvm_chunk_bytes=chunk_bytes)
        if self.raid is not None:
            return Layout(LayoutKind.MD, disks, MdLevel(f"raid{self.raid}"), chunk_bytes)
        if profile is not None:
            return Layout(LayoutKind.BTRFS, disks, profile=profile)
        return Layout(LayoutKind.SINGLE if self.start is Start.MIB_1 else LayoutKind.OFFSET, start=self.start)

    @property
    def text(self) -> str:
        """Return the canonical text without a profile; `disks 4` for four disks themselves."""
        if self.is_disks and (self.disks or 1) > 1:
            return f"disks {self.disks}"
        return self.layout().text

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, given: Any) -> Any:  # noqa: ANN401 - not checked yet
        if isinstance(given, dict):
            # YAML 1.1 reads `on` as true, which JSON writes as a text.
            return {"on" if key in {True, "true"} else key: value for key, value in given.items()}
        return _parts_of(parse_layout(given)) if isinstance(given, str) else given

    @model_validator(mode="after")
    def _checked(self) -> Self:
        layout = self.layout()
        if self.on is not None and (self.lvm is None or self.raid is not None or self.disks is not None):
            message = "on: only an LVM volume has arrays below; write {lvm: linear, on: {raid: 5, ...}} without disks"
            raise ValueError(message)
        if self.on is None and self.arrays != 1:
            message = "arrays: describes arrays below an LVM volume; add on"
            raise ValueError(message)
        if self.is_disks and self.chunk_bytes is not None:
            message = "chunk: disks without RAID and LVM have no chunk; add raid or lvm"
            raise ValueError(message)
        if layout.level in {None, MdLevel.RAID0} and self.array_bitmap is not Bitmap.NONE:
            message = f"bitmap: {layout.text} has none; leave it out"
            raise ValueError(message)
        return self


def _parts_of(layout: Layout) -> dict[str, object]:
    """Return the parts of a layout that a text describes."""
    array: dict[str, object] = {
        "raid": None if layout.level is None else int(layout.level.removeprefix("raid")),
        "disks": layout.array_disks,
        "chunk_bytes": layout.chunk_bytes,
    }
    match layout.kind:
        case LayoutKind.MD:
            return array
        case LayoutKind.LVM_MD:
            on = {"lvm": layout.lvm, "chunk_bytes": layout.lvm_chunk_bytes}
            return {**on, "on": array, "arrays": layout.arrays}
        case LayoutKind.LVM:
            return {"lvm": layout.lvm, "disks": layout.disks, "chunk_bytes": layout.lvm_chunk_bytes}
        case LayoutKind.BTRFS:
            message = (
                f"{layout.text}: write {{disks: {layout.disks}}} here, and {{btrfs: {layout.profile}}} in filesystems"
            )
            raise ValueError(message)
        case LayoutKind.SINGLE | LayoutKind.OFFSET:
            return {"start": layout.start}


class _AlsoText:
    """Adds the text form to the JSON schema of a layout."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [{"type": "string", "maxLength": 100, "examples": ["raid5 4x64K"]}, handler(schema)]}


class FilesystemChoice(Message):
    """One file system: `ext4`, `{ext3: {data: [ordered, journal]}}` or `{btrfs: raid1}`.

    Attributes:
        data: modes of `data=`, each its own stage; null: the kernel's default.
        profile: of a Btrfs on the disks themselves.
    """

    type: Filesystem
    data: Annotated[list[DataMode], Field(min_length=1, max_length=3)] | None = None
    profile: BtrfsProfile | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_short(cls, given: Any) -> Any:  # noqa: ANN401 - not checked yet
        if isinstance(given, str):
            return {"type": given}
        if not isinstance(given, dict) or len(given) != 1 or "type" in given:
            return given
        [(name, value)] = given.items()
        parts = value if isinstance(value, dict) else {"profile": value}
        if isinstance(parts.get("data"), str):
            parts = {**parts, "data": [parts["data"]]}
        return {**parts, "type": name}

    @model_validator(mode="after")
    def _checked(self) -> Self:
        if self.profile is not None and self.type is not Filesystem.BTRFS:
            message = f"profile: {self.type} has none; only btrfs has"
            raise ValueError(message)
        return self


def mount_options_of(text: str) -> dict[str, MountValue]:
    """Return values by option from a text such as `noatime,commit=30`; raise ValueError for unknown options."""
    options: dict[str, MountValue] = {}
    for part in () if text == NO_OPTIONS else text.split(","):
        name, equals, value = part.strip().partition("=")
        if name == "data":
            message = "data is set in filesystems: {ext3: {data: [journal]}}"
            raise ValueError(message)
        if not any(name in known for known in MOUNT_OPTIONS.values()):
            known = sorted(set().union(*MOUNT_OPTIONS.values()))
            message = f"{name!r} is not a mount option for scratch disks; known are {', '.join(known)}"
            raise ValueError(message)
        if name in options:
            message = f"{name} is given twice; give it once"
            raise ValueError(message)
        options[name] = (int(value) if value.isdecimal() else value) if equals else True
    return options


def mount_text(options: dict[str, MountValue]) -> str:
    """Return the canonical text of mount options, sorted by name."""
    parts = [name if value is True else f"{name}={value}" for name, value in sorted(options.items())]
    return ",".join(parts) or NO_OPTIONS


def _canonical_mount(text: str) -> str:
    return mount_text(mount_options_of(text))


MountText = Annotated[
    str,
    Field(max_length=100, pattern=r"^[a-z_]+(=[a-z0-9]+)?(, ?[a-z_]+(=[a-z0-9]+)?)*$"),
    AfterValidator(_canonical_mount),
]


class ScratchPlan(Message):
    """Combinations of layouts, file systems, alignments and mounts; each is a stage that is made without an operator.

    Attributes:
        node: node of the disks.
        set: set of disks that an administrator adopted on that node.
        options: alignments of mkfs.
        mount: combinations of mount options, separated by commas; `defaults` for none.
        rounds: how often each combination is made; rounds share the repeats, and each second one runs in reverse.
        sync: how arrays with redundancy become consistent.
        precondition: of the disks, before each make.
        fill_ratio: filled before the first run. `fill: 80 %` works too.
        size_percent: share of the device that file systems take, from its start.
        except_impossible: leave out combinations that cannot be made, instead of rejecting the plan.
        serves: `nfs` exports each file system to the nodes that load the plan's other targets, which mount it there.
    """

    node: Name
    set: Name
    layouts: Annotated[list[Annotated[LayoutChoice, _AlsoText()]], Field(min_length=1, max_length=100)]
    filesystems: Annotated[list[FilesystemChoice], Field(min_length=1, max_length=20)]
    options: Annotated[list[Alignment], Field(min_length=1, max_length=3)] = Field(
        default_factory=lambda: [Alignment.DEFAULT]
    )
    mount: Annotated[list[MountText], Field(min_length=1, max_length=20)] = Field(default_factory=lambda: [NO_OPTIONS])
    rounds: Annotated[StrictInt, Field(ge=1, le=MOST_ROUNDS)] = 2
    sync: Sync = Sync.WAIT
    precondition: Precondition = "none"
    fill_ratio: Annotated[
        Annotated[float, Field(gt=0, le=MOST_FILL_RATIO)] | None,
        BeforeValidator(_ratio_of),
        Field(validation_alias=AliasChoices("fill_ratio", "fill")),
    ] = None
    size_percent: Annotated[StrictInt, Field(ge=1, le=WHOLE_PERCENT)] = WHOLE_PERCENT
    except_impossible: StrictBool = False
    serves: Literal["nfs"] | None = None

    @property
    def place(self) -> str:
        """Return the set as a plan's `targets` name it."""
        return f"{self.node}/{self.set}"
