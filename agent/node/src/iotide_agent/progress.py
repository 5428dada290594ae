"""Follows what the runner samples: how far a run is, what it is doing, and the pieces of its curves."""

import json
import logging
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate, chain, islice, repeat
from math import isnan
from typing import Any, Final

from iotide_agent.plan import Plan
from iotide_agent.spool import OrderFiles
from iotide_agent.workloads.base import Counters, Step, Workload
from iotide_wire.messages import CurvePiece

COUNTERS: Final = (
    "write_bytes_per_second",
    "read_bytes_per_second",
    "cpu_user_ratio",
    "cpu_system_ratio",
    "cpu_iowait_ratio",
    "load1",
    "sampler_cpu_ratio",
)
STEP_SECONDS: Final = 1.0
_logger = logging.getLogger(__name__)
_PIECE_ENDS: Final = tuple(accumulate(chain(repeat(10, 60), repeat(60, 590), repeat(600, 7200))))
"""Rows at which pieces end: 10 s long at first, for a live curve, and 10 min long after 10 h, for few rows.

They do not depend on what was acknowledged, so that a piece which is sent again is the same piece.
"""


@dataclass(slots=True)
class RunWatch:
    """The curves and the progress of one order.

    Attributes:
        progress: fraction done, never falling; None while nothing is known.
        phase: what a person reads.
    """

    files: OrderFiles
    progress: float | None = None
    phase: str = ""
    _offset_bytes: int = 0
    _values: "dict[str, array[float]]" = field(default_factory=lambda: {name: array("f") for name in COUNTERS})
    _acknowledged_rows: int = 0
    _has_complained: bool = False

    def look(self, plan: Plan, workload: Workload[Any] | None) -> None:
        """Reads what was sampled since the last look; without its workload a run has curves but no progress."""
        last: dict[str, Any] | None = None
        for last in self._new_rows():
            for name, values in self._values.items():
                values.append(last[name])
        if last is not None:
            self._judge(last, plan, workload)

    def pieces(self, started_at: datetime, *, at_most: int, is_complete: bool) -> list[CurvePiece]:
        """Pieces that were not acknowledged, oldest first.

        Args:
            started_at: of the load.
            at_most: how many pieces; all counters of a time are sent together.
            is_complete: no further rows come, so the last piece may be short.
        """
        rows = len(self._values[COUNTERS[0]])
        found = []
        for begin, end in _bounds(self._acknowledged_rows, rows, is_complete=is_complete):
            at = started_at + timedelta(seconds=begin * STEP_SECONDS)
            found += [
                CurvePiece(counter=name, started_at=at, step_seconds=STEP_SECONDS, values=tuple(values[begin:end]))
                for name, values in self._values.items()
            ]
        # Whole bounds only: a bound counts as acknowledged for all counters as soon as it is for one.
        return found[: at_most - at_most % len(self._values)]

    def acknowledge(self, pieces: Iterable[CurvePiece]) -> None:
        """The server has these; they are not sent again."""
        self._acknowledged_rows += sum(len(piece.values) for piece in pieces if piece.counter == COUNTERS[0])

    def _new_rows(self) -> Iterator[dict[str, Any]]:
        try:
            with self.files.curve.open("rb") as file:
                file.seek(self._offset_bytes)
                text = file.read()
        except FileNotFoundError:
            return
        whole = text[: text.rfind(b"\n") + 1]
        self._offset_bytes += len(whole)
        yield from map(json.loads, whole.splitlines())

    def _judge(self, row: dict[str, Any], plan: Plan, workload: Workload[Any] | None) -> None:
        group_begins = row["step"]
        steps = list(chain.from_iterable(plan.groups))
        running = plan.group_at(group_begins)
        counters = Counters(row["step_written_bytes"], row["step_read_bytes"], row["step_seconds"])
        weights = [_weight(step, steps) for step in steps]
        done = sum(weights[:group_begins])
        # Side by side the counters are those of all steps together, and so is their fraction.
        fraction = self._fraction(workload, _together(running), counters) if workload and running else None
        share = sum(weights[group_begins : group_begins + len(running)])
        known = (done + share * (fraction or 0.0)) / sum(weights)
        if fraction is not None or done:
            self.progress = max(self.progress or 0.0, min(1.0, known))
        self.phase = ", ".join(dict.fromkeys(step.phase for step in running))
        if row["waits"]:
            self.phase += f"; nothing has moved for {row['still_seconds']:.0f} s: {row['waits']}"

    def _fraction(self, workload: Workload[Any], step: Step, counters: Counters) -> float | None:
        tail = self.files.tail.read_text(errors="replace") if self.files.tail.exists() else ""
        try:
            fraction = workload.progress(step, counters, tail)
            return None if fraction is None or isnan(fraction) else max(0.0, fraction)
        except Exception:
            # A plug-in's own fault: neither the run nor the agent ends because nobody knows how far it is.
            if not self._has_complained:
                _logger.exception("progress_failed workload=%s", workload.name)
            self._has_complained = True
            return None


def read_started_at(phase: dict[str, Any]) -> datetime | None:
    """When the load started, by what the runner noted."""
    seconds = phase.get("started_at_epoch_seconds")
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _bounds(begin: int, rows: int, *, is_complete: bool) -> Iterator[tuple[int, int]]:
    for end in islice(_PIECE_ENDS, bisect_right(_PIECE_ENDS, begin), None):
        if end > rows:
            break
        yield begin, end
        begin = end
    if is_complete and begin < rows:
        yield begin, rows


def _together(group: tuple[Step, ...]) -> Step:
    """A group as one step that moves the bytes of all."""
    known = [step.bytes_moved for step in group if step.bytes_moved]
    return replace(group[0], bytes_moved=sum(known) if len(known) == len(group) else None)


def _weight(step: Step, steps: list[Step]) -> float:
    """Its share of the bytes of all steps; each counts the same where the bytes of some are unknown."""
    if all(other.bytes_moved for other in steps):
        return float(step.bytes_moved or 0)
    return 1.0
