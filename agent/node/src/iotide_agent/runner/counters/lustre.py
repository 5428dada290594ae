"""Counters of calls on the targets' Lustre mounts, including cached ones: llite/NAME-INSTANCE/stats.

A line, `name count samples [unit]` with minimum, maximum and sum unless the unit is a plain count, appears with its
first call. The format is from published texts (https://github.com/DDNStorage/LustrePerfMon/issues/26), not from our
own recordings.
"""

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from iotide_agent.runner.counters.source import OpenFile, Source, Span, TargetMount, growth

_BELOW: Final = ("proc/fs/lustre/llite", "sys/kernel/debug/lustre/llite", "sys/fs/lustre/llite")
"""Up to 2.11, since 2.12 (root only), and some builds."""
_STATS_BYTES: Final = 16 * 1024
_CALLS: Final = {
    *("read_bytes", "write_bytes", "seek", "llseek", "mmap", "fsync", "truncate", "fallocate", "flock", "ioctl"),
    *("open", "close", "create", "mknod", "link", "unlink", "symlink", "rename", "mkdir", "rmdir", "readdir"),
    *("getattr", "setattr", "statfs", "getxattr", "setxattr", "listxattr", "removexattr"),
}
"""One line per call; newer releases have `read` in addition to `read_bytes`."""


class Calls(NamedTuple):
    read_bytes: int
    written_bytes: int
    operations: int


class LustreClient(Source[dict[str, Calls]]):
    """Counts each file system once, by its instance name; a remount creates a new one."""

    def __init__(self, root: Path, targets: Iterable[TargetMount]) -> None:
        self._root = root
        self._names = {_name(target.source) for target in targets if target.fstype == "lustre"}
        self._mounted: dict[str, OpenFile] = {}
        self._open()
        if not self._mounted:
            raise FileNotFoundError("no target is on Lustre, or its statistics are not readable")

    def read(self) -> dict[str, Calls]:
        try:
            if not self._mounted:
                self._open()
            return {instance: _calls(file.read(_STATS_BYTES)) for instance, file in self._mounted.items()}
        except OSError:
            self.close()
            self._mounted, self.files = {}, ()
            return {}

    def rates(self, before: dict[str, Calls], after: dict[str, Calls], span: Span) -> Mapping[str, float]:
        """Return the sum over all mounts; empty for a second with a remount."""
        if not after or before.keys() != after.keys():
            return {}
        grown = [growth(before[instance], new) for instance, new in after.items()]
        total = Calls(*map(sum, zip(*grown, strict=True)))
        return {
            "lustre_read_bytes_per_second": total.read_bytes / span.seconds,
            "lustre_write_bytes_per_second": total.written_bytes / span.seconds,
            "lustre_operations_per_second": total.operations / span.seconds,
        }

    def _open(self) -> None:
        for directory in chain.from_iterable((self._root / below).glob("*-*") for below in _BELOW):
            if directory.name.rpartition("-")[0] in self._names:
                self._mounted[directory.name] = OpenFile(directory / "stats")
                self.files = tuple(self._mounted.values())


def _name(source: str) -> str:
    return source.rpartition(":/")[2].partition("/")[0]


def _calls(text: bytes) -> Calls:
    sums = {"read_bytes": 0, "write_bytes": 0}
    operations = 0
    for line in text.decode(errors="replace").splitlines():
        name, *fields = line.split()
        if name not in _CALLS:
            continue
        operations += int(fields[0])
        if name in sums:
            sums[name] = int(fields[5])
    return Calls(sums["read_bytes"], sums["write_bytes"], operations)
