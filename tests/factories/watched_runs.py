"""A run with its real tool and regular progress from real counters, as the agent's sampler reads them."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from factories.outcomes import read_all, run_groups

from iotide_agent.orders.progress import _together
from iotide_agent.runner.tree import LoadTree
from iotide_agent.workloads.base import Counters, Group, Options, Parsed, Place, StepOutcome, Workload

LOOK_SECONDS = 0.01


@dataclass(frozen=True)
class WatchedRun:
    """Outcome of the run.

    Attributes:
        fractions: of each group of steps, the known answers of `progress` in order.
    """

    place: Place
    options: Options
    outcomes: list[StepOutcome]
    parsed: Parsed
    fractions: list[list[float]]


def watched_run(workload: Workload[Any], options: Options, place: Place) -> WatchedRun:
    """Run it to its end; each step must succeed."""
    outcomes: list[StepOutcome] = []
    fractions = []
    for group in workload.plan(options, [place]):
        watch = _Watch(workload, group, place.scratch)
        outcomes += watch.run(group, place)
        fractions.append(watch.fractions)
    assert [workload.failure(outcome) for outcome in outcomes] == [None] * len(outcomes)
    return WatchedRun(place, options, outcomes, read_all(workload, options, place, outcomes), fractions)


class _Watch:
    """Watches a group of steps from a separate thread."""

    def __init__(self, workload: Workload[Any], group: Group, scratch: Path) -> None:
        self.fractions: list[float] = []
        self._workload = workload
        self._step = _together(group)
        self._printed = [
            scratch / f"{step.target_id}-{step.name}.{stream}" for step in group for stream in ("stdout", "stderr")
        ]
        self._tree = LoadTree()
        self._ended = threading.Event()

    def run(self, group: Group, place: Place) -> Sequence[StepOutcome]:
        thread = threading.Thread(target=self._look)
        thread.start()
        try:
            return run_groups([group], place)
        finally:
            self._ended.set()
            thread.join()
            self._tree.close()

    def _look(self) -> None:
        began = monotonic()
        is_over = False
        while not is_over:
            is_over = self._ended.wait(LOOK_SECONDS)
            used = self._tree.total()
            counters = Counters(used.written_bytes, used.read_bytes, monotonic() - began)
            tail = "\n".join(filter(None, map(_last_line, self._printed)))
            fraction = self._workload.progress(self._step, counters, tail)
            if fraction is not None:
                self.fractions.append(fraction)


def _last_line(file: Path) -> str:
    lines = file.read_text(errors="replace").splitlines() if file.exists() else []
    return lines[-1] if lines else ""
