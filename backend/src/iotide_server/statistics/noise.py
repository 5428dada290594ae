"""Since when the runs of a series scatter more, or less, around their level than before; pure."""

from collections.abc import Sequence
from itertools import pairwise
from math import inf, log, sqrt
from typing import Final

import numpy as np
import scipy  # half a second of processor time and 60 MB more come with the first use of `scipy.stats`
from numpy.lib.stride_tricks import sliding_window_view

from iotide_server.statistics.course import FEWEST_NOISE_RUNS as FEWEST_RUNS
from iotide_server.statistics.course import ScatterChange
from iotide_server.statistics.ranks import Values, independent_ratio, memory
from iotide_server.statistics.summary import robust_sigma

LEAST_RATIO: Final = 1.5  # of the wider spread to the narrower one
LEAST_SPREAD: Final = 0.01  # of the level, on the wider side; below it nobody minds how noisy a series is
MOST_P: Final = 0.005
MOST_CANDIDATE_P: Final = 0.2
WINDOW_RUNS: Final = 9


def spread_change(values: Values, changes: Sequence[int]) -> ScatterChange | None:
    """The last change of the spread around the local level, of finite values in time order; None: none is shown.

    The local level is a running median of nine runs between changes of level, so that neither a step nor a drift is
    taken for noise. Candidates are the splits at which the ranks of the distances from it differ most, once more on
    both sides of each; the weakest is taken away until each has p < 0.005 and a ratio of 1.5 of the spreads. p is that
    of the largest of many statistics of Mann and Whitney (Miller and Siegmund 1982, Biometrics 38, 1011), made larger
    by the memory of the distances as `ranks.p_value` does.

    Of a hundred steady series of 200 runs one at most is called noisier, also with heavy tails, two modes, or a lag-1
    autocorrelation of 0.6. A spread that doubles half way is found in half of such series, one that trebles in nine of
    ten.

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


def _candidates(distances: Values, start: int, end: int) -> list[int]:
    """Where it might have changed, in time order: of a wide stretch between narrow ones neither end is sure alone."""
    if end - start < 2 * FEWEST_RUNS:
        return []
    split = start + FEWEST_RUNS + int(np.argmax(np.abs(_scores(distances[start:end]))))
    if _judged(distances, start, split, end, recalled=0.0).p_value >= MOST_CANDIDATE_P:
        return []
    return [*_candidates(distances, start, split), split, *_candidates(distances, split, end)]


def _guarded(distances: Values, candidates: Sequence[int], recalled: float) -> list[ScatterChange]:
    """The weakest is taken away, and its neighbours are joined, until each that is left is large and sure enough."""
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
    """The normal score of Mann and Whitney for each split that leaves enough runs on both sides."""
    runs = len(part)
    ranks = scipy.stats.rankdata(part)
    before = np.arange(FEWEST_RUNS, runs - FEWEST_RUNS + 1)
    excess = np.cumsum(ranks)[before - 1] - before * (runs + 1) / 2
    variance = float(np.var(ranks)) or inf  # ties and all: of ranks that are all one, nothing can be said
    scores: Values = excess / np.sqrt(before * (runs - before) / (runs - 1) * variance)
    return scores


def _judged(distances: Values, start: int, split: int, end: int, recalled: float) -> ScatterChange:
    """The spreads on both sides, and the p of the score being the largest of all splits."""
    part, place = distances[start:end], split - start
    score = abs(float(_scores(part)[place - FEWEST_RUNS])) * sqrt(independent_ratio(recalled))
    before, after = (float(robust_sigma(list(side), 0.0)) for side in (part[:place], part[place:]))
    p = _p_of_largest(score, FEWEST_RUNS / len(part))
    return ScatterChange(split, place, len(part) - place, before, after, p)


def _p_of_largest(score: float, least_share: float) -> float:
    """The two-sided p of the largest of the scores of all splits that leave so large a share of the runs on a side."""
    if score <= 1:
        return 1.0
    odds = log(((1 - least_share) / least_share) ** 2)
    density = float(scipy.stats.norm.pdf(score))
    return min(1.0, density * (score - 1 / score) * odds + 4 * density / score)
