"""Memory available to programs, cached files and dirty pages: /proc/meminfo."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from iotide_agent.runner.counters.source import OpenFile, Source, Span

_FIELDS: Final = {
    "memory_available_bytes": b"\nMemAvailable:",
    "memory_cached_bytes": b"\nCached:",
    "memory_dirty_bytes": b"\nDirty:",
    "memory_writeback_bytes": b"\nWriteback:",
}
_KIB: Final = 1024


class MemoryLevels(Source[dict[str, float]]):
    def __init__(self, proc: Path) -> None:
        self.files = (OpenFile(proc / "meminfo"),)

    def read(self) -> dict[str, float]:
        """MemAvailable exists since kernel 3.14."""
        (file,) = self.files
        text = file.read()
        found = {}
        for name, label in _FIELDS.items():
            at = text.find(label)
            if at >= 0:
                found[name] = float(int(text[at + len(label) :].split(None, 1)[0]) * _KIB)
        return found

    def rates(self, before: dict[str, float], after: dict[str, float], span: Span) -> Mapping[str, float]:
        return after
