"""What programs did on the targets' Lustre mounts: llite/NAME-INSTANCE/stats, as `lctl get_param llite.*.stats` shows.

A line is `name count samples [unit]`, then smallest, largest and sum where the unit is not a plain count; it appears
with the first of its kind. The figures are those of the calls: what the client's cache answers is in them. The form is
that of texts that sites published (https://github.com/DDNStorage/LustrePerfMon/issues/26); none was recorded by us.
"""

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from iotide_agent.runner.counters.source import OpenFile, Source, Span, TargetMount, growth

_BELOW: Final = ("proc/fs/lustre/llite", "sys/kernel/debug/lustre/llite", "sys/fs/lustre/llite")
"""Where releases keep it: until 2.11, since 2.12 (for root alone), and where some builds do."""
_STATS_BYTES: Final = 16 * 1024
_CALLS: Final = {
    *("read_bytes", "write_bytes", "seek", "llseek", "mmap", "fsync", "truncate", "fallocate", "flock", "ioctl"),
    *("open", "close", "create", "mknod", "link", "unlink", "symlink", "rename", "mkdir", "rmdir", "readdir"),
    *("getattr", "setattr", "statfs", "getxattr", "setxattr", "listxattr", "removexattr"),
}
"""Lines whose counts are calls of programs, each once: newer releases count `read` beside `read_bytes` once more."""


class Calls(NamedTuple):
    """Totals since the mount."""

    read_bytes: int
    written_bytes: int
    operations: int


class LustreClient(Source[dict[str, Calls]]):
    """Of all targets on Lustre, each file system once, by the name of its instance: a remount makes another one."""

    def __init__(self, root: Path, targets: Iterable[TargetMount]) -> None:
        """Open the files; raise OSError where no target is on Lustre, or this user may not read them."""
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
        """Of all mounts together; nothing of a second in which one was mounted anew."""
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
    """The file system's name in `mgs@tcp:/name/directory`."""
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
