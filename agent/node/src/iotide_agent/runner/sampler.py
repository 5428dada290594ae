"""Looks at the load and the node once a second: a line of JSON for curves and progress, and what was printed last."""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from iotide_agent.runner import processes
from iotide_agent.runner.counters.node import NodeCounters
from iotide_agent.runner.counters.source import Span, TargetMount, growth
from iotide_agent.runner.curve_file import CurveFile
from iotide_agent.runner.files import Slate
from iotide_agent.runner.tree import LoadTree, Used

PERIOD_SECONDS: Final = 1.0
STILL_SECONDS: Final = 10.0
"""A load without any growth for this long is reported with what it waits for."""
_SHORTEST_SECONDS: Final = 0.05
_STATE: Final = (
    '"step": %d, "step_written_bytes": %d, "step_read_bytes": %d, "step_seconds": %.6f, "still_seconds": %.6f, '
    '"waits": %s'
)

Printed = Callable[[], tuple[int, str]]
"""How many bytes the load has printed so far, and the end of it."""


class LoadReading(NamedTuple):
    """The load at a moment of CLOCK_BOOTTIME."""

    at: float
    load: Used


def load_rates(before: Used, after: Used, span: Span) -> dict[str, float]:
    """The load's own counters of the time between two readings."""
    written_bytes, read_bytes, cpu_ticks = growth(before, after)
    return {
        "write_bytes_per_second": written_bytes / span.seconds,
        "read_bytes_per_second": read_bytes / span.seconds,
        "load_cpu_ratio": min(1.0, cpu_ticks / span.ticks),
    }


class Sampler:
    """Writes one row for each second since it began; a second that it overslept gets the mean of the gap.

    Attributes:
        cpu_seconds: what all its looking cost.
        longest_still_seconds: the longest time in which nothing of the load grew.
        idle_seconds: since the load last moved a byte or printed; processor time alone, as of a loop over an error,
            is no work.
    """

    def __init__(self, file: Path, targets: Sequence[TargetMount], printed: Printed) -> None:
        """Open what it looks at, also the targets' devices and network file systems; count from `begin`."""
        self._tree = LoadTree()
        self._printed = printed
        self._node = NodeCounters(targets)
        self._slate, self._tail = Slate(file.with_name("tail")), ""
        self._output = CurveFile(file, _STATE)
        self.cpu_seconds = 0.0
        self._cpu_seconds_written = 0.0
        self.longest_still_seconds = 0.0
        self.idle_seconds = 0.0
        self._rows = 0
        self._step = 0
        self._moved: tuple[int, ...] = ()
        self._last = self._step_began = self._read()
        self._began = self._grew_at = self._worked_at = self._last.at

    def begin(self, at: float) -> None:
        """Counts from a moment of CLOCK_BOOTTIME, which may be some milliseconds ahead, and from what it reads now."""
        self._node.sample(_SHORTEST_SECONDS)
        self._last = self._step_began = self._read()._replace(at=at)
        self._began = self._grew_at = self._worked_at = at

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
        self._node.close()
        self._slate.close()
        self._output.close()

    def write_rest(self) -> bool:
        """Writes rows that wait for room on the agent's disk; says whether all are written."""
        return self._output.write_rest()

    def _write(self, reading: LoadReading, rows: int) -> None:
        printed_bytes, tail = self._printed()
        still_seconds, waits = self._watch_growth(reading, printed_bytes)
        seconds = max(reading.at - self._last.at, _SHORTEST_SECONDS)
        span, counters = self._node.sample(seconds)
        counters |= load_rates(self._last.load, reading.load, span)
        counters["sampler_cpu_ratio"] = (self.cpu_seconds - self._cpu_seconds_written) / seconds
        written_bytes, read_bytes, _ = growth(self._step_began.load, reading.load)
        step_seconds = reading.at - self._step_began.at
        state = (self._step, written_bytes, read_bytes, step_seconds, still_seconds, json.dumps(waits))
        self._replace_tail(tail)
        self._output.append(counters, rows, state)
        self._rows += rows
        self._last = reading
        self._cpu_seconds_written = self.cpu_seconds

    def _replace_tail(self, tail: str) -> None:
        if tail == self._tail:
            return
        with suppress(OSError):
            self._slate.write(tail)
            self._tail = tail

    def _watch_growth(self, reading: LoadReading, printed_bytes: int) -> tuple[float, str]:
        """Seconds without growth of bytes, output or processor time, and what the load waits for if that is long."""
        moved = (*reading.load[:2], printed_bytes)
        if moved != self._moved:
            self._worked_at = reading.at
        if moved != self._moved or reading.load.cpu_ticks != self._last.load.cpu_ticks:
            self._grew_at = reading.at
        self._moved = moved
        self.idle_seconds = reading.at - self._worked_at
        still_seconds = reading.at - self._grew_at
        self.longest_still_seconds = max(self.longest_still_seconds, still_seconds)
        if still_seconds < STILL_SECONDS:
            return still_seconds, ""
        return still_seconds, "; ".join(str(found) for found in processes.stuck(self._tree.stats())[:3])

    def _read(self) -> LoadReading:
        return LoadReading(processes.boottime(), self._tree.total())
