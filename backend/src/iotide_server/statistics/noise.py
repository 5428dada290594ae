"""Changes of the spread of a series."""

from collections.abc import Sequence
from itertools import pairwise
from math import inf, log, pi, sqrt
from typing import Final

import numpy as np
import scipy  # first use costs 0.5 s of CPU and 60 MB
from numpy.lib.stride_tricks import sliding_window_view

from iotide_server.statistics.course import FEWEST_NOISE_RUNS as FEWEST_RUNS
from iotide_server.statistics.course import Analysis, ScatterChange
from iotide_server.statistics.ranks import Values, independent_ratio, memory
from iotide_server.statistics.summary import robust_sigma

LEAST_RATIO: Final = 1.5  # wider / narrower spread
LEAST_SPREAD: Final = 0.01  # of the level, on the wider side
MOST_P: Final = 0.005
MOST_CANDIDATE_P: Final = 0.2
WINDOW_RUNS: Final = 9
MEAN_TO_SIGMA: Final = sqrt(pi / 2)  # of the mean distance of a normal distribution


def spread_change(values: Values, changes: Sequence[int]) -> ScatterChange | None:
    """Return the last change of the spread around the local level, or None. Values are finite and in time order.

    The local level is a running median of nine runs between changes, so that steps and drifts are no noise. A
    recursive search splits where the ranks of distances differ most. The weakest split is removed until each has p <
    0.005 and a ratio of 1.5. p is that of the largest of many Mann-Whitney statistics (Miller and Siegmund 1982,
    Biometrics 38, 1011), increased for autocorrelation as in `ranks.p_value`.

    Of a hundred steady series of 200 runs at most one is reported as noisier, also with heavy tails, two modes, or
    autocorrelation of 0.6. A doubled spread is found in half of such series, a trebled one in nine of ten.

    Args:
        changes: indices of the first runs after each change of level.
    """
    distances = _distances(values, changes)
    if distances is None:
        return None
    candidates = _candidates(distances, 0, len(distances))
    recalled = memory([distances[start:end] for start, end in pairwise((0, *candidates, len(distances)))])
    changes_of_spread = _guarded(distances, candidates, recalled)
    return changes_of_spread[-1] if changes_of_spread else None


def without_drift(values: Sequence[float], found: Analysis) -> Values:
    """Return the values with the drift taken out: their distances from it, or themselves if there is none."""
    series = np.asarray(values, dtype=np.float64)
    if found.drift is None:
        return series
    runs, levels = zip(*found.drift.path, strict=True)
    left: Values = series - np.interp(np.arange(len(series)), runs, levels)
    return left


def scatter_ratio(values: Sequence[float], changes: Sequence[int], found: Analysis) -> float | None:
    """Return the robust spread of the newest runs around their level, relative to it; None if it is unknown.

    Runs before the last change of the spread are left out. More than half of equal runs have the mean distance.

    Args:
        changes: indices of the first runs after each change of level.
    """
    series = np.asarray(values, dtype=np.float64)
    parts = [series[start:end] for start, end in pairwise((0, *sorted(changes), len(series))) if start < end]
    if len(series) < FEWEST_RUNS:
        return None
    level = np.concatenate([np.full(len(part), np.median(part)) for part in parts])
    if found.drift is not None:
        level = series - without_drift(values, found)
    if not level.all():
        return None
    distances = (np.abs(series - level) / np.abs(level))[0 if found.noise is None else found.noise.index :]
    return robust_sigma(distances.tolist(), 0.0) or float(distances.mean()) * MEAN_TO_SIGMA


def _distances(values: Values, changes: Sequence[int]) -> Values | None:
    """Distances are relative to the level; None if a level is 0."""
    parts = [values[start:end] for start, end in pairwise((0, *changes, len(values)))]
    level = np.concatenate([_running_median(part) for part in parts])
    if not level.all():
        return None
    distances: Values = np.abs(values - level) / np.abs(level)
    return distances


def _running_median(values: Values) -> Values:
    width = min(WINDOW_RUNS, len(values))
    medians = np.median(sliding_window_view(values, width), axis=1)
    places = np.clip(np.arange(len(values)) - width // 2, 0, len(medians) - 1)
    of_each: Values = medians[places]
    return of_each


def _candidates(distances: Values, start: int, end: int) -> list[int]:
    """Return possible changes; one end of a wide stretch alone may not be certain."""
    if end - start < 2 * FEWEST_RUNS:
        return []
    split = start + FEWEST_RUNS + int(np.argmax(np.abs(_scores(distances[start:end]))))
    if _judged(distances, start, split, end, recalled=0.0).p_value >= MOST_CANDIDATE_P:
        return []
    return [*_candidates(distances, start, split), split, *_candidates(distances, split, end)]


def _guarded(distances: Values, candidates: Sequence[int], recalled: float) -> list[ScatterChange]:
    splits = list(candidates)
    while True:
        ends = [0, *splits, len(distances)]
        found = [_judged(distances, *around, recalled) for around in zip(ends, ends[1:], ends[2:], strict=False)]
        weak = [noise for noise in found if not _is_guarded(noise)]
        if not weak:
            return found
        splits.remove(max(weak, key=lambda noise: noise.p_value).index)


def _is_guarded(noise: ScatterChange) -> bool:
    narrower, wider = sorted((noise.spread_before, noise.spread_after))
    return wider >= max(LEAST_RATIO * narrower, LEAST_SPREAD) and noise.p_value < MOST_P


def _scores(part: Values) -> Values:
    runs = len(part)
    ranks = scipy.stats.rankdata(part)
    before = np.arange(FEWEST_RUNS, runs - FEWEST_RUNS + 1)
    excess = np.cumsum(ranks)[before - 1] - before * (runs + 1) / 2
    variance = float(np.var(ranks)) or inf  # with ties; equal ranks score 0
    scores: Values = excess / np.sqrt(before * (runs - before) / (runs - 1) * variance)
    return scores


def _judged(distances: Values, start: int, split: int, end: int, recalled: float) -> ScatterChange:
    part, place = distances[start:end], split - start
    score = abs(float(_scores(part)[place - FEWEST_RUNS])) * sqrt(independent_ratio(recalled))
    before, after = (float(robust_sigma(list(side), 0.0)) for side in (part[:place], part[place:]))
    p = _p_of_largest(score, FEWEST_RUNS / len(part))
    return ScatterChange(split, place, len(part) - place, before, after, p)


def _p_of_largest(score: float, least_share: float) -> float:
    """Return the two-sided p of the largest score, with at least `least_share` of the runs on each side."""
    if score <= 1:
        return 1.0
    odds = log(((1 - least_share) / least_share) ** 2)
    density = float(scipy.stats.norm.pdf(score))
    return min(1.0, density * (score - 1 / score) * odds + 4 * density / score)
