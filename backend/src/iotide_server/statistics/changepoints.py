"""Since when a series runs at another level: change points of one value per run, each guarded by a test; pure."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import exp, inf, log, sqrt
from typing import Final

import numpy as np
import scipy  # half a second of processor time and 60 MB more come with the first use of `scipy.stats`

from iotide_server.statistics.course import (
    LEAST_SHIFT,
    MOST_P,
    SEGMENT_RUNS,
    Analysis,
    Course,
    LevelChange,
    LinearDrift,
)
from iotide_server.statistics.noise import spread_change
from iotide_server.statistics.ranks import Values, independent_ratio, memory, p_value

DETECTOR: Final = "kernel-cpd-3"
"""Name and version, stored with what it found; it goes up whenever it could find something else."""
MOST_RUNS: Final = 2000
FEWEST_RUNS: Final = 14  # five against nine is the first pair whose p can be below 0.001
PENALTY: Final = 0.75  # times the logarithm of the number of runs: what one more change has to explain
CONFIDENCE: Final = 0.95


def analyse(values: Sequence[float]) -> Analysis:
    """The course of a series: one finite value per run, in time order; of more than 2000 runs the newest.

    Candidates are the segments that kernel change point detection with a Gaussian kernel separates (Arlot, Celisse and
    Harchaoui 2019, J. Mach. Learn. Res. 20; ruptures' KernelCPD). The weakest is taken away, and its neighbours are
    joined, until each that is left has five runs on both sides, a shift of 3 % and p < 0.001. A straight line that
    explains the runs better than the steps that are left, or than none, is a drift. The spread around the level has its
    own guard, see `noise.spread_change`.

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
    drift = _drift(series, [change.index for change in changes], recalled)
    noise = spread_change(series, [change.index for change in changes])
    if noise is not None:
        noise = replace(noise, index=noise.index + skipped)
    if drift is not None:
        return Analysis(Course.DRIFT, len(values), drift=drift, memory=recalled, noise=noise)
    course = Course.CHANGED if changes else Course.STEADY
    told = tuple(replace(change, index=change.index + skipped) for change in changes)
    return Analysis(course, len(values), told, memory=recalled, noise=noise)


def _candidates(series: Values) -> list[int]:
    if np.ptp(series) == 0:
        return []  # the kernel's width is the median distance of the values
    # Half a second of processor time and 40 MB, which only a series that is long enough needs.
    import ruptures  # noqa: PLC0415 - as the comment above says

    detector = ruptures.KernelCPD(kernel="rbf", min_size=SEGMENT_RUNS).fit(series.reshape(-1, 1))
    *ends, _ = detector.predict(pen=PENALTY * log(len(series)))
    return [int(end) for end in ends]


def _segments(series: Values, indices: Sequence[int]) -> list[Values]:
    return [series[start:end] for start, end in pairwise((0, *indices, len(series)))]


def _guarded(series: Values, candidates: Sequence[int], recalled: float) -> list[LevelChange]:
    indices = list(candidates)
    while True:
        pairs = zip(indices, pairwise(_segments(series, indices)), strict=True)
        changes = [_change(index, before, after, recalled) for index, (before, after) in pairs]
        weak = [change for change in changes if not change.is_guarded]
        if not weak:
            return changes
        indices.remove(max(weak, key=lambda change: (change.p_value, -abs(change.shift_ratio))).index)


def _change(index: int, before: Values, after: Values, recalled: float) -> LevelChange:
    medians = float(np.median(before)), float(np.median(after))
    shift = (medians[1] - medians[0]) / abs(medians[0]) if medians[0] else inf
    return LevelChange(index, len(before), len(after), *medians, shift, p_value(before, after, recalled))


def _drift(series: Values, indices: Sequence[int], recalled: float) -> LinearDrift | None:
    """The line of Theil (1950) and Sen (1968), where it is sure and explains the series better than the steps.

    Sure is a slope whose interval at the level of a change's p leaves out 0, made wider by the memory of what the line
    leaves. Both explanations are judged by their mean absolute deviation and number of parameters: Schwarz's criterion
    for Laplacian noise, of as many independent runs as the smaller memory leaves, since each takes what the other
    explains for memory.
    """
    runs = len(series)
    numbers = np.arange(runs)
    slope, intercept, *sure = scipy.stats.theilslopes(series, numbers, alpha=1 - MOST_P)
    left = series - (intercept + slope * numbers)
    independent = independent_ratio(memory([left]))
    centre = abs(float(np.median(series)))
    low, high = (slope + (end - slope) / sqrt(independent) for end in sure)
    if low <= 0 <= high or not centre or abs(slope) * runs < LEAST_SHIFT * centre:
        return None
    of_steps = np.concatenate([part - np.median(part) for part in _segments(series, indices)])
    parameters_more = 2 * len(indices) - 1  # a step has a place and a height, the line a slope
    allowance = exp(parameters_more * log(runs) / (2 * runs * max(independent, independent_ratio(recalled))))
    if np.abs(left).mean() > np.abs(of_steps).mean() * allowance:
        return None
    ends = scipy.stats.theilslopes(series, numbers, alpha=CONFIDENCE)[2:]
    lowest, highest = (_gained(series, float(slope + (end - slope) / sqrt(independent))) for end in ends)
    start = float(intercept)
    return LinearDrift(
        _gained(series, float(slope)), lowest, highest, start=start, end=start + float(slope) * (runs - 1)
    )


def _gained(series: Values, slope: float) -> float | None:
    """What a line of this slope through the medians gains from the first run to the last, of its own value there."""
    last = len(series) - 1
    start = float(np.median(series)) - slope * last / 2
    return slope * last / abs(start) if start * float(np.median(series)) > 0 else None
