"""All counters of the node as one: those that it has are read, those that it loses are left out from then on."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
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

_UNREADABLE: Final = (OSError, ValueError, LookupError)
"""What a source raises where the kernel has no such file, takes it away or writes it in an unknown way."""


class NodeCounters:
    """The node's counters while a run lasts; nothing that the kernel says or does not say ends the run."""

    def __init__(self, targets: Sequence[TargetMount], root: Path = Path("/")) -> None:
        """Take the first reading; `proc` and `sys` are below `root`."""
        self._processors = Processors(root / "proc")
        self._times = self._processors.read()
        self._followed = [followed for make in _makers(targets, root) if (followed := _follow(make)) is not None]

    def sample(self, seconds: float) -> tuple[Span, dict[str, float]]:
        """The counters of the time since the last reading, `seconds` ago; one that the node has not got is absent."""
        times = self._processors.read()
        span = Span(seconds, times.ticks_since(self._times))
        counters = dict(self._processors.rates(self._times, times, span))
        self._times = times
        for followed in self._followed[:]:
            try:
                counters.update(followed.sample(span))
            except _UNREADABLE as error:
                name = type(followed.source).__name__
                sys.stderr.write(f"counters_lost source={name} error={type(error).__name__}: {error}\n")
                followed.source.close()
                self._followed.remove(followed)
        return span, counters

    def close(self) -> None:
        for source in (self._processors, *(followed.source for followed in self._followed)):
            source.close()


class _Followed:
    """A source and its last reading."""

    def __init__(self, source: Source[Any]) -> None:
        self.source = source
        self._last = source.read()

    def sample(self, span: Span) -> Mapping[str, float]:
        before, self._last = self._last, self.source.read()
        return self.source.rates(before, self._last, span)


def _makers(targets: Sequence[TargetMount], root: Path) -> Iterator[Callable[[], Source[Any]]]:
    proc, sys_ = root / "proc", root / "sys"
    yield partial(Pressure, proc)
    yield partial(MemoryLevels, proc)
    yield partial(Disks, sys_, targets)
    yield partial(Network, proc, sys_)
    yield partial(NfsClient, proc, targets)
    yield partial(LustreClient, root, targets)
    yield partial(RaidThreads, proc)


def _follow(make: Callable[[], Source[Any]]) -> _Followed | None:
    try:
        return _Followed(make())
    except _UNREADABLE:
        return None  # this node has none
