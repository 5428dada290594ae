"""GUID partition tables: blocks to write, in the order that a power cut survives, and reading of what is there.

UEFI specification 2.10, chapter 5.
"""

import struct
import uuid
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

_ENTRIES: Final = 128
_ENTRY: Final = struct.Struct("<16s16sQQQ72s")
_HEADER: Final = struct.Struct("<8sIIIIQQQQ16sQIII")
_SIGNATURE: Final = b"EFI PART"
_REVISION: Final = 0x10000
_FIRST_ENTRIES: Final = 2
"""Block of the entries of the main table."""
_TABLE_BYTES: Final = _ENTRIES * _ENTRY.size
_MOST_PROTECTED: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Partition:
    type_guid: UUID
    name: str
    start_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Table:
    disk_guid: UUID
    partitions: tuple[Partition, ...]


def blocks(table: Table, disk_bytes: int, block_bytes: int) -> list[tuple[int, bytes]]:
    """Return offsets and data to write, one after the other: the spare copy first, the main header last."""
    last = disk_bytes // block_bytes - 1
    table_blocks = -(-_TABLE_BYTES // block_bytes)
    entries = _entries(table, block_bytes)
    usable = (2 + table_blocks, last - table_blocks - 1)

    def header(own: int, other: int, entries_at: int) -> bytes:
        fields = (own, other, *usable, table.disk_guid.bytes_le, entries_at, _ENTRIES, _ENTRY.size, zlib.crc32(entries))
        blank = _HEADER.pack(_SIGNATURE, _REVISION, _HEADER.size, 0, 0, *fields)
        return _HEADER.pack(_SIGNATURE, _REVISION, _HEADER.size, zlib.crc32(blank), 0, *fields)

    spare = last - table_blocks
    return [
        (spare * block_bytes, entries),
        (last * block_bytes, header(last, 1, spare).ljust(block_bytes, b"\0")),
        (_FIRST_ENTRIES * block_bytes, entries),
        (0, _protective_mbr(last).ljust(block_bytes, b"\0")),
        (block_bytes, header(1, last, _FIRST_ENTRIES).ljust(block_bytes, b"\0")),
    ]


def read(pread: Callable[[int, int], bytes], block_bytes: int) -> Table | None:
    """Return the main table, or None without a whole one. `pread` takes size and offset."""
    raw = pread(_HEADER.size, block_bytes)
    if len(raw) < _HEADER.size:
        return None
    signature, _, size, crc, _, _, _, _, _, guid, at, count, entry_bytes, entries_crc = _HEADER.unpack(raw)
    if (signature, size, at, count, entry_bytes) != (_SIGNATURE, _HEADER.size, _FIRST_ENTRIES, _ENTRIES, _ENTRY.size):
        return None
    if zlib.crc32(raw[:16] + bytes(4) + raw[20:]) != crc:
        return None
    entries = pread(_TABLE_BYTES, at * block_bytes)
    if zlib.crc32(entries) != entries_crc:
        return None
    found = []
    for kind, _, first, end, _, name in _ENTRY.iter_unpack(entries):
        if any(kind):
            size_bytes = (end - first + 1) * block_bytes
            text = name.decode("utf-16-le", errors="replace").rstrip("\0")
            found.append(Partition(UUID(bytes_le=kind), text, first * block_bytes, size_bytes))
    return Table(UUID(bytes_le=guid), tuple(found))


def _entries(table: Table, block_bytes: int) -> bytes:
    packed = [_entry(table.disk_guid, partition, block_bytes) for partition in table.partitions]
    return b"".join(packed).ljust(_TABLE_BYTES, b"\0")


def _entry(disk_guid: UUID, partition: Partition, block_bytes: int) -> bytes:
    own = uuid.uuid5(disk_guid, partition.name)
    first = partition.start_bytes // block_bytes
    end = first + partition.size_bytes // block_bytes - 1
    name = partition.name.encode("utf-16-le")
    return _ENTRY.pack(partition.type_guid.bytes_le, own.bytes_le, first, end, 0, name)


def _protective_mbr(last: int) -> bytes:
    entry = struct.pack("<8BII", 0, 0, 2, 0, 0xEE, 255, 255, 255, 1, min(last, _MOST_PROTECTED))
    return bytes(446) + entry + bytes(48) + b"\x55\xaa"
