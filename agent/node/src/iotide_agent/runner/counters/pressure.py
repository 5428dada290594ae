"""Pressure stall information: /proc/pressure, since Linux 4.20.

https://docs.kernel.org/accounting/psi.html: microseconds since boot in which at least one task ("some") or all
non-idle tasks ("full") waited. `full` of the CPU is undefined for a whole node.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from iotide_agent.runner.counters.source import OpenFile, Source, Span, growth

_KINDS: Final = {"cpu": ("some",), "io": ("some", "full"), "memory": ("some", "full")}
_NAMES: Final = tuple(f"psi_{resource}_{kind}_ratio" for resource, kinds in _KINDS.items() for kind in kinds)
_TOTAL: Final = re.compile(rb"total=(\d+)")
_MICROSECONDS: Final = 1e6


class Pressure(Source[list[int]]):
    def __init__(self, proc: Path) -> None:
        self.files = tuple(OpenFile(proc / "pressure" / resource) for resource in _KINDS)

    def read(self) -> list[int]:
        totals: list[int] = []
        for file, kinds in zip(self.files, _KINDS.values(), strict=True):
            totals += map(int, _TOTAL.findall(file.read(512))[: len(kinds)])
        return totals

    def rates(self, before: list[int], after: list[int], span: Span) -> Mapping[str, float]:
        longest = span.seconds * _MICROSECONDS
        shares = [min(1.0, stalled / longest) for stalled in growth(before, after)]
        return dict(zip(_NAMES, shares, strict=True))
