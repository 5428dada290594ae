"""The small trend and the line of words of a cell; pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import floor, log10
from statistics import median
from typing import Final

from iotide_server.kit.clock import day_written
from iotide_server.overview.schemas import CellTrend, LevelLine
from iotide_server.overview.standing import AgreedChange, JudgedSeries, SeriesState
from iotide_server.statistics.course import Course
from iotide_server.trends.changes.drift import Drift
from iotide_wire.units import format_shift

MOST_POINTS: Final = 60
_DIGITS: Final = 4  # of drawn values; the trend has the exact ones
_JUDGED: Final = frozenset({Course.STEADY, Course.CHANGED})


@dataclass(frozen=True, slots=True)
class DrawnPoint:
    at_seconds: float  # since the start of the period
    median: float


@dataclass(frozen=True, slots=True)
class KnownLevels:
    course: Course | None
    steps: Sequence[AgreedChange] = ()
    drift: Drift | None = None


def cell_trend(points: Sequence[DrawnPoint], known: KnownLevels, since: datetime) -> CellTrend:
    """Return points, levels and change marks; nothing without points in the period."""
    if not points:
        return CellTrend(at_seconds=[], medians=[], levels=[], changes_seconds=[])
    starts = [(step.at - since).total_seconds() for step in known.steps]
    lines = [_rounded(line) for line in _lines(points, known, since) if line.end_seconds > 0]
    return CellTrend(
        at_seconds=[round(point.at_seconds) for point in points],
        medians=[_short(point.median) for point in points],
        levels=lines,
        changes_seconds=[round(start) for start in starts if start > 0],
    )


def _lines(points: Sequence[DrawnPoint], known: KnownLevels, since: datetime) -> Iterator[LevelLine]:
    last = points[-1].at_seconds
    if known.drift is not None:
        path = [((point.at - since).total_seconds(), point.value) for point in known.drift.path]
        for (start, low), (end, high) in pairwise(path):
            begin = low if start >= 0 or end <= 0 else low + (high - low) * -start / (end - start)
            yield LevelLine(start_seconds=round(max(start, 0)), end_seconds=round(end), start=begin, end=high)
    elif known.steps:
        ends = [(step.at - since).total_seconds() for step in known.steps]
        values = [*(step.before for step in known.steps), known.steps[-1].after]
        for start, end, value in zip([0.0, *ends], [*ends, max(last, *ends)], values, strict=True):
            yield LevelLine(start_seconds=round(max(start, 0)), end_seconds=round(end), start=value, end=value)
    elif known.course in _JUDGED:
        level = median(point.median for point in points)
        first = round(points[0].at_seconds)
        yield LevelLine(start_seconds=first, end_seconds=round(last), start=level, end=level)


def _rounded(line: LevelLine) -> LevelLine:
    return line.model_copy(update={"start": _short(line.start), "end": _short(line.end)})


def _short(value: float) -> float:
    return round(value, _DIGITS - 1 - floor(log10(abs(value)))) if value else 0.0


def cell_line(judged: JudgedSeries, drift: Drift | None, cause: str | None, now: datetime) -> str:
    """Return one line such as `\u221220.0 % since 7 Sep, kernel 5.14.0-427`."""
    if judged.state in {SeriesState.SLOWER, SeriesState.FASTER}:
        if judged.since is None and drift is not None:
            return f"{_shift(judged)} since {_day(drift.start_at, now)}, gradual"
        since = "" if judged.since is None else f" since {_day(judged.since, now)}"
        return f"{_shift(judged)}{since}" + (f", {cause}" if cause else "")
    if judged.state is SeriesState.NOISY and judged.since is not None:
        return f"{judged.words.split(' (')[0]} since {_day(judged.since, now)}"
    return judged.words


def stale_line(last_at: datetime, now: datetime) -> str:
    return f"no data since {_day(last_at, now)}"


def _shift(judged: JudgedSeries) -> str:
    return "no longer 0" if judged.shift_ratio is None else format_shift(1 + judged.shift_ratio)


def _day(moment: datetime, now: datetime) -> str:
    return day_written(moment).removesuffix(f" {now.year}")
