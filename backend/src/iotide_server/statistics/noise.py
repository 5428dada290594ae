"""Since when the runs of a series scatter more, or less, around their level than before; pure."""

from collections.abc import Sequence
from itertools import pairwise
from math import inf, log, sqrt
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.stats import norm, rankdata

from iotide_server.statistics.course import Noise
from iotide_server.statistics.ranks import Values, independent_ratio, memory
from iotide_server.statistics.summary import robust_sigma

FEWEST_RUNS: Final = 15
"""On both sides: a spread needs three times the runs that a level does."""
LEAST_RATIO: Final = 1.5
"""Of the wider spread to the narrower one."""
LEAST_SPREAD: Final = 0.01
"""Of the level, on the wider side; below it nobody minds how noisy a series is."""
MOST_P: Final = 0.005
WINDOW_RUNS: Final = 9


def spread_change(values: Values, changes: Sequence[int]) -> Noise | None:
    """The last change of the spread around the local level, of finite values in time order; None: none is shown.

    The local level is a running median of nine runs between changes of level, so that neither a step nor a drift is
    taken for noise. The split at which the ranks of the distances from it differ most is searched for, and once more
    on both sides of it, as long as p < 0.005 with a ratio of 1.5 of the spreads. p is that of the largest of many
    statistics of Mann and Whitney (Miller and Siegmund 1982, Biometrics 38, 1011), made larger by the memory of the
    distances as `ranks.p_value` does. Of a hundred steady series of 200 runs one at most is called noisier, also with
    heavy tails, two modes, or a lag-1 autocorrelation of 0.6; a spread that doubled half way is found in half of them,
    one that trebled in nine of ten.

    Args:
        changes: indices of the first runs after each change of level.
    """
    distances = _distances(values, changes)
    if distances is None:
        return None
    splits: list[int] = []
    _split(distances, 0, len(distances), splits)
    if not splits:
        return None
    last = max(splits)
    first = max((split for split in splits if split < last), default=0)
    return _judged(distances, first, last, len(distances))


def _distances(values: Values, changes: Sequence[int]) -> Values | None:
    """How far each run lies from its local level, of that level; None where a level is 0."""
    parts = [values[start:end] for start, end in pairwise((0, *changes, len(values)))]
    level = np.concatenate([_running_median(part) for part in parts])
    if not level.all():
        return None
    distances: Values = np.abs(values - level) / np.abs(level)
    return distances


def _running_median(values: Values) -> Values:
    """Of the nine runs around each; at the ends the nearest nine, of fewer all."""
    width = min(WINDOW_RUNS, len(values))
    medians = np.median(sliding_window_view(values, width), axis=1)
    places = np.clip(np.arange(len(values)) - width // 2, 0, len(medians) - 1)
    of_each: Values = medians[places]
    return of_each


def _split(distances: Values, start: int, end: int, splits: list[int]) -> None:
    part = distances[start:end]
    if len(part) < 2 * FEWEST_RUNS:
        return
    split = start + _largest_split(part)
    found = _judged(distances, start, split, end)
    wider, narrower = max(found.spread_before, found.spread_after), min(found.spread_before, found.spread_after)
    is_large = wider >= LEAST_RATIO * narrower and wider >= LEAST_SPREAD
    if not is_large or found.p_value >= MOST_P:
        return
    splits.append(split)
    _split(distances, start, split, splits)
    _split(distances, split, end, splits)


def _scores(part: Values) -> Values:
    """The normal score of Mann and Whitney for each split that leaves enough runs on both sides."""
    runs = len(part)
    ranks = rankdata(part)
    before = np.arange(FEWEST_RUNS, runs - FEWEST_RUNS + 1)
    excess = np.cumsum(ranks)[before - 1] - before * (runs + 1) / 2
    variance = float(np.var(ranks)) or inf  # ties and all: of ranks that are all one, nothing can be said
    scores: Values = excess / np.sqrt(before * (runs - before) / (runs - 1) * variance)
    return scores


def _largest_split(part: Values) -> int:
    return FEWEST_RUNS + int(np.argmax(np.abs(_scores(part))))


def _judged(distances: Values, start: int, split: int, end: int) -> Noise:
    """The spreads on both sides, and the p of the largest score of all splits."""
    part, place = distances[start:end], split - start
    recalled = memory([part[:place], part[place:]])
    score = abs(_scores(part)[place - FEWEST_RUNS]) * sqrt(independent_ratio(recalled))
    spreads = (robust_sigma(list(side), 0.0) for side in (part[:place], part[place:]))
    return Noise(split, place, len(part) - place, *spreads, _p_of_largest(score, FEWEST_RUNS / len(part)))


def _p_of_largest(score: float, least_share: float) -> float:
    """The two-sided p of the largest of the scores of all splits that leave so large a share of the runs on a side."""
    if score <= 1:
        return 1.0
    odds = log(((1 - least_share) / least_share) ** 2)
    density = float(norm.pdf(score))
    return min(1.0, density * (score - 1 / score) * odds + 4 * density / score)
