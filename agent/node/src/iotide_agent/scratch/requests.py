"""Requests of the agent: one JSON object a packet. Every value is a choice, a number in a range, or a set's name.

No path, no device name and no text of an option gets in; the root program builds every argument itself.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeVar

from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.sets import MOST_SETS, NODE_NAME, SET_NAME
from iotide_wire.geometry import mkfs_geometry
from iotide_wire.scratch_vocabulary import (
    BLOCK_BYTES,
    MOST_ARRAYS,
    MOST_CHUNK_BYTES,
    MOST_CLIENTS,
    MOST_DISKS,
    MOST_MOUNT_OPTIONS,
    MOUNT_OPTIONS,
    WITH_DATA_MODE,
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

MOST_PACKET_BYTES: Final = 16 * 1024
MOST_ANSWER_BYTES: Final = 128 * 1024
"""The kernel sends no packet longer than the buffer of a socket, 208 KiB by default, and needs memory in one piece."""
_MOST_NUMBER: Final = 2**63 - 1
E = TypeVar("E", bound=StrEnum)


class Verb(StrEnum):
    LIST = "list"
    STATUS = "status"
    MAKE = "make"
    MOUNT = "mount"
    UNMOUNT = "unmount"
    EXPORT = "export"
    UNEXPORT = "unexport"
    WIPE = "wipe"
    RECOVER = "recover"


@dataclass(frozen=True, slots=True)
class Making:
    """Contents of a make: `layout` with its `bitmap` and `sync`, and the file system on it."""

    layout: Layout
    bitmap: Bitmap
    sync: Sync
    type: Filesystem
    align: Alignment
    data: DataMode | None
    block_bytes: int
    discard: bool
    size_percent: int

    @property
    def variant(self) -> str:
        return f"{self.layout.text} / {self.type}{f' data={self.data}' if self.data else ''} / {self.align}"


@dataclass(frozen=True, slots=True)
class ScratchRequest:
    """Holds a checked request.

    Attributes:
        order, fence: 0 where a verb has none, or `recover` names none.
        first: number of the first set that `list` shows.
    """

    verb: Verb
    set: str = ""
    order: int = 0
    fence: int = 0
    first: int = 0
    making: Making | None = None
    options: tuple[tuple[str, bool | int | str], ...] = ()
    clients: tuple[str, ...] = ()


def parse_request(packet: bytes) -> ScratchRequest:
    """Return the request; raise ScratchRefusedError for anything outside the vocabulary."""
    try:
        values = json.loads(packet.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
        return _Fields(values, "request").request()
    except ScratchRefusedError:
        raise
    except (ValueError, RecursionError) as error:
        raise ScratchRefusedError(f"request: {error}") from error


class _Fields:
    """Takes each field of an object once; what remains is unknown."""

    def __init__(self, values: object, where: str) -> None:
        if not isinstance(values, dict):
            raise ScratchRefusedError(f"{where}: not a JSON object")
        self._left = dict(values)
        self._where = where

    def request(self) -> ScratchRequest:
        verb = self.choice("verb", Verb)
        build = _BUILDERS.get(verb)
        request = build(self) if build else ScratchRequest(verb)
        self.end()
        return request

    def choice(self, key: str, kind: type[E], default: E | None = None) -> E:
        found = self._take(key, default)
        if not isinstance(found, str) or found not in {member.value for member in kind}:
            raise self._wrong(key, found, f"one of {', '.join(kind)}")
        return kind(found)

    def choice_or_none(self, key: str, kind: type[E]) -> E | None:
        return None if self._left.get(key) is None and self._drop(key) else self.choice(key, kind)

    def number(self, key: str, most: int, default: int | None = None, *, least: int = 1) -> int:
        found = self._take(key, default)
        if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= most:
            raise self._wrong(key, found, f"a whole number of {least} to {most}")
        return found

    def number_or_none(self, key: str, most: int) -> int | None:
        return None if self._left.get(key) is None and self._drop(key) else self.number(key, most)

    def flag(self, key: str, *, default: bool) -> bool:
        found = self._take(key, default)
        if not isinstance(found, bool):
            raise self._wrong(key, found, "true or false")
        return found

    def set_name(self) -> str:
        found = self._take("set", None)
        if not isinstance(found, str) or not SET_NAME.fullmatch(found):
            raise self._wrong("set", found, "the name of a set")
        return found

    def set_name_or_none(self) -> str:
        return "" if self._left.get("set") is None and self._drop("set") else self.set_name()

    def fields_of(self, key: str) -> "_Fields":
        return _Fields(self._take(key, None), f"{self._where}.{key}")

    def mapping(self, key: str) -> Mapping[str, Any]:
        found = self._take(key, {})
        if not isinstance(found, dict):
            raise self._wrong(key, found, "an object")
        return found

    def node_names(self, key: str) -> tuple[str, ...]:
        found = self._take(key, None)
        if not isinstance(found, list) or not 0 < len(found) <= MOST_CLIENTS:
            raise self._wrong(key, found, f"1 to {MOST_CLIENTS} node names")
        for name in found:
            if not isinstance(name, str) or not NODE_NAME.fullmatch(name):
                raise self._wrong(key, name, "a node name")
        return tuple(found)

    def end(self) -> None:
        if self._left:
            raise ScratchRefusedError(f"{self._where}: unknown fields {', '.join(sorted(self._left))}")

    def _take(self, key: str, default: object) -> Any:  # noqa: ANN401 - JSON
        found = self._left.pop(key, default)
        if found is None:
            raise ScratchRefusedError(f"{self._where}: {key} is missing")
        return found

    def _drop(self, key: str) -> bool:
        self._left.pop(key, None)
        return True

    def _wrong(self, key: str, found: object, wanted: str) -> ScratchRefusedError:
        return ScratchRefusedError(f"{self._where}: {key} is {json.dumps(found)[:100]}; use {wanted}")


def _ordered(given: _Fields) -> dict[str, Any]:
    return {
        "set": given.set_name(),
        "order": given.number("order", _MOST_NUMBER),
        "fence": given.number("fence", _MOST_NUMBER),
    }


def _plain(verb: Verb) -> Callable[[_Fields], ScratchRequest]:
    return lambda given: ScratchRequest(verb, **_ordered(given))


def _list(given: _Fields) -> ScratchRequest:
    return ScratchRequest(Verb.LIST, first=given.number("from", MOST_SETS, 0, least=0))


def _status(given: _Fields) -> ScratchRequest:
    return ScratchRequest(Verb.STATUS, given.set_name_or_none())


def _recover(given: _Fields) -> ScratchRequest:
    name = given.set_name()
    order = given.number_or_none("order", _MOST_NUMBER)
    fence = given.number_or_none("fence", _MOST_NUMBER)
    if (order is None) is not (fence is None):
        raise ScratchRefusedError("request: order and fence belong together")
    return ScratchRequest(Verb.RECOVER, name, order or 0, fence or 0)


def _make(given: _Fields) -> ScratchRequest:
    ordered = _ordered(given)
    layout, bitmap, sync = _layout_of(given.fields_of("layout"))
    making = _making_of(given.fields_of("fs"), layout, bitmap, sync)
    return ScratchRequest(Verb.MAKE, **ordered, making=making)


def _layout_of(given: _Fields) -> tuple[Layout, Bitmap, Sync]:
    layout = Layout(
        kind=given.choice("kind", LayoutKind),
        disks=given.number("disks", MOST_DISKS, 1),
        level=given.choice_or_none("level", MdLevel),
        chunk_bytes=given.number_or_none("chunk_bytes", MOST_CHUNK_BYTES),
        arrays=given.number("arrays", MOST_ARRAYS, 1),
        lvm=given.choice_or_none("lvm", LvmKind),
        lvm_chunk_bytes=given.number_or_none("lvm_chunk_bytes", MOST_CHUNK_BYTES),
        profile=given.choice_or_none("profile", BtrfsProfile),
        start=given.choice("start", Start, Start.MIB_1),
    )
    check_layout(layout)
    bitmap, sync = given.choice("bitmap", Bitmap, Bitmap.NONE), given.choice("sync", Sync, Sync.WAIT)
    if bitmap is not Bitmap.NONE and layout.level in {None, MdLevel.RAID0}:
        raise ScratchRefusedError(f"request.layout: {layout.text} has no bitmap")
    given.end()
    return layout, bitmap, sync


def _making_of(given: _Fields, layout: Layout, bitmap: Bitmap, sync: Sync) -> Making:
    making = Making(
        layout=layout,
        bitmap=bitmap,
        sync=sync,
        type=given.choice("type", Filesystem),
        align=given.choice("align", Alignment, Alignment.DEFAULT),
        data=given.choice_or_none("data", DataMode),
        block_bytes=given.number("block_bytes", max(BLOCK_BYTES), BLOCK_BYTES[0]),
        discard=given.flag("discard", default=False),
        size_percent=given.number("size_percent", 100, 100),
    )
    given.end()
    if making.block_bytes not in BLOCK_BYTES:
        raise ScratchRefusedError(f"request.fs: block_bytes is {making.block_bytes}; use {BLOCK_BYTES}")
    if making.data is not None and making.type not in WITH_DATA_MODE:
        raise ScratchRefusedError(f"request.fs: {making.type} has no mount option data")
    mkfs_geometry(layout, making.type, making.align, making.block_bytes)
    if layout.kind is LayoutKind.BTRFS and making.type is not Filesystem.BTRFS:
        raise ScratchRefusedError(f"request.fs: {layout.text} holds Btrfs only")
    return making


def _mount(given: _Fields) -> ScratchRequest:
    ordered = _ordered(given)
    options = given.mapping("options")
    if len(options) > MOST_MOUNT_OPTIONS:
        raise ScratchRefusedError(f"request: options has more than {MOST_MOUNT_OPTIONS}")
    for name, value in options.items():
        if not any(name in known and known[name].accepts(value) for known in MOUNT_OPTIONS.values()):
            raise ScratchRefusedError(f"request: options: {json.dumps(name)[:100]} or its value is unknown")
    return ScratchRequest(Verb.MOUNT, **ordered, options=tuple(sorted(options.items())))


def _export(given: _Fields) -> ScratchRequest:
    ordered = _ordered(given)
    given.choice("kind", _ExportKind)
    return ScratchRequest(Verb.EXPORT, **ordered, clients=given.node_names("clients"))


class _ExportKind(StrEnum):
    NFS = "nfs"


def _unexport(given: _Fields) -> ScratchRequest:
    ordered = _ordered(given)
    given.choice("kind", _ExportKind)
    return ScratchRequest(Verb.UNEXPORT, **ordered)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a field is there twice")
    return dict(pairs)


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is not a number")


_BUILDERS: Final[Mapping[Verb, Callable[[_Fields], ScratchRequest]]] = {
    Verb.LIST: _list,
    Verb.STATUS: _status,
    Verb.MAKE: _make,
    Verb.MOUNT: _mount,
    Verb.UNMOUNT: _plain(Verb.UNMOUNT),
    Verb.EXPORT: _export,
    Verb.UNEXPORT: _unexport,
    Verb.WIPE: _plain(Verb.WIPE),
    Verb.RECOVER: _recover,
}
