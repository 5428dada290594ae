"""Measures how far storage could compress and deduplicate what a load wrote."""

import zlib
from collections.abc import Iterable
from pathlib import Path

from iotide_wire.units import KIB

ENOUGH_RATIO = 0.95
_RECORD_BYTES = 128 * KIB
_PIECE_BYTES = 64


def stored_ratio(files: Iterable[Path]) -> float:
    """Return the share that a store of compressed, distinct records of 128 KiB would need."""
    records = [record for file in files for record in _pieces(file.read_bytes(), _RECORD_BYTES)]
    return sum(map(_kept_bytes, set(records))) / sum(map(len, records))


def _kept_bytes(record: bytes) -> float:
    # zlib looks back 32 KiB. zstd, which file systems use, finds repeats in the whole record.
    pieces = _pieces(record, _PIECE_BYTES)
    return min(len(record), len(zlib.compress(record, 1)), len(record) * len(set(pieces)) / len(pieces))


def _pieces(data: bytes, piece_bytes: int) -> list[bytes]:
    return [data[begin : begin + piece_bytes] for begin in range(0, len(data), piece_bytes)]
