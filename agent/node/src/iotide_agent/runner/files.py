"""Files that are either the old text or the new one, whatever dies in between; all of the agent's state is kept so.

What only a live process writes again and again, and nobody needs after it, is a `Slate`.
"""

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
    """Put `text` at `path` by an atomic rename, for this user alone; raise OSError, and leave what was there.

    On a full disk it takes the room that was set aside for the order whose directory it is. `durable` also survives a
    power cut, at the price of two fsyncs.
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
    """Closes an open descriptor at the end of the block."""
    try:
        yield
    finally:
        os.close(descriptor)


class NotPlainError(Exception):
    """A name that somebody else may choose leads to a link, to a file with several names or to no file at all."""


def open_plain(file: Path, below: Path) -> int:
    """Open a file to read it; below `below` follow no link, wait for no pipe.

    Raise NotPlainError for anything but a plain file of one name, FileNotFoundError where there is none.
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
    """Makes the names in a directory survive a power cut."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with closing(descriptor):
        os.fsync(descriptor)


def read_json(path: Path) -> Any | None:  # noqa: ANN401 - JSON is any value; its reader knows the type
    """The JSON value at `path`, or None where no such file exists."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None


class PatientFile:
    """A file of an order: what a full disk refuses is kept in memory and written once there is room."""

    def __init__(self, path: Path, order_directory: Path, flags: int) -> None:
        """Opens it for the agent's own user alone; `flags` are os.O_TRUNC or os.O_APPEND."""
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flags, 0o600)
        self._order_directory = order_directory
        self._is_closing = False
        self.unwritten = bytearray()

    def write(self, data: bytes | bytearray) -> bool:
        """Write the data behind all that waits; return whether all is written. A full disk raises nothing."""
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
        """Closes it as soon as nothing waits; until then `write` tries again. Says whether all is written."""
        self._is_closing = True
        return self.write(b"")


class Slate:
    """A file whose text is written over in place.

    ext4 hands a new file's data to the disk as soon as it is renamed over another one, which is half a millisecond of
    a look that is taken each second, and a write beside the load. In place nothing is; but a reader may come in the
    middle of it, so the text is headed by its checksum.
    """

    def __init__(self, path: Path) -> None:
        """Opens it, empty, for the agent's own user alone."""
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)

    def write(self, text: str) -> None:
        """Replace the text; raise OSError on a full disk, after which readers find no text."""
        data = text.encode(errors="surrogateescape")
        os.pwrite(self._descriptor, b"%d %d\n%s" % (len(data), crc32(data), data), 0)

    def close(self) -> None:
        """Closes it; the text stays."""
        os.close(self._descriptor)


def read_slate(path: Path) -> str:
    """The text of a slate; none where there is none, or none yet, or it is being written."""
    try:
        head, _, rest = path.read_bytes().partition(b"\n")
        length_bytes, checksum = map(int, head.split())
    except (FileNotFoundError, ValueError):
        return ""
    data = rest[:length_bytes]
    return data.decode(errors="replace") if crc32(data) == checksum else ""
