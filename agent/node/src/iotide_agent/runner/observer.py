"""Looks at a node that runs no load of its own order once a second: its curves stand beside those of the loads."""

import time
from pathlib import Path
from typing import Final

from iotide_agent.runner import processes
from iotide_agent.runner.counters.node import NodeCounters
from iotide_agent.runner.curve_file import CurveFile

PERIOD_SECONDS: Final = 1.0


class Observer:
    """Writes one row for each second since it began; a second that it overslept gets the mean of the gap."""

    def __init__(self, file: Path) -> None:
        self._node = NodeCounters(())
        self._file = CurveFile(file)
        self.cpu_seconds = 0.0
        self._cpu_seconds_written = 0.0
        self._began = self._last_at = processes.boottime()
        self._rows = 0

    def tick(self) -> float:
        """Writes the rows up to now and says when the next is due."""
        cpu_before = time.thread_time()
        now = processes.boottime()
        due = int((now - self._began) / PERIOD_SECONDS) - self._rows
        if due > 0:
            self._write(now, due)
        self.cpu_seconds += time.thread_time() - cpu_before
        return self._began + (self._rows + 1) * PERIOD_SECONDS

    def finish(self) -> None:
        """Writes the last, shorter row, unless it is a blink."""
        now = processes.boottime()
        if now - self._last_at >= PERIOD_SECONDS / 2:
            self._write(now, 1)
        self._node.close()
        self._file.close()

    def write_rest(self) -> bool:
        """Writes rows that wait for room on the agent's disk; says whether all are written."""
        return self._file.write_rest()

    def _write(self, now: float, rows: int) -> None:
        seconds = now - self._last_at
        _, counters = self._node.sample(seconds)
        counters["sampler_cpu_ratio"] = (self.cpu_seconds - self._cpu_seconds_written) / seconds
        self._file.append(counters, rows)
        self._rows += rows
        self._last_at = now
        self._cpu_seconds_written = self.cpu_seconds
