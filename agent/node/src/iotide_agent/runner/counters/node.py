"""All counters of the node; a source that fails is left out from then on."""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from iotide_agent.runner.counters.disk import Disks
from iotide_agent.runner.counters.kernel_threads import RaidThreads
from iotide_agent.runner.counters.lustre import LustreClient
from iotide_agent.runner.counters.memory import MemoryLevels
from iotide_agent.runner.counters.network import Network
from iotide_agent.runner.counters.nfs import NfsClient
from iotide_agent.runner.counters.pressure import Pressure
from iotide_agent.runner.counters.processors import Processors
from iotide_agent.runner.counters.source import Source, Span, TargetMount

UNREADABLE: Final = (OSError, ValueError, LookupError)


class Sources:
    """A source that fails is closed and, if `says_lost`, reported on stderr."""

    def __init__(self) -> None:
        self.says_lost = False
        self._open: dict[str, Source[Any]] = {}

    def open(self, makers: Mapping[str, Callable[[], Source[Any]]]) -> None:
        for name, make in makers.items():
            with suppress(*UNREADABLE):
                if name not in self._open:
                    self._open[name] = make()

    def read(self) -> dict[str, Any]:
        totals: dict[str, Any] = {}
        for name, source in list(self._open.items()):
            try:
                totals[name] = source.read()
            except UNREADABLE as error:
                self._lose(name, error)
        return totals

    def rates(
        self, before: Mapping[str, Any], after: Mapping[str, Any], seconds: float
    ) -> tuple[Span, dict[str, float]]:
        common = [name for name in self._open if name in before and name in after]
        ticks = after["processors"].ticks_since(before["processors"]) if "processors" in common else None
        span, rates = Span(seconds, ticks), dict[str, float]()
        for name in common:
            try:
                rates |= self._open[name].rates(before[name], after[name], span)
            except UNREADABLE as error:
                self._lose(name, error)
        return span, rates

    def drop(self, name: str) -> None:
        if source := self._open.pop(name, None):
            source.close()

    def close(self) -> None:
        for name in list(self._open):
            self.drop(name)

    def _lose(self, name: str, error: Exception) -> None:
        if self.says_lost:
            source = type(self._open[name]).__name__
            sys.stderr.write(f"counters_lost source={source} error={type(error).__name__}: {error}\n")
        self.drop(name)


class NodeCounters:
    """Counters of the node during a run; no kernel interface can make the run fail."""

    def __init__(self, targets: Sequence[TargetMount], root: Path = Path("/")) -> None:
        proc, sys_ = root / "proc", root / "sys"
        self._sources = Sources()
        self._sources.open(
            {
                "processors": partial(Processors, proc),
                "pressure": partial(Pressure, proc),
                "memory": partial(MemoryLevels, proc),
                "disks": partial(Disks, sys_, targets),
                "network": partial(Network, proc, sys_),
                "nfs": partial(NfsClient, proc, targets),
                "lustre": partial(LustreClient, root, targets),
                "raid": partial(RaidThreads, proc),
            }
        )
        self._last = self._sources.read()
        self._sources.says_lost = True

    def sample(self, seconds: float) -> tuple[Span, dict[str, float]]:
        """Leave out missing counters. The last reading was `seconds` ago."""
        before, self._last = self._last, self._sources.read()
        return self._sources.rates(before, self._last, seconds)

    def close(self) -> None:
        self._sources.close()
