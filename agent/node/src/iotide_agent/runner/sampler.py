"""Samples of the node and of its load, once a second, as lines of JSON for curves and progress."""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from iotide_agent.runner import processes
from iotide_agent.runner.card import StepCard
from iotide_agent.runner.counters.node import NodeCounters
from iotide_agent.runner.counters.source import Span, TargetMount, growth
from iotide_agent.runner.direct_use import DescriptorWatch
from iotide_agent.runner.files import PatientFile, Slate
from iotide_agent.runner.tree import LoadTree, Used

PERIOD_SECONDS: Final = 1.0
STILL_SECONDS: Final = 10.0
_SHORTEST_SECONDS: Final = 0.05
_DIGITS: Final = 6
"""Digits per value: curves are stored as float4, which has seven, and lines stay short."""
_STATE: Final = (
    '"step": %d, "step_written_bytes": %d, "step_read_bytes": %d, "step_seconds": %.6f, "still_seconds": %.6f, '
    '"waits": %s'
)

Printed = Callable[[], tuple[int, str]]
"""Returns the number of printed bytes, and their end."""


class CurveFile:
    def __init__(self, file: Path, state: str = "") -> None:
        """`state` is appended to each line's counters and has placeholders for values."""
        self._file = PatientFile(file, file.parent, os.O_APPEND)
        self._state = state
        self._counters: tuple[str, ...] = ()
        self._format = ""

    def append(self, counters: Mapping[str, float], lines: int, state: tuple[object, ...] = ()) -> None:
        """Append equal lines; data that a full disk refuses waits for the next call."""
        self._file.write((self._format_of(tuple(counters)) % (*counters.values(), *state) * lines).encode())

    def write_rest(self) -> bool:
        """Write what waits for disk space, also after `close`; return true if all is written."""
        return self._file.write(b"")

    def close(self) -> None:
        self._file.close()

    def _format_of(self, counters: tuple[str, ...]) -> str:
        if counters != self._counters:
            self._counters = counters
            rates = [f'"{name}": %.{_DIGITS}g' for name in counters]
            self._format = f"{{{', '.join([*rates, self._state] if self._state else rates)}}}\n"
        return self._format


class Observer:
    """Sampler of a node without a load of its own order, one row per second; skipped seconds get the mean."""

    def __init__(self, file: Path, targets: Sequence[TargetMount] = (), state: str = "") -> None:
        self._node = NodeCounters(targets)
        self._output = CurveFile(file, state)
        self.cpu_seconds = 0.0
        self._cpu_seconds_written = 0.0
        self._began = self._last_at = processes.boottime()
        self._rows = 0

    def tick(self) -> float:
        cpu_before = time.thread_time()
        now = processes.boottime()
        due = int((now - self._began) / PERIOD_SECONDS) - self._rows
        if due > 0:
            self._write(now, due)
        else:
            self.look()
        self.cpu_seconds += time.thread_time() - cpu_before
        return self._began + (self._rows + 1) * PERIOD_SECONDS

    def look(self) -> None:
        pass

    def finish(self) -> None:
        now = processes.boottime()
        rest_seconds = now - self._last_at
        if rest_seconds >= PERIOD_SECONDS / 2 or (self._is_empty() and rest_seconds >= _SHORTEST_SECONDS):
            self._write(now, 1)
        self._node.close()
        self._output.close()

    def write_rest(self) -> bool:
        return self._output.write_rest()

    def _is_empty(self) -> bool:
        return False  # without a load, less than a row has no value

    def _write(self, now: float, rows: int) -> None:
        seconds = max(now - self._last_at, _SHORTEST_SECONDS)
        span, counters = self._node.sample(seconds)
        counters["sampler_cpu_ratio"] = (self.cpu_seconds - self._cpu_seconds_written) / seconds
        load_counters, state = self._look_at_load(now, span)
        self._output.append(counters | load_counters, rows, state)
        self._rows += rows
        self._last_at = now
        self._cpu_seconds_written = self.cpu_seconds

    def _look_at_load(self, now: float, span: Span) -> tuple[dict[str, float], tuple[object, ...]]:
        del now, span
        return {}, ()


def load_rates(before: Used, after: Used, span: Span) -> dict[str, float]:
    written_bytes, read_bytes, cpu_ticks = growth(before, after)
    return {
        "write_bytes_per_second": written_bytes / span.seconds,
        "read_bytes_per_second": read_bytes / span.seconds,
        **span.share("load_cpu_ratio", cpu_ticks),
    }


class Sampler(Observer):
    """Sampler of a node with a load; it also measures the time without growth."""

    def __init__(self, file: Path, targets: Sequence[TargetMount], printed: Printed) -> None:
        super().__init__(file, targets, _STATE)
        self._tree = LoadTree()
        self.descriptors = DescriptorWatch()
        self._printed = printed
        self._slate, self._tail = Slate(file.with_name("tail")), ""
        self.longest_still_seconds = 0.0
        self.idle_seconds = 0.0
        self._step = 0
        self._moved: tuple[int, ...] = ()
        self._last = self._step_began = self._tree.total()
        self._step_began_at = self._grew_at = self._worked_at = self._last_at

    def begin(self, at: float, group: Sequence[StepCard] = ()) -> None:
        """The time, of CLOCK_BOOTTIME, may be some milliseconds ahead."""
        self.descriptors.begin(group)
        self._node.sample(_SHORTEST_SECONDS)
        self._last = self._step_began = self._tree.total()
        self._last_at = self._began = self._step_began_at = self._grew_at = self._worked_at = at

    def begin_step(self, ordinal: int, group: Sequence[StepCard] = ()) -> None:
        self._step = ordinal
        self.descriptors.begin(group)
        self._step_began, self._step_began_at = self._tree.total(), processes.boottime()
        self._worked_at, self.idle_seconds = self._step_began_at, 0.0

    @property
    def moved_bytes(self) -> int:
        """Return the bytes read, written and printed so far."""
        return sum(self._moved)

    def look(self) -> None:
        """Read the counters of processes that are about to be reaped."""
        self._tree.total()

    def finish(self) -> None:
        super().finish()
        self._tree.close()
        self._slate.close()

    def _is_empty(self) -> bool:
        return self._rows == 0

    def _look_at_load(self, now: float, span: Span) -> tuple[dict[str, float], tuple[object, ...]]:
        load = self._tree.total()
        self.descriptors.look(self._tree.pids())
        printed_bytes, tail = self._printed()
        still_seconds, waits = self._watch_growth(now, load, printed_bytes)
        rates = load_rates(self._last, load, span)
        written_bytes, read_bytes, _ = growth(self._step_began, load)
        step_seconds = now - self._step_began_at
        self._replace_tail(tail)
        self._last = load
        return rates, (self._step, written_bytes, read_bytes, step_seconds, still_seconds, json.dumps(waits))

    def _replace_tail(self, tail: str) -> None:
        if tail == self._tail:
            return
        with suppress(OSError):
            self._slate.write(tail)
            self._tail = tail

    def _watch_growth(self, now: float, load: Used, printed_bytes: int) -> tuple[float, str]:
        """Return the seconds without growth of bytes, output or CPU time, and after a while what the load waits for."""
        moved = (*load[:2], printed_bytes)
        if moved != self._moved:
            self._worked_at = now
        if moved != self._moved or load.cpu_ticks != self._last.cpu_ticks:
            self._grew_at = now
        self._moved = moved
        self.idle_seconds = now - self._worked_at
        still_seconds = now - self._grew_at
        self.longest_still_seconds = max(self.longest_still_seconds, still_seconds)
        if still_seconds < STILL_SECONDS:
            return still_seconds, ""
        return still_seconds, "; ".join(str(found) for found in processes.stuck(self._tree.stats())[:3])
