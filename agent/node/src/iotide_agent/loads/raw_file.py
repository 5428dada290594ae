"""Looks at a file or a block device that a run only reads.

Usage: raw_file.py look PATH
       raw_file.py read PATH PROGRAM ARGUMENT...

look prints how much of it was ever written: its holes, and how many of some sampled blocks read back as zeroes.
read prints its size and whether O_DIRECT works there, then becomes the program. If O_DIRECT does not work, the
argument --direct=1 becomes --direct=0. Each prints one line of JSON on stdout. Exits with status 1 and a message if
PATH cannot be opened or the program cannot start. Runs with `python -I -S`.
"""

import json
import mmap
import os
import random
import stat
import sys
import time
from pathlib import Path

_BLOCK_BYTES = 4096
_SAMPLES = 512
# A read from a busy disk may take 100 ms; a sample of fewer blocks is still a sample.
_LONGEST_SECONDS = 5.0
_MOST_EXTENTS = 100_000
_DIRECT = "--direct=1"


def main(arguments: list[str]) -> int:
    try:
        match arguments:
            case ["look", path]:
                _print(_look(path))
                return 0
            case ["read", path, _, *_]:
                _become(path, arguments[2:])
            case _:
                sys.stderr.write(__doc__ or "")
                return 2
    except OSError as error:
        sys.stderr.write(f"raw_file: {error}\n")
    return 1


def _become(path: str, command: list[str]) -> None:
    size_bytes = _size(path)
    problem = _direct_problem(path) if _DIRECT in command else ""
    _print({"size_bytes": size_bytes, "direct_problem": problem})
    changed = ["--direct=0" if problem and word == _DIRECT else word for word in command]
    os.execvp(changed[0], changed)  # noqa: S606 - an argument list, as the agent made it


def _direct_problem(path: str) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
    except OSError as error:
        return os.strerror(error.errno or 0)
    try:
        with mmap.mmap(-1, _BLOCK_BYTES) as aligned:
            os.preadv(descriptor, [aligned], 0)
    except OSError as error:
        return os.strerror(error.errno or 0)
    finally:
        os.close(descriptor)
    return ""


def _look(path: str) -> dict[str, object]:
    size_bytes = _size(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        sampled, zeroes = _sample(path, descriptor, size_bytes)
        found: dict[str, object] = {"size_bytes": size_bytes, "sampled": sampled, "zeroes": zeroes, "discards": False}
        if stat.S_ISBLK(status.st_mode):
            return found | _device(status.st_rdev, size_bytes)
        return found | {"hole_bytes": _hole_bytes(descriptor, size_bytes)}
    finally:
        os.close(descriptor)


def _size(path: str) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.lseek(descriptor, 0, os.SEEK_END)  # stat does not report the size of a device
    finally:
        os.close(descriptor)


def _hole_bytes(descriptor: int, size_bytes: int) -> int:
    """Return the bytes without allocated data; a file system that does not know holes reports none."""
    data_bytes = offset = 0
    try:
        for _ in range(_MOST_EXTENTS):
            begin = os.lseek(descriptor, offset, os.SEEK_DATA)
            offset = os.lseek(descriptor, begin, os.SEEK_HOLE)
            data_bytes += offset - begin
            if offset >= size_bytes:
                break
        else:
            return (offset - data_bytes) * size_bytes // offset  # so far, scaled to the whole
    except OSError:
        pass  # ENXIO: no data after this offset
    return size_bytes - data_bytes


def _device(number: int, size_bytes: int) -> dict[str, object]:
    """Return the facts about blocks of a device that need no storage."""
    device = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    discards = _text(device / "queue/discard_max_bytes") not in {"", "0"}
    backing = _text(device / "loop/backing_file")
    if not backing:
        return {"discards": discards, "hole_bytes": 0}
    try:
        descriptor = os.open(backing, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return {"discards": discards, "hole_bytes": 0}
    try:
        return {"discards": discards, "hole_bytes": min(size_bytes, _hole_bytes(descriptor, size_bytes))}
    finally:
        os.close(descriptor)


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def _sample(path: str, descriptor: int, size_bytes: int) -> tuple[int, int]:
    """Read blocks that are spread over the whole; return their number and how many hold only zeroes."""
    blocks = size_bytes // _BLOCK_BYTES
    count = min(_SAMPLES, blocks)
    until = time.monotonic() + _LONGEST_SECONDS
    sampled = zeroes = 0
    direct = -1 if _direct_problem(path) else os.open(path, os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
    reader = descriptor if direct < 0 else direct
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
    try:
        with mmap.mmap(-1, _BLOCK_BYTES) as block:
            # In random order, so that a sample that takes too long still covers the whole.
            for number in random.sample(range(count), count):
                # Anywhere in its part: a fixed distance could meet only the headers of a format.
                begin, end = blocks * number // count, blocks * (number + 1) // count
                [chosen] = random.sample(range(begin, end), 1)
                offset = chosen * _BLOCK_BYTES
                sampled += 1
                zeroes += os.preadv(reader, [block], offset) == _BLOCK_BYTES and not any(block[:])
                if direct < 0:
                    os.posix_fadvise(descriptor, offset, _BLOCK_BYTES, os.POSIX_FADV_DONTNEED)
                if time.monotonic() >= until:
                    break
    finally:
        if direct >= 0:
            os.close(direct)
    return sampled, zeroes


def _print(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
