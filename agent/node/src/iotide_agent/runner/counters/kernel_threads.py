"""CPU time of the kernel threads of software RAID and device mapper: /proc/PID/stat.

md computes parity and copies in a thread per array (`md0_raid5`; LVM: `mdX_raid1`) and rebuilds in `md0_resync`.
Device mapper has threads for flushes (`kdmflush/253:0`) and encryption (`kcryptd/253:0`). Work in shared workers or
the calling process is only in cpu_system_ratio.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from iotide_agent.runner.counters.source import OpenFile, Source, Span

SCAN_READINGS: Final = 10
"""Readings between searches for new threads; a rebuild may begin at any time."""
_NAME: Final = re.compile(
    rb"(kworker/R-)?(md\w*_(raid\d+|resync|reclaim)|raid5wq|kdmflush|kcryptd|dmcrypt|dm[-_]|kcopyd|kmirrord|ksnaphd)"
)
_KTHREADD: Final = b"2"
"""Parent of all kernel threads."""


class RaidThreads(Source[dict[int, int]]):
    def __init__(self, proc: Path) -> None:
        self._proc = proc
        self._threads: dict[int, OpenFile] = {}
        self._known: set[str] = set()
        self._readings = 0

    def read(self) -> dict[int, int]:
        if self._readings % SCAN_READINGS == 0:
            self._look()
        self._readings += 1
        found = {}
        for pid, file in list(self._threads.items()):
            try:
                fields = _fields(file.read(512))
            except OSError:
                file.close()
                del self._threads[pid]
            else:
                found[pid] = int(fields[11]) + int(fields[12])
        return found

    def rates(self, before: dict[int, int], after: dict[int, int], span: Span) -> Mapping[str, float]:
        both = before.keys() & after.keys()
        ticks = sum(max(0, after[pid] - before[pid]) for pid in both)
        return span.share("raid_cpu_ratio", ticks) if both else {}

    def close(self) -> None:
        for file in self._threads.values():
            file.close()

    def _look(self) -> None:
        present = {name for name in os.listdir(self._proc) if name.isdigit()}  # noqa: PTH208 - twice as fast
        for pid in present - self._known:
            try:
                file = OpenFile(self._proc / pid / "stat")
            except OSError:
                continue
            if _is_ours(file):
                self._threads[int(pid)] = file
            else:
                file.close()
        self._known = present


def _is_ours(file: OpenFile) -> bool:
    try:
        text = file.read(512)
    except OSError:
        return False
    name = text[text.index(b"(") + 1 : text.rindex(b")")]
    return _fields(text)[1] == _KTHREADD and _NAME.match(name) is not None


def _fields(text: bytes) -> list[bytes]:
    """Return the fields after the name, which may contain spaces and parentheses."""
    return text[text.rindex(b")") + 2 :].split(None, 14)
