"""Atomic files: a reader sees the old or the new text, whatever process dies. All of the agent's state uses them."""

import json
import os
import stat
from binascii import crc32
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from iotide_agent.runner.headroom import give_back, is_full


def replace_file(path: Path, text: str, *, durable: bool) -> None:
    """Replace `path` by an atomic rename, readable for this user only; raise OSError and keep the old file.

    A full disk uses the space reserved for the order. `durable` survives a power failure, at the cost of two fsyncs.
    """
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        _replace(path, new, text, durable=durable)
    except OSError as error:
        with suppress(OSError):
            new.unlink()
        if not (is_full(error) and give_back(path.parent)):
            raise
        _replace(path, new, text, durable=durable)


def _replace(path: Path, new: Path, text: str, *, durable: bool) -> None:
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123 - of a descriptor
        file.write(text)
        file.flush()
        if durable:
            os.fsync(descriptor)
    new.replace(path)
    if durable:
        sync_directory(path.parent)


@contextmanager
def closing(descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(descriptor)


class NotPlainError(Exception):
    """Not a plain file with one name, in a directory where other users may choose names."""


def open_plain(file: Path, below: Path) -> int:
    """Open a file for reading; below `below`, follow no link and wait for no pipe.

    Raise NotPlainError unless it is a plain file with one name.
    """
    descriptor = os.open(below, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    *directories, name = file.relative_to(below).parts
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        for part in directories:
            with closing(descriptor):
                descriptor = os.open(part, flags | os.O_DIRECTORY, dir_fd=descriptor)
        with closing(descriptor):
            opened = os.open(name, flags, dir_fd=descriptor)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NotPlainError(error.strerror) from error
    found = os.fstat(opened)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        os.close(opened)
        raise NotPlainError(f"mode {found.st_mode:o}, {found.st_nlink} names")
    return opened


def sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with closing(descriptor):
        os.fsync(descriptor)


def read_json(path: Path) -> Any | None:  # noqa: ANN401 - JSON is any value; its reader knows the type
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None


class PatientFile:
    """File of an order that keeps data in memory while the disk is full."""

    def __init__(self, path: Path, order_directory: Path, flags: int) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flags, 0o600)
        self._order_directory = order_directory
        self._is_closing = False
        self.unwritten = bytearray()

    def write(self, data: bytes | bytearray) -> bool:
        """Append data after what waits; return true if all is written. A full disk raises nothing."""
        self.unwritten += data
        try:
            while self.unwritten:
                del self.unwritten[: os.write(self._descriptor, self.unwritten)]
        except OSError as error:
            if not is_full(error):
                raise
            if give_back(self._order_directory):
                return self.write(b"")
        if self._is_closing and not self.unwritten:
            os.close(self._descriptor)
            self._is_closing = False
        return not self.unwritten

    def close(self) -> bool:
        """Close the file if nothing waits; otherwise `write` tries again. Return true if all is written."""
        self._is_closing = True
        return self.write(b"")


class Slate:
    """File for one process's frequent updates in place, with a checksum against a read during a write.

    A rename makes ext4 flush the new file: half a millisecond per second, and a write next to the benchmark.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)

    def write(self, text: str) -> None:
        """Replace the text; raise OSError on a full disk, after which readers find no text."""
        data = text.encode(errors="surrogateescape")
        os.pwrite(self._descriptor, b"%d %d\n%s" % (len(data), crc32(data), data), 0)

    def close(self) -> None:
        os.close(self._descriptor)


def read_slate(path: Path) -> str:
    """Return "" if the text is missing, empty or being written."""
    try:
        head, _, rest = path.read_bytes().partition(b"\n")
        length_bytes, checksum = map(int, head.split())
    except (FileNotFoundError, ValueError):
        return ""
    data = rest[:length_bytes]
    return data.decode(errors="replace") if crc32(data) == checksum else ""
