"""CPU time of the whole node by kind, and its load average: /proc/stat, /proc/loadavg."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from iotide_agent.runner.counters.source import OpenFile, Source, Span, growth


class ProcessorTimes(NamedTuple):
    ticks: tuple[int, ...]
    load1: float

    def ticks_since(self, before: "ProcessorTimes") -> int:
        """Return the ticks of all CPUs, at least one; user and nice include guests' time."""
        return max(1, sum(growth(before.ticks[:8], self.ticks[:8])))


class Processors(Source[ProcessorTimes]):
    def __init__(self, proc: Path) -> None:
        self.files = (OpenFile(proc / "stat"), OpenFile(proc / "loadavg"))

    def read(self) -> ProcessorTimes:
        stat, loadavg = self.files
        line, _, _ = stat.read(1024).partition(b"\n")
        return ProcessorTimes(tuple(map(int, line.split()[1:])), float(loadavg.read(64).split()[0]))

    def rates(self, before: ProcessorTimes, after: ProcessorTimes, span: Span) -> Mapping[str, float]:
        """Return shares of all CPUs; interrupts count as system, stolen time as none of them."""
        user, nice, system, _idle, iowait, hard_irq, soft_irq, *_ = growth(before.ticks, after.ticks)
        return {
            **span.share("cpu_user_ratio", user + nice),
            **span.share("cpu_system_ratio", system + hard_irq + soft_irq),
            **span.share("cpu_iowait_ratio", iowait),
            "load1": after.load1,
        }


class RunningTasks(Source[int]):
    """Runnable tasks without this one: fourth field of /proc/loadavg."""

    def __init__(self, proc: Path) -> None:
        self.files = (OpenFile(proc / "loadavg"),)

    def read(self) -> int:
        running, _, _ = self.files[0].read(64).split()[3].partition(b"/")
        return max(0, int(running) - 1)

    def rates(self, before: int, after: int, span: Span) -> dict[str, float]:
        return {}
