"""Change points of a series."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf, log
from typing import Final

import numpy as np
import scipy  # first use costs 0.5 s of CPU and 60 MB

from iotide_server.statistics.course import (
    SEGMENT_RUNS,
    Analysis,
    Course,
    LevelChange,
)
from iotide_server.statistics.drifts import fitted_drift
from iotide_server.statistics.noise import spread_change
from iotide_server.statistics.ranks import Values, memory, p_value

DETECTOR: Final = "kernel-cpd-4"
"""Stored with each result; raise the version if results could differ."""
MOST_RUNS: Final = 2000
FEWEST_RUNS: Final = 14  # fewer cannot reach p < 0.001
PENALTY: Final = 0.75  # x log(number of runs): the cost of one more change
_DIGITS: Final = 9


def analyse(values: Sequence[float]) -> Analysis:
    """Analyse one value per run, in time order; of more than 2000 runs the newest.

    Candidates are the segments of kernel change point detection with a Gaussian kernel (Arlot, Celisse and Harchaoui
    2019, J. Mach. Learn. Res. 20; ruptures' KernelCPD). The weakest is removed until each has five runs on both
    sides, a shift of 3 % and p < 0.001. A line or curve that fits better than these steps is a drift.

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
    indices = [change.index for change in changes]
    left = np.concatenate([segment - np.median(segment) for segment in _segments(series, indices)])
    drift = fitted_drift(series, left, len(indices), recalled)
    noise = spread_change(series, indices)
    if noise is not None:
        noise = replace(noise, index=noise.index + skipped)
    if drift is not None:
        return Analysis(Course.DRIFT, len(values), drift=drift, memory=recalled, noise=noise)
    course = Course.CHANGED if changes else Course.STEADY
    shifted = tuple(replace(change, index=change.index + skipped) for change in changes)
    return Analysis(course, len(values), shifted, memory=recalled, noise=noise)


def _candidates(series: Values) -> list[int]:
    width = _kernel_width(series)
    if not width:
        return []
    # The import costs 0.5 s of CPU and 40 MB, which only long series need.
    import ruptures  # noqa: PLC0415 - as the comment above says

    # Without its own gamma, ruptures takes 1 in the unit of the values as soon as half of all pairs are equal. Rounding
    # lets equally good places tie in each unit, so that the same one wins.
    scaled = np.round((series - np.median(series)) / width, _DIGITS)
    detector = ruptures.KernelCPD(kernel="rbf", min_size=SEGMENT_RUNS, params={"gamma": 1.0})
    *ends, _ = detector.fit(scaled.reshape(-1, 1)).predict(pen=PENALTY * log(len(series)))
    return [int(end) for end in ends]


def _kernel_width(series: Values) -> float:
    """Return the median distance of different values (Garreau, Jitkrittum and Kanagawa 2017); 0 if all are equal."""
    distances = scipy.spatial.distance.pdist(series.reshape(-1, 1), "cityblock")
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 0.0


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
