"""Reads a recorded stream back, counts its sequence numbers and removes the files.

Prints one line of JSON; without files, the stream was not recorded. Exits with 1 at the first error. Runs with
`python -I -S`.
"""

import argparse
import json
import mmap
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from iotide_agent.loads import stream_wire as wire


class Tally:
    """Datagrams in the files: all, unique ones of this stream, and `foreign`, which are broken or of another."""

    def __init__(self, stream_id: bytes, datagram_bytes: int, planned: int) -> None:
        self._data = wire.prefix(wire.DATA, stream_id)
        self._size = datagram_bytes
        self._seen = bytearray(planned)
        self.datagrams = 0
        self.unique = 0
        self.foreign = 0

    def add(self, data: memoryview) -> None:
        for offset in range(0, len(data), self._size):
            self.datagrams += 1
            if offset + self._size > len(data):
                self.foreign += 1
                return
            said, number, _ = wire.HEADER.unpack_from(data, offset)
            if said != self._data or number >= len(self._seen):
                self.foreign += 1
                continue
            self.unique += not self._seen[number]
            self._seen[number] = 1


def main(arguments: list[str]) -> int:
    try:
        asked = wire.parsed(_parser(), arguments)
    except OSError as error:
        sys.stderr.write(f"stream_verify: the id of the stream cannot be read: {error}\n")
        return 1
    tally = Tally(bytes.fromhex(asked.stream_id), asked.datagram_bytes, asked.datagrams)
    buffer = memoryview(mmap.mmap(-1, wire.chunk_bytes(asked.datagram_bytes)))
    files = [
        file
        for directory in asked.directory
        for file in sorted(Path(directory).glob(wire.FILE_NAME.replace("{:06d}", "*")))
    ]
    if not files:
        sys.stdout.write(json.dumps({"role": "verifier", "skipped": True}) + "\n")
        return 0
    read_bytes = 0
    began = time.monotonic()
    try:
        for file in files:
            for data in _pieces(file, buffer, direct=asked.direct):
                read_bytes += len(data)
                tally.add(data)
        seconds = time.monotonic() - began
        for file in files:
            file.unlink()
    except OSError as error:
        sys.stderr.write(f"stream_verify: {error}\n")
        return 1
    sys.stdout.write(json.dumps(_report(tally, read_bytes, seconds)) + "\n")
    return 0


def _pieces(file: Path, buffer: memoryview, *, direct: bool) -> Iterator[memoryview]:
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | (os.O_DIRECT if direct else 0))
    try:
        offset = 0
        # A short read is the end: a regular file returns all it has.
        while done := os.preadv(descriptor, [buffer], offset):
            yield buffer[:done]
            offset += done
            if done < len(buffer):
                return
    finally:
        os.close(descriptor)


def _report(tally: Tally, read_bytes: int, seconds: float) -> dict[str, Any]:
    return {
        "role": "verifier",
        "datagrams": tally.datagrams,
        "unique": tally.unique,
        "foreign": tally.foreign,
        "read_bytes": read_bytes,
        "seconds": seconds,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, prog="stream_verify.py")
    wire.add_arguments(parser)
    parser.add_argument("--datagram-bytes", type=int, required=True)
    parser.add_argument("--datagrams", type=int, required=True, help="number of planned datagrams")
    parser.add_argument("--direct", action="store_true", help="O_DIRECT")
    parser.add_argument("directory", nargs="+")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
