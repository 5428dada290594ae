"""Base of all counters: open files, readings, and rates between two readings."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

Reading = TypeVar("Reading")

_ONE_READ_BYTES: Final = 1 << 16


class Span(NamedTuple):
    """Time between two readings, with the ticks of all CPUs in it, or None."""

    seconds: float
    ticks: int | None

    def share(self, name: str, ticks: int) -> dict[str, float]:
        return {} if self.ticks is None else {name: min(1.0, ticks / self.ticks)}


class TargetMount(NamedTuple):
    """`device` is st_dev of the run's directory there."""

    mount_point: str
    fstype: str
    source: str
    device: int


class OpenFile:
    def __init__(self, path: Path | str) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self, size_bytes: int = 4096) -> bytes:
        """Return the first bytes of the current content; raise OSError if the file is gone or switched off."""
        return os.pread(self._descriptor, size_bytes, 0)

    def pieces(self) -> Iterator[bytes]:
        offset = 0
        while piece := os.pread(self._descriptor, _ONE_READ_BYTES, offset):
            yield piece
            offset += len(piece)

    def close(self) -> None:
        os.close(self._descriptor)


class Source(ABC, Generic[Reading]):
    """The constructor raises OSError if the node lacks the counters."""

    files: Sequence[OpenFile] = ()

    @abstractmethod
    def read(self) -> Reading:
        """Return figures, most of them totals; raise OSError, ValueError or LookupError."""

    @abstractmethod
    def rates(self, before: Reading, after: Reading, span: Span) -> Mapping[str, float]:
        pass

    def close(self) -> None:
        for file in self.files:
            file.close()


def growth(before: Sequence[int], after: Sequence[int]) -> list[int]:
    """Return the increase of each total; empty if one restarted, as after a remount or a wrap."""
    return [new - old if new > old else 0 for old, new in zip(before, after, strict=True)]
