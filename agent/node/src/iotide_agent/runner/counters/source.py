"""What all counters have in common: files that stay open, a reading, and the rates between two readings."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

Reading = TypeVar("Reading")

_ONE_READ_BYTES: Final = 1 << 16


class Span(NamedTuple):
    """The time between two readings.

    `ticks` are those of all processors together, as /proc/stat counts them; None where it could not be read.
    """

    seconds: float
    ticks: int | None

    def share(self, name: str, ticks: int) -> dict[str, float]:
        """Return what part of all processors' time the ticks were, by name; nothing where that time is unknown."""
        return {} if self.ticks is None else {name: min(1.0, ticks / self.ticks)}


class TargetMount(NamedTuple):
    """The mount that a target of the run stands on; `device` is st_dev of the run's directory there."""

    mount_point: str
    fstype: str
    source: str
    device: int


class OpenFile:
    """A file of /proc or /sys that is opened once and read again from its beginning."""

    def __init__(self, path: Path | str) -> None:
        """Open it; raise OSError where this kernel has no such file, or this user may not read it."""
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self, size_bytes: int = 4096) -> bytes:
        """Return the first bytes as they are now; raise OSError where they are gone or switched off."""
        return os.pread(self._descriptor, size_bytes, 0)

    def pieces(self) -> Iterator[bytes]:
        """Yield a file that the kernel gives in pieces, as far as somebody asks for them; raise as `read`."""
        offset = 0
        while piece := os.pread(self._descriptor, _ONE_READ_BYTES, offset):
            yield piece
            offset += len(piece)

    def close(self) -> None:
        os.close(self._descriptor)


class Source(ABC, Generic[Reading]):
    """Some counters of one origin; making one raises OSError where the node does not have them."""

    files: Sequence[OpenFile] = ()

    @abstractmethod
    def read(self) -> Reading:
        """The kernel's figures now, most of them totals since the boot or the mount.

        Raises:
            OSError, ValueError, LookupError: they are gone, or are not written as they are known to be.
        """

    @abstractmethod
    def rates(self, before: Reading, after: Reading, span: Span) -> Mapping[str, float]:
        """The counters of the time between two readings; one that was not known all the time is left out."""

    def close(self) -> None:
        for file in self.files:
            file.close()


def growth(before: Sequence[int], after: Sequence[int]) -> list[int]:
    """What was added to each total; nothing where one began anew, as after a remount or a wrap."""
    return [new - old if new > old else 0 for old, new in zip(before, after, strict=True)]
