"""The datagrams of a stream: what its sender and its receiver say to each other, and how they count them."""

import argparse
import hashlib
import json
import math
import struct
from pathlib import Path
from typing import Final

HEADER: Final = struct.Struct("!16sQQ")
"""Magic, kind and stream in 16 bytes; a number, which is the sequence number of data; the sender's clock in ns, and
with LAST how long it sent, in ns.
"""
STREAM_ID_BYTES: Final = 8
HELLO: Final = b"HELO"
"""From the sender, again and again until one of the next two comes back."""
READY: Final = b"REDY"
STOP: Final = b"STOP"
"""From a receiver that does not want this stream: an earlier, slower one of the ramp already lost something."""
DATA: Final = b"DATA"
LAST: Final = b"LAST"
"""After the data, several times; its number is how many datagrams were sent."""

FILE_NAME: Final = "stream-{:06d}.data"
"""Of a recorded file, numbered from 1 in each directory."""
PAGE_BYTES: Final = 4096
START_SECONDS: Final = 60.0
"""How long each end waits for the other to appear."""
INTERRUPTED_STATUS: Final = 130
"""Of either end when a signal ended it; its report is then complete, of the part that was done."""

_MAGIC: Final = b"iots"
_WINDOW: Final = 65_536


def add_arguments(parser: argparse.ArgumentParser, where: str | None = None) -> None:
    """Add the two ways to name a stream: arguments on one node, a file between two; `where` describes the address.

    Arguments can be read by every user of a node, so the run's token stands in the file alone.
    """
    if where is not None:
        parser.add_argument("--address", help=where)
        parser.add_argument("--port", type=int)
    parser.add_argument("--stream-id", help="16 hexadecimal digits, the same at both ends")
    parser.add_argument("--endpoint-file", type=Path, help="instead of these: address, ports and token of the receiver")
    parser.add_argument("--number", type=int, default=0, help="of the stream, from 0, with --endpoint-file")


def parsed(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace:
    """Return the arguments, completed out of the endpoint's file; raise OSError where it cannot be read."""
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
    """What names one stream of a run to its two ends, and tells nobody the token or the name of the next."""
    return hashlib.sha256(f"{token} {number}".encode()).digest()[:STREAM_ID_BYTES]


def prefix(kind: bytes, stream_id: bytes) -> bytes:
    """How every datagram of this kind in this stream begins."""
    return _MAGIC + kind + stream_id


def chunk_bytes(datagram_bytes: int, at_least_bytes: int = 8 * 1024**2) -> int:
    """The smallest chunk of at least so many bytes that holds whole datagrams and, for O_DIRECT, whole pages."""
    unit_bytes = math.lcm(datagram_bytes, PAGE_BYTES)
    return -(-at_least_bytes // unit_bytes) * unit_bytes


def file_bytes(datagram_bytes: int, at_most_bytes: int) -> int:
    """What a file holds: whole chunks, at least one."""
    chunk = chunk_bytes(datagram_bytes)
    return max(1, at_most_bytes // chunk) * chunk


class Window:
    """Tells what is new from what came before, exactly, as far back as 65,536 sequence numbers.

    Attributes:
        unique: numbers that came for the first time.
        duplicates: came again.
        reordered: of the unique ones, those that came after a higher number.
        late: behind the window, so that nothing can be said of them; they are not among the unique ones.
        highest: number so far, -1 before the first.
    """

    def __init__(self) -> None:
        self.unique = 0
        self.duplicates = 0
        self.reordered = 0
        self.late = 0
        self.highest = -1
        self._seen = bytearray(_WINDOW)

    def take(self, number: int) -> bool:
        """Counts the number and says whether it is a new one."""
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
        """Numbers that were jumped over have not been seen; what stood in their places is behind the window now."""
        for number in range(self.highest + 1, self.highest + min(ahead, _WINDOW)):
            self._seen[number % _WINDOW] = 0
