"""Measures how far storage could compress and deduplicate what a load wrote."""

from collections.abc import Iterable
from pathlib import Path

import zstandard

from iotide_wire.units import KIB

ENOUGH_RATIO = 0.95
_RECORD_BYTES = 128 * KIB
_ZSTD = zstandard.ZstdCompressor()


def stored_ratio(files: Iterable[Path]) -> float:
    """Return the share that a store of compressed, distinct records of 128 KiB would need."""
    records = [record for file in files for record in _records(file.read_bytes())]
    return sum(map(_kept_bytes, set(records))) / sum(map(len, records))


def _kept_bytes(record: bytes) -> int:
    return min(len(record), len(_ZSTD.compress(record)))


def _records(data: bytes) -> list[bytes]:
    return [data[begin : begin + _RECORD_BYTES] for begin in range(0, len(data), _RECORD_BYTES)]
