"""Since when a series runs at another level: change points of one value per run, each guarded by a test; pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from math import exp, inf, log
from typing import Final

import numpy as np
import ruptures
from scipy.stats import theilslopes

from iotide_server.statistics.ranks import Values, independent_ratio, memory, p_value

DETECTOR: Final = "kernel-cpd-1"
"""Name and version, stored with what it found; it goes up whenever it could find something else."""
MOST_RUNS: Final = 2000
FEWEST_RUNS: Final = 14
"""Five against nine is the first pair whose p can be below 0.001."""
SEGMENT_RUNS: Final = 5
PENALTY: Final = 0.75
"""Times the logarithm of the number of runs: what one more change has to explain."""
LEAST_SHIFT: Final = 0.03
"""Of the median before; a smaller one is not acted upon."""
MOST_P: Final = 0.001
SAME_RUNS: Final = 6
"""A change that another analysis finds so far away is the same."""


class Course(StrEnum):
    """How a series went."""

    TOO_SHORT = "too_short"
    STEADY = "steady"
    CHANGED = "changed"
    DRIFT = "drift"


@dataclass(frozen=True, slots=True)
class Change:
    """A change of level.

    Attributes:
        index: of the first run after it.
        runs_before, runs_after: of the segments on both sides, up to the next change or the end.
        median_before, median_after: of these segments, in the unit of the values.
        shift_ratio: (after - before) / |before|; inf where the median before is 0.
        p_value: of the two segments being alike, by `ranks.p_value`.
    """

    index: int
    runs_before: int
    runs_after: int
    median_before: float
    median_after: float
    shift_ratio: float
    p_value: float

    @property
    def is_guarded(self) -> bool:
        """Whether it is long, large and sure enough to be told."""
        is_long = min(self.runs_before, self.runs_after) >= SEGMENT_RUNS
        return is_long and abs(self.shift_ratio) >= LEAST_SHIFT and self.p_value < MOST_P


@dataclass(frozen=True, slots=True)
class Drift:
    """A slow change without a moment.

    Attributes:
        shift_ratio: what the line gained or lost from the first run to the last, of the absolute median.
        low, high: the same at the ends of the slope's 95 % interval.
    """

    shift_ratio: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is known of a series' course.

    Attributes:
        changes: in time order, where the course is CHANGED.
        drift: where it is DRIFT.
        memory: lag-1 autocorrelation of the runs within segments, from 0.
        missing_runs: so many more runs allow an answer, where the series is TOO_SHORT.
    """

    course: Course
    run_count: int
    changes: tuple[Change, ...] = ()
    drift: Drift | None = None
    memory: float = 0.0
    missing_runs: int = 0


def analyse(values: Sequence[float]) -> Analysis:
    """The course of a series: one finite value per run, in time order; of more than 2000 runs the newest.

    Candidates are the segments that kernel change point detection with a Gaussian kernel separates (Arlot, Celisse and
    Harchaoui 2019, J. Mach. Learn. Res. 20; ruptures' KernelCPD). The weakest is taken away, and its neighbours are
    joined, until each that is left has five runs on both sides, a shift of 3 % and p < 0.001. A straight line that
    explains the runs better than the steps left is a drift.

    Raises:
        ValueError: a value is not finite.
    """
    series = np.asarray(values, dtype=np.float64)
    if not np.isfinite(series).all():
        raise ValueError("a trend needs finite values")
    skipped = max(0, len(series) - MOST_RUNS)
    series = series[skipped:]
    if len(series) < FEWEST_RUNS:
        return Analysis(Course.TOO_SHORT, len(values), missing_runs=FEWEST_RUNS - len(series))
    candidates = _candidates(series)
    recalled = memory(_segments(series, candidates))
    changes = _guarded(series, candidates, recalled)
    drift = _drift(series, [change.index for change in changes], recalled) if changes else None
    if drift is not None:
        return Analysis(Course.DRIFT, len(values), drift=drift, memory=recalled)
    course = Course.CHANGED if changes else Course.STEADY
    return Analysis(
        course, len(values), tuple(replace(change, index=change.index + skipped) for change in changes), memory=recalled
    )


def _candidates(series: Values) -> list[int]:
    if np.ptp(series) == 0:
        return []  # the kernel's width is the median distance of the values
    detector = ruptures.KernelCPD(kernel="rbf", min_size=SEGMENT_RUNS).fit(series.reshape(-1, 1))
    *ends, _ = detector.predict(pen=PENALTY * log(len(series)))
    return [int(end) for end in ends]


def _segments(series: Values, indices: Sequence[int]) -> list[Values]:
    return [series[start:end] for start, end in pairwise((0, *indices, len(series)))]


def _guarded(series: Values, candidates: Sequence[int], recalled: float) -> list[Change]:
    indices = list(candidates)
    while True:
        pairs = zip(indices, pairwise(_segments(series, indices)), strict=True)
        changes = [_change(index, before, after, recalled) for index, (before, after) in pairs]
        weak = [change for change in changes if not change.is_guarded]
        if not weak:
            return changes
        indices.remove(max(weak, key=lambda change: (change.p_value, -abs(change.shift_ratio))).index)


def _change(index: int, before: Values, after: Values, recalled: float) -> Change:
    medians = float(np.median(before)), float(np.median(after))
    shift = (medians[1] - medians[0]) / abs(medians[0]) if medians[0] else inf
    return Change(index, len(before), len(after), *medians, shift, p_value(before, after, recalled))


def _drift(series: Values, indices: Sequence[int], recalled: float) -> Drift | None:
    """The line of Theil (1950) and Sen (1968), where it explains the series better than the steps.

    Both are judged by their mean absolute deviation and number of parameters: Schwarz's criterion for Laplacian noise,
    of as many independent runs as those of that memory count for.
    """
    runs = len(series)
    numbers = np.arange(runs)
    slope, intercept, low, high = theilslopes(series, numbers)
    centre = abs(float(np.median(series)))
    if low <= 0 <= high or not centre or abs(slope) * runs < LEAST_SHIFT * centre:
        return None
    of_line = np.abs(series - (intercept + slope * numbers)).mean()
    of_steps = np.concatenate([np.abs(part - np.median(part)) for part in _segments(series, indices)]).mean()
    parameters_more = 2 * len(indices) - 1  # a step has a place and a height, the line a slope
    independent_runs = runs * independent_ratio(recalled)
    if of_line > of_steps * exp(parameters_more * log(runs) / (2 * independent_runs)):
        return None
    return Drift(*(float(of) * runs / centre for of in (slope, low, high)))


def same_change(one: Change, other: Change) -> bool:
    """Whether two analyses mean the same change, which later runs may move by a few."""
    return abs(one.index - other.index) <= SAME_RUNS


def agreed(earlier: Analysis, later: Analysis) -> tuple[Change, ...]:
    """The changes of the later analysis that the earlier one, of fewer runs, had found too.

    One analysis alone is no reason to alert anybody: its newest change may be gone with the next run.

    Raises:
        ValueError: both are of as many runs, so that the second says nothing that the first did not.
    """
    if earlier.run_count >= later.run_count:
        raise ValueError(f"an analysis of {later.run_count} runs cannot confirm one of {earlier.run_count}")
    return tuple(change for change in later.changes if any(same_change(change, before) for before in earlier.changes))
