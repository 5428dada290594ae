"""Idle sample: the kernel's totals of an idle node, read once a second from open files.

The seconds of the last minute stay valid across loads, for nodes with one short run after another. Dirty pages of the
previous run are written back while the node is already idle. That many bytes do not count, and waits for storage are
not judged until then.
"""

import os
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from iotide_agent.judging.quiet import RECENT_SECONDS, SAMPLE_SECONDS, Idle, collected
from iotide_agent.runner.counters.disk import Disks
from iotide_agent.runner.counters.memory import MemoryLevels
from iotide_agent.runner.counters.network import Network
from iotide_agent.runner.counters.node import UNREADABLE, Sources
from iotide_agent.runner.counters.pressure import Pressure
from iotide_agent.runner.counters.processors import Processors, RunningTasks
from iotide_agent.runner.processes import boottime

WRITE_BACK_SECONDS: Final = 60.0
"""Dirty pages are written after 30 s (vm.dirty_expire_centisecs), so later writes are not the run's."""
_SHORTEST_SECONDS: Final = 0.95
"""Shorter intervals are too coarse: totals count in ticks of 10 ms. A timer may be some milliseconds early."""
_OVERHEAD: Final = 1.25
"""Maximum bytes that a file system writes per byte of data, with metadata."""


class _Reading(NamedTuple):
    at: float
    totals: Mapping[str, Any]


class _Second(NamedTuple):
    ended_at: float
    idle: Idle


class IdleSample:
    """The newest seconds that make up SAMPLE_SECONDS, none older than RECENT_SECONDS."""

    def __init__(self, root: Path = Path("/"), clock: Callable[[], float] = boottime, processors: int = 0) -> None:
        """Read nothing yet; `proc` and `sys` are below `root`. With 0 processors the system's number is used."""
        self._root = root
        self._clock = clock
        self._processors = processors or os.cpu_count() or 1
        self._sources = Sources()
        self._seconds: deque[_Second] = deque()
        self._first: _Reading | None = None
        self._newest: _Reading | None = None
        self._own_bytes = 0.0

    def now(self) -> float:
        return self._clock()

    def begin(self) -> None:
        self._open()
        self._own_bytes = _OVERHEAD * self._unwritten_bytes()
        self._first = self._newest = self._read()

    def stop(self) -> None:
        """End the idle time; the current second does not count."""
        self._first = self._newest = None

    def take(self) -> None:
        before = self._newest
        if self._first is None or before is None:
            self.begin()
            return
        if self._clock() - before.at < _SHORTEST_SECONDS:
            return
        self._newest = after = self._read()
        self._seconds.append(_Second(after.at, self._between(before, after)))
        while after.at - self._seconds[0].ended_at > RECENT_SECONDS:
            self._seconds.popleft()
        if self._own_bytes and after.at - self._first.at > WRITE_BACK_SECONDS:
            self._own_bytes = min(self._own_bytes, self._written(after))

    def measured(self, *, is_fresh: bool = False) -> Idle | None:
        """Return the newest seconds of the last minute, or since the last load if `is_fresh`; None for none."""
        if self._first is not None:
            self.take()
        now = self._clock()
        if is_fresh and self._first is None:
            return None
        begins_at = self._first.at if is_fresh and self._first is not None else now - RECENT_SECONDS
        newest: list[Idle] = []
        oldest_at = now
        for second in reversed(self._seconds):
            if second.ended_at <= begins_at or sum(part.seconds for part in newest) >= SAMPLE_SECONDS:
                break
            newest.append(second.idle)
            oldest_at = second.ended_at - second.idle.seconds
        return collected(newest[::-1], now - oldest_at) if newest else None

    def _between(self, before: _Reading, after: _Reading) -> Idle:
        seconds = after.at - before.at
        _, rates = self._sources.rates(before.totals, after.totals, seconds)
        own_written = min(self._written(after), self._own_bytes) - min(self._written(before), self._own_bytes)
        return Idle(
            seconds=seconds,
            processors=self._processors,
            running_tasks=after.totals.get("running"),
            load1=rates.get("load1"),
            cpu_ratio=_sum(rates, "cpu_user_ratio", "cpu_system_ratio"),
            psi_cpu_ratio=rates.get("psi_cpu_some_ratio"),
            psi_io_ratio=None if own_written else rates.get("psi_io_some_ratio"),
            disk_bytes_per_second=_less(
                _sum(rates, "disk_read_bytes_per_second", "disk_write_bytes_per_second"), own_written / seconds
            ),
            network_bytes_per_second=_sum(rates, "net_receive_bytes_per_second", "net_send_bytes_per_second"),
        )

    def close(self) -> None:
        self._sources.close()

    def _open(self) -> None:
        """Disks are opened each time, because new ones may have appeared."""
        proc, sys_ = self._root / "proc", self._root / "sys"
        self._sources.drop("disks")
        self._sources.open(
            {
                "processors": partial(Processors, proc),
                "pressure": partial(Pressure, proc),
                "disks": partial(Disks, sys_, ()),
                "network": partial(Network, proc, sys_),
                "running": partial(RunningTasks, proc),
            }
        )

    def _read(self) -> _Reading:
        return _Reading(self._clock(), self._sources.read())

    def _written(self, reading: _Reading) -> float:
        first = {} if self._first is None else self._first.totals
        _, totals = self._sources.rates(first, reading.totals, 1.0)  # rates over one second are totals
        return totals.get("disk_write_bytes_per_second", 0.0)

    def _unwritten_bytes(self) -> float:
        try:
            with closing(MemoryLevels(self._root / "proc")) as memory:
                levels = memory.read()
        except UNREADABLE:
            return 0.0
        return float(levels.get("memory_dirty_bytes", 0.0)) + float(levels.get("memory_writeback_bytes", 0.0))


def _sum(rates: Mapping[str, float], *names: str) -> float | None:
    found = [rates[name] for name in names if name in rates]
    return sum(found) if len(found) == len(names) else None


def _less(rate: float | None, own: float) -> float | None:
    return None if rate is None else max(0.0, rate - own)
