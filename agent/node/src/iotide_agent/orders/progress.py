"""Progress, phase and curves of a run, from the runner's samples."""

import json
import logging
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate, chain, groupby, islice, repeat
from math import ceil, isfinite, isnan, nan
from statistics import fmean
from typing import Any, Final

from iotide_agent.core.spool import OrderFiles
from iotide_agent.judging.cut import how_far
from iotide_agent.orders.plan import Plan
from iotide_agent.runner.files import read_slate
from iotide_agent.workloads.base import Counters, Curve, Step, Workload
from iotide_wire.messages import CurvePiece
from iotide_wire.units import format_seconds

_STATE: Final = frozenset({"step", "step_written_bytes", "step_read_bytes", "step_seconds", "still_seconds", "waits"})
STEP_SECONDS: Final = 1.0
_logger = logging.getLogger(__name__)
PIECE_ENDS: Final = tuple(accumulate(chain(repeat(10, 60), repeat(60, 50), repeat(300, 108), repeat(600, 7200))))
"""Rows at which pieces end: every 10 s at first, for a live curve; 1 min from 10 min, 5 min from 1 h, 10 min from 10 h.

The server appends each piece to a row of ten minutes, which PostgreSQL rewrites. The bounds do not depend on
acknowledgements, so that a piece sent again is the same.
"""
_PIECE_VALUES: Final = 600
_HEARTBEAT_PIECES: Final = 200
_RESULT_PIECES: Final = 15_000
"""Per result; the rest is for the curves of the tool."""
_RESULT_VALUES: Final = 1_000_000
"""Per result: at 13 characters each they fit into one request."""


@dataclass(slots=True)
class RunWatch:
    """Curves of one order, its progress as a fraction that never falls, and its phase and progress in words."""

    files: OrderFiles
    progress: float | None = None
    phase: str = ""
    reached: str = ""
    _offset_bytes: int = 0
    _rows: int = 0
    _values: "dict[str, array[float]]" = field(default_factory=dict)
    _acknowledged_rows: int = 0
    _has_complained: bool = False

    def look(self, plan: Plan, workload: Workload[Any] | None) -> None:
        """Without its workload a run has no progress."""
        last = self.read()
        if last is not None:
            self._judge(last, plan, workload)

    def read(self) -> dict[str, Any] | None:
        last: dict[str, Any] | None = None
        for last in self._new_rows():
            self._keep(last)
        return last

    def pieces(self, started_at: datetime) -> list[CurvePiece]:
        """Return unacknowledged pieces, oldest first, as many as fit into a heartbeat.

        A counter has no piece while it is unknown, for instance after the loss of a device.
        """
        found: list[CurvePiece] = []
        for begin, end in _bounds(self._acknowledged_rows, self._rows):
            together = self._pieces_of(started_at, begin, end, 1)
            # Whole bounds only: an acknowledged counter acknowledges the bound for all of them.
            if found and len(found) + len(together) > _HEARTBEAT_PIECES:
                break
            found += together
        return found[:_HEARTBEAT_PIECES]

    def rest(self, started_at: datetime) -> list[CurvePiece]:
        """Return all unacknowledged pieces for the result, after the last row.

        Above a result's limit, after hours without the server, values are means of several seconds.
        """
        rows = self._rows - self._acknowledged_rows
        width = max(1, ceil(rows * len(self._values) / _RESULT_VALUES))
        begins = range(self._acknowledged_rows, self._rows, _PIECE_VALUES * width)
        ends = (min(begin + _PIECE_VALUES * width, self._rows) for begin in begins)
        bounds = zip(begins, ends, strict=True)
        pieces = chain.from_iterable(self._pieces_of(started_at, begin, end, width) for begin, end in bounds)
        return list(islice(pieces, _RESULT_PIECES))

    def acknowledge(self, pieces: Iterable[CurvePiece]) -> None:
        lengths: Counter[str] = Counter()
        for piece in pieces:
            lengths[piece.counter] += len(piece.values)
        # At least one counter is in every row.
        self._acknowledged_rows += max(lengths.values(), default=0)

    def _keep(self, row: dict[str, Any]) -> None:
        for name in row.keys() - _STATE - self._values.keys():
            self._values[name] = array("d", repeat(nan, self._rows))
        for name, values in self._values.items():
            values.append(row.get(name, nan))
        self._rows += 1

    def _pieces_of(self, started_at: datetime, begin: int, end: int, width: int) -> list[CurvePiece]:
        return [
            CurvePiece(
                counter=name,
                started_at=started_at + timedelta(seconds=first * STEP_SECONDS),
                step_seconds=width * STEP_SECONDS,
                values=tuple(values),
            )
            for name, kept in self._values.items()
            for first, values in _known(_means(kept[begin:end], width), begin, width)
        ]

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
        steps = list(map(plan.own_part, chain.from_iterable(plan.groups)))
        running = tuple(map(plan.own_part, plan.group_at(group_begins)))
        counters = Counters(row["step_written_bytes"], row["step_read_bytes"], row["step_seconds"])
        weights = [_weight(step, steps) for step in steps]
        done = sum(weights[:group_begins])
        together = _together(running) if running else None
        fraction = self._fraction(workload, together, counters) if workload and together else None
        share = sum(weights[group_begins : group_begins + len(running)])
        known = (done + share * (fraction or 0.0)) / sum(weights)
        if fraction is not None or done:
            self.progress = max(self.progress or 0.0, min(1.0, known))
        self.phase = ", ".join(dict.fromkeys(step.phase for step in running))
        self.reached = how_far(running, row["step_written_bytes"], row["step_read_bytes"])
        if together and fraction is not None and fraction >= 1 and _is_written(together, counters):
            self.phase += "; flushing"
        if row["waits"]:
            self.phase += f"; no progress for {format_seconds(row['still_seconds'])}: {row['waits']}"

    def _fraction(self, workload: Workload[Any], step: Step, counters: Counters) -> float | None:
        try:
            fraction = workload.progress(step, counters, read_slate(self.files.tail))
            return None if fraction is None or isnan(fraction) else max(0.0, fraction)
        except Exception:
            if not self._has_complained:
                _logger.exception("progress_failed workload=%s", workload.name)
            self._has_complained = True
            return None


def read_started_at(phase: dict[str, Any]) -> datetime | None:
    seconds = phase.get("started_at_epoch_seconds")
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _bounds(begin: int, rows: int) -> Iterator[tuple[int, int]]:
    for end in islice(PIECE_ENDS, bisect_right(PIECE_ENDS, begin), None):
        if end > rows:
            break
        yield begin, end
        begin = end


def _means(values: Sequence[float], width: int) -> Sequence[float]:
    """Return means of `width` values; unknown if one of them is."""
    if width == 1:
        return values
    return [fmean(values[first : first + width]) for first in range(0, len(values), width)]


def _known(values: Sequence[float], begin: int, width: int) -> Iterator[tuple[int, list[float]]]:
    for is_unknown, members in groupby(enumerate(values), key=lambda member: isnan(member[1])):
        if not is_unknown:
            (first, value), *others = members
            yield begin + first * width, [value, *(value for _, value in others)]


def _together(group: tuple[Step, ...]) -> Step:
    known = [step.bytes_moved for step in group if step.bytes_moved]
    return replace(group[0], bytes_moved=sum(known) if len(known) == len(group) else None)


def _is_written(step: Step, counters: Counters) -> bool:
    """Return true if all planned bytes are in the kernel, so that a running step only waits for storage."""
    return step.bytes_moved is not None and counters.written_bytes >= step.bytes_moved


def _weight(step: Step, steps: list[Step]) -> float:
    """Return a step's share of all bytes, or an equal share if some are unknown."""
    if all(other.bytes_moved for other in steps):
        return float(step.bytes_moved or 0)
    return 1.0


def check_curve(curve: Curve) -> None:
    if not all(map(isfinite, curve.values)):
        raise ValueError(
            f"curve {curve.counter} has a value that is not finite; leave out values that were not measured"
        )
    if curve.values:
        CurvePiece(counter=curve.counter, started_at=curve.started_at, step_seconds=STEP_SECONDS, values=(0.0,))


def added_up(curves: Iterable[Curve], started_at: datetime) -> list[CurvePiece]:
    """Return the sums by counter, in seconds since `started_at`."""
    by_counter: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for curve in curves:
        first = round((curve.started_at - started_at).total_seconds() / STEP_SECONDS)
        for second, value in enumerate(curve.values, start=first):
            by_counter[curve.counter][second] += value
    return [piece for counter, values in by_counter.items() for piece in _pieces(counter, values, started_at)]


def _pieces(counter: str, values: Mapping[int, float], started_at: datetime) -> Iterator[CurvePiece]:
    seconds = sorted(values)
    # Within a stretch without gaps, a second and its index differ by a constant.
    for _, stretch in groupby(enumerate(seconds), key=lambda ranked: ranked[1] - ranked[0]):
        known = [second for _, second in stretch]
        for begin in range(0, len(known), _PIECE_VALUES):
            part = known[begin : begin + _PIECE_VALUES]
            yield CurvePiece(
                counter=counter,
                started_at=started_at + timedelta(seconds=part[0] * STEP_SECONDS),
                step_seconds=STEP_SECONDS,
                values=tuple(values[second] for second in part),
            )
