"""Datagrams between sender and receiver of a stream, and how to count them."""

import argparse
import hashlib
import json
import math
import struct
from pathlib import Path
from typing import Final

HEADER: Final = struct.Struct("!16sQQ")
"""Header: magic, kind and stream in 16 bytes; a number, which is the sequence number of data; the sender's clock in ns,
or the sending time in LAST.
"""
STREAM_ID_BYTES: Final = 8
HELLO: Final = b"HELO"
"""From the sender, repeated until one of the next two returns."""
READY: Final = b"REDY"
STOP: Final = b"STOP"
"""From a receiver that declines the stream, because a lower rate of the ramp had losses."""
DATA: Final = b"DATA"
LAST: Final = b"LAST"
"""After the data, several times; its number is the count of sent datagrams."""

FILE_NAME: Final = "stream-{:06d}.data"
"""Name of a recorded file; numbers start from 1 in each directory."""
PAGE_BYTES: Final = 4096
START_SECONDS: Final = 60.0
"""Longest wait of each end for the other."""
INTERRUPTED_STATUS: Final = 130
"""Exit status of either end after a signal. The report then covers the finished part."""

_MAGIC: Final = b"iots"
_WINDOW: Final = 65_536


def add_arguments(parser: argparse.ArgumentParser, where: str | None = None) -> None:
    """Add both ways to name a stream: arguments on one node, a file between two.

    Every user of a node can read arguments, so only the file has the run's token.
    """
    if where is not None:
        parser.add_argument("--address", help=where)
        parser.add_argument("--port", type=int)
    parser.add_argument("--stream-id", help="16 hexadecimal digits, the same at both ends")
    parser.add_argument(
        "--endpoint-file",
        type=Path,
        help="file with address, ports and token of the receiver, instead of the options above",
    )
    parser.add_argument("--number", type=int, default=0, help="number of the stream, from 0, with --endpoint-file")


def parsed(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace:
    asked = parser.parse_args(arguments)
    if asked.endpoint_file is not None:
        endpoint = json.loads(asked.endpoint_file.read_bytes())
        asked.address, asked.port = endpoint["address"], endpoint["ports"][asked.number]
        asked.stream_id = stream_id(endpoint["token"], asked.number).hex()
        return asked
    for name in ("address", "port", "stream_id"):
        if name in asked and getattr(asked, name) is None:
            parser.error(f"give --{name.replace('_', '-')}, or --endpoint-file")
    return asked


def stream_id(token: str, number: int) -> bytes:
    """Return the id of a stream. It reveals neither the token nor the next id."""
    return hashlib.sha256(f"{token} {number}".encode()).digest()[:STREAM_ID_BYTES]


def prefix(kind: bytes, stream_id: bytes) -> bytes:
    return _MAGIC + kind + stream_id


def chunk_bytes(datagram_bytes: int, at_least_bytes: int = 8 * 1024**2) -> int:
    """Return the smallest chunk of that size or more with whole datagrams and, for O_DIRECT, whole pages."""
    unit_bytes = math.lcm(datagram_bytes, PAGE_BYTES)
    return -(-at_least_bytes // unit_bytes) * unit_bytes


def file_bytes(datagram_bytes: int, at_most_bytes: int) -> int:
    chunk = chunk_bytes(datagram_bytes)
    return max(1, at_most_bytes // chunk) * chunk


class Window:
    """Recognizes new datagrams within the last 65,536 sequence numbers.

    Attributes:
        unique: numbers that came for the first time.
        reordered: unique numbers that came after a higher one.
        late: numbers behind the window, new or not; not in `unique`.
        highest: -1 before the first.
    """

    def __init__(self) -> None:
        self.unique = 0
        self.duplicates = 0
        self.reordered = 0
        self.late = 0
        self.highest = -1
        self._seen = bytearray(_WINDOW)

    def take(self, number: int) -> bool:
        """Return true if the number is new."""
        ahead = number - self.highest
        place = number % _WINDOW
        if ahead > 0:
            if ahead > 1:
                self._skip(ahead)
            self.highest = number
        elif ahead <= -_WINDOW:
            self.late += 1
            return False
        elif self._seen[place]:
            self.duplicates += 1
            return False
        else:
            self.reordered += 1
        self._seen[place] = 1
        self.unique += 1
        return True

    def _skip(self, ahead: int) -> None:
        """Mark skipped numbers as missing; their slots held numbers that are now behind the window."""
        for number in range(self.highest + 1, self.highest + min(ahead, _WINDOW)):
            self._seen[number % _WINDOW] = 0
