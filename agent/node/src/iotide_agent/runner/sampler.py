"""Looks at the load and the node once a second: a line of JSON for curves and progress, and what was printed last."""

import errno
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from iotide_agent.runner import processes
from iotide_agent.runner.files import replace_file
from iotide_agent.runner.tree import Bytes, LoadTree

PERIOD_SECONDS: Final = 1.0
STILL_SECONDS: Final = 10.0
"""A load without any growth for this long is reported with what it waits for."""
_SHORTEST_SECONDS: Final = 0.05
_DISK_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


class Reading(NamedTuple):
    """Counters at one moment; the differences of two readings make a row.

    Attributes:
        at: CLOCK_BOOTTIME, seconds.
        cpu: the node's ticks by kind, as in the first line of /proc/stat.
    """

    at: float
    load: Bytes
    cpu: tuple[int, ...]
    load1: float


def rates(before: Reading, after: Reading) -> dict[str, float]:
    """The counters of the time between two readings: bytes per second of the load, shares of all processors."""
    seconds = max(after.at - before.at, _SHORTEST_SECONDS)
    ticks = [max(0, new - old) for old, new in zip(before.cpu, after.cpu, strict=True)]
    user, nice, system, _idle, iowait, hard_irq, soft_irq, *_ = ticks
    # Guests' time, the last two columns, is part of user and nice already.
    all_ticks = max(1, sum(ticks[:8]))
    return {
        "write_bytes_per_second": max(0, after.load.written - before.load.written) / seconds,
        "read_bytes_per_second": max(0, after.load.read - before.load.read) / seconds,
        "cpu_user_ratio": (user + nice) / all_ticks,
        "cpu_system_ratio": (system + hard_irq + soft_irq) / all_ticks,
        "cpu_iowait_ratio": iowait / all_ticks,
        "load1": after.load1,
    }


class Sampler:
    """Writes one row for each second since it began; a second that it overslept gets the mean of the gap.

    Attributes:
        cpu_seconds: what all its looking cost.
        longest_still_seconds: the longest time in which nothing of the load grew.
        idle_seconds: since the load last moved a byte or printed; processor time alone, as of a loop over an error,
            is no work.
    """

    def __init__(self, file: Path, printed: Callable[[], tuple[int, str]]) -> None:
        """Begins now.

        Args:
            printed: how many bytes the load has printed so far, and the end of it.
        """
        self._tree = LoadTree()
        self._printed = printed
        self._stat = os.open("/proc/stat", os.O_RDONLY | os.O_CLOEXEC)
        self._loadavg = os.open("/proc/loadavg", os.O_RDONLY | os.O_CLOEXEC)
        self._unwritten = b""
        self._tail_file, self._tail = file.with_name("tail"), ""
        self._output = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self.cpu_seconds = 0.0
        self._cpu_seconds_written = 0.0
        self.longest_still_seconds = 0.0
        self.idle_seconds = 0.0
        self._began = processes.boottime()
        self._rows = 0
        self._last = self._read()
        self._step = 0
        self._step_began = self._last
        self._grew_at = self._worked_at = self._began
        self._growth: tuple[int, ...] = ()

    def begin_step(self, ordinal: int) -> None:
        """Counts from here for the progress of the step that starts next."""
        self._step = ordinal
        self._step_began = self._read()
        self._worked_at, self.idle_seconds = self._step_began.at, 0.0

    def look(self) -> None:
        """Takes the figures of processes that are about to be reaped."""
        self._tree.total()

    def tick(self) -> float:
        """Writes the rows up to now and says when the next is due."""
        cpu_before = time.thread_time()
        reading = self._read()
        due = int((reading.at - self._began) / PERIOD_SECONDS) - self._rows
        if due > 0:
            self._write(reading, due)
        self.cpu_seconds += time.thread_time() - cpu_before
        return self._began + (self._rows + 1) * PERIOD_SECONDS

    def finish(self) -> None:
        """Writes the last, shorter row, unless it is a blink."""
        reading = self._read()
        rest_seconds = reading.at - self._last.at
        if rest_seconds >= PERIOD_SECONDS / 2 or (self._rows == 0 and rest_seconds >= _SHORTEST_SECONDS):
            self._write(reading, 1)
        self._tree.close()
        for descriptor in (self._stat, self._loadavg, self._output):
            os.close(descriptor)

    def _write(self, reading: Reading, rows: int) -> None:
        printed_bytes, tail = self._printed()
        still_seconds, waits = self._watch_growth(reading, printed_bytes)
        seconds = max(reading.at - self._last.at, _SHORTEST_SECONDS)
        row = rates(self._last, reading) | {
            "sampler_cpu_ratio": (self.cpu_seconds - self._cpu_seconds_written) / seconds,
            "step": self._step,
            "step_written_bytes": reading.load.written - self._step_began.load.written,
            "step_read_bytes": reading.load.read - self._step_began.load.read,
            "step_seconds": reading.at - self._step_began.at,
            "still_seconds": still_seconds,
            "waits": waits,
        }
        self._replace_tail(tail)
        self._append((json.dumps(row) + "\n").encode() * rows)
        self._rows += rows
        self._last = reading
        self._cpu_seconds_written = self.cpu_seconds

    def _replace_tail(self, tail: str) -> None:
        if tail == self._tail:
            return
        with suppress(OSError):
            replace_file(self._tail_file, tail, durable=False)
            self._tail = tail

    def _append(self, lines: bytes) -> None:
        """Appends to the curves; what a full disk refuses is kept for the next row, as no load may suffer for it."""
        self._unwritten += lines
        try:
            self._unwritten = self._unwritten[os.write(self._output, self._unwritten) :]
        except OSError as error:
            if error.errno not in _DISK_FULL:
                raise

    def _watch_growth(self, reading: Reading, printed_bytes: int) -> tuple[float, str]:
        """Seconds without growth of bytes, output or processor time, and what the load waits for if that is long."""
        growth: tuple[int, ...] = (*reading.load, printed_bytes)
        if growth != self._growth[:3]:
            self._worked_at = reading.at
        self.idle_seconds = reading.at - self._worked_at
        if growth == self._growth[:3]:
            growth = (*growth, sum(stat.cpu_ticks for stat in self._tree.stats()))
        if growth != self._growth[: len(growth)]:
            self._grew_at = reading.at
        self._growth = growth
        still_seconds = reading.at - self._grew_at
        self.longest_still_seconds = max(self.longest_still_seconds, still_seconds)
        if still_seconds < STILL_SECONDS:
            return still_seconds, ""
        return still_seconds, "; ".join(str(found) for found in processes.stuck(self._tree.stats())[:3])

    def _read(self) -> Reading:
        line = os.pread(self._stat, 1024, 0).split(b"\n", 1)[0]
        cpu = tuple(int(field) for field in line.split()[1:])
        load1 = float(os.pread(self._loadavg, 64, 0).split()[0])
        return Reading(processes.boottime(), self._tree.total(), cpu, load1)
