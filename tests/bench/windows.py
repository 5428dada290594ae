"""One-second windows of a running load, watched by iotide or with all watchers frozen, and their ratio."""

import math
import os
import random
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path
from statistics import fmean, median
from typing import Final

from local_stack import Agent
from repeating_tool import RepeatingTool

WINDOW_SECONDS: Final = 1.0
SETTLE_SECONDS: Final = 1.0
"""Pause after a change: released watchers first do their delayed work, which is not part of a window."""
RESAMPLES: Final = 4000


@dataclass(frozen=True)
class Window:
    """Measurements of one second.

    Attributes:
        rate: bytes per second.
        stolen_ratio: the share of a CPU that the hypervisor gave to others meanwhile; 0 on real hardware.
    """

    rate: float
    stolen_ratio: float

    def without_theft(self, slope: float) -> float:
        """Return the rate without stolen time; `slope` is the change of the rate's logarithm with stolen time."""
        return self.rate * math.exp(-slope * self.stolen_ratio)


@dataclass(frozen=True)
class Block:
    """Three adjacent windows."""

    watched: Window
    raw: Window
    raw_again: Window


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % interval."""

    estimate: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        return f"{self.estimate:.4f}  [{self.low:.4f}, {self.high:.4f}]"


class Watchers:
    """Every process of iotide that watches the load."""

    def __init__(self, agent: Agent, load_pid: int) -> None:
        parents = _parents()
        family = {pid for pid in parents if agent.process.pid in _line(pid, parents)}
        load = {pid for pid in parents if load_pid in _line(pid, parents)}
        self._pids = sorted({*family, parents[load_pid]} - load)  # the runner, parent of the load, outlives the agent

    @property
    def count(self) -> int:
        return len(self._pids)

    def freeze(self) -> None:
        """Stop the watchers."""
        self._signal(signal.SIGSTOP)

    def release(self) -> None:
        """Continue the watchers."""
        self._signal(signal.SIGCONT)

    def cpu_seconds(self) -> float:
        """CPU time of all their threads."""
        return cpu_seconds(self._pids)

    def _signal(self, number: signal.Signals) -> None:
        for pid in self._pids:
            os.kill(pid, number)


def agent_cpu_seconds(agent: Agent) -> float:
    """CPU time of the agent's processes, which run no load now."""
    return cpu_seconds(family(agent.process.pid))


def family(pid: int) -> list[int]:
    """Return the process and all its descendants."""
    parents = _parents()
    return [one for one in parents if pid in _line(one, parents)]


def cpu_seconds(pids: Iterable[int]) -> float:
    """Return the CPU time of all live threads of these processes."""
    files = (file for pid in pids for file in Path(f"/proc/{pid}/task").glob("*/schedstat"))
    return sum(map(_run_nanoseconds, files)) / 1e9


def _run_nanoseconds(schedstat: Path) -> int:
    try:
        return int(schedstat.read_text().split()[0])
    except (FileNotFoundError, ProcessLookupError):  # the thread has ended since it was listed
        return 0


def _parents() -> dict[int, int]:
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            found[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it ended meanwhile
            continue
    return found


def _line(pid: int, parents: dict[int, int]) -> Iterator[int]:
    """Return the process and its ancestors."""
    while pid:
        yield pid
        pid = parents.get(pid, 0)


class Windows:
    """Blocks of windows from one running load."""

    def __init__(self, load: RepeatingTool, watchers: Watchers) -> None:
        self._load = load
        self._watchers = watchers
        self._is_watched = True
        self.blocks: list[Block] = []
        self.watched_seconds = 0.0
        self.watching_cpu_seconds = 0.0

    def __len__(self) -> int:
        return 3 * len(self.blocks)

    def take_block(self) -> None:
        """Measure three windows in random order."""
        taken: dict[str, Window] = {}
        for kind in random.sample(["watched", "raw", "raw_again"], 3):
            taken[kind] = self._watched_window() if kind == "watched" else self._raw_window()
        self.blocks.append(Block(**taken))

    def ratio(self) -> Interval:
        """Return watched to raw in the typical block, at equal stolen CPU time."""
        return self._ratio(self._theft_slope())

    def ratio_as_seen(self) -> Interval:
        """Return the same from the uncorrected rates."""
        return self._ratio(0.0)

    def _ratio(self, slope: float) -> Interval:
        return typical_ratio(
            [
                (
                    block.watched.without_theft(slope),
                    fmean(window.without_theft(slope) for window in (block.raw, block.raw_again)),
                )
                for block in self.blocks
            ]
        )

    def control(self) -> Interval:
        """Return raw to raw at equal stolen CPU time, which is 1 up to chance."""
        slope = self._theft_slope()
        pairs = [(block.raw.without_theft(slope), block.raw_again.without_theft(slope)) for block in self.blocks]
        return typical_ratio(pairs)

    def _theft_slope(self) -> float:
        """Return the slope by least squares over the pairs of raw windows, so that supervision has no effect on it."""
        steps = [block.raw.stolen_ratio - block.raw_again.stolen_ratio for block in self.blocks]
        changes = [math.log(block.raw.rate / block.raw_again.rate) for block in self.blocks]
        squares = sum(step**2 for step in steps)
        return sum(step * change for step, change in zip(steps, changes, strict=True)) / squares if squares else 0.0

    def ratio_of_means(self) -> Interval:
        """Return mean watched to mean raw, disk stalls included; whole blocks are resampled, so that drift cancels."""

        def ratio(drawn: Sequence[Block]) -> float:
            return sum(block.watched.rate for block in drawn) / sum(map(_raw_rate, drawn))

        blocks = self.blocks
        ratios = sorted(ratio(random.choices(blocks, k=len(blocks))) for _ in range(RESAMPLES))  # noqa: S311 - no secret
        return Interval(ratio(blocks), ratios[int(0.025 * RESAMPLES)], ratios[int(0.975 * RESAMPLES)])

    def _watched_window(self) -> Window:
        self._settle(watched=True)
        cpu_before, began = self._watchers.cpu_seconds(), time.monotonic()
        window = self._window()
        self.watching_cpu_seconds += self._watchers.cpu_seconds() - cpu_before
        self.watched_seconds += time.monotonic() - began
        return window

    def _raw_window(self) -> Window:
        self._settle(watched=False)
        return self._window()

    def _settle(self, *, watched: bool) -> None:
        if watched == self._is_watched:
            return
        self._is_watched = watched
        (self._watchers.release if watched else self._watchers.freeze)()
        time.sleep(SETTLE_SECONDS)

    def _window(self) -> Window:
        stolen_before, began, before_bytes = _stolen_seconds(), time.monotonic(), self._load.moved_bytes()
        time.sleep(WINDOW_SECONDS)
        stolen_after, ended, after_bytes = _stolen_seconds(), time.monotonic(), self._load.moved_bytes()
        seconds = ended - began
        return Window((after_bytes - before_bytes) / seconds, (stolen_after - stolen_before) / seconds)


def _stolen_seconds() -> float:
    """Return the stolen time of all CPUs since the boot: the eighth field of /proc/stat's first line, in ticks."""
    line, _, _ = Path("/proc/stat").read_text().partition("\n")
    return int(line.split()[8]) / os.sysconf("SC_CLK_TCK")


def _raw_rate(block: Block) -> float:
    return (block.raw.rate + block.raw_again.rate) / 2


def typical_ratio(pairs: Sequence[tuple[float, float]]) -> Interval:
    """Return the ratio in the typical pair, by Hodges and Lehmann: the median of all averages of two logarithms.

    The interval is that of the Wilcoxon signed-rank test, by its normal approximation (Hollander, Wolfe, Chicken
    2014, section 3.2). Occasional disk stalls spoil few pairs and hardly affect it.
    """
    logs = [math.log(one / other) for one, other in pairs]
    averages = sorted((one + other) / 2 for one, other in combinations_with_replacement(logs, 2))
    n = len(logs)
    cut = max(0, round(n * (n + 1) / 4 - 1.96 * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)))
    low, middle, high = averages[cut], median(averages), averages[-1 - cut]
    return Interval(math.exp(middle), math.exp(low), math.exp(high))
