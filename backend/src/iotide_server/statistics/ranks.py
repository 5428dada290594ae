"""Tests of two levels, corrected for autocorrelation."""

from collections.abc import Sequence
from math import sqrt
from typing import Final

import numpy as np
import scipy  # first use costs 0.5 s of CPU and 60 MB
from numpy.typing import NDArray

Values = NDArray[np.float64]

MOST_MEMORY: Final = 0.9  # a larger value would leave any number of runs without weight
_FEWEST_RANKED: Final = 4
_FEWEST_INDEPENDENT: Final = 4.0  # of a side, for means; with fewer, no size of a shift would be certain
_MEANS_WEIGHED: Final = 5  # their p counts as so much more, since runs are not normal


def p_value(before: Values, after: Values, memory: float = 0.0) -> float:
    """Return the smaller of two two-sided p, of ranks and 5 x of means, increased for autocorrelation.

    Ranks (Mann and Whitney 1947, Ann. Math. Stat. 18) are robust against extreme runs. Their p has a lower bound that
    depends on the number of runs only. The p of the means (Welch 1947, Biometrika 34) also falls with the size of the
    shift: of halvings in 24 runs of lag-1 autocorrelation 0.6, ranks report one in ten, both together all.

    n runs of lag-1 autocorrelation r count as n (1 - r) / (1 + r) independent ones (Bayley and Hammersley 1946, J. R.
    Stat. Soc. Suppl. 8).

    Args:
        memory: r, from 0 up to below 1.
    """
    independent = independent_ratio(max(memory, 0.0))
    return min(p_of_ranks(before, after, memory), _MEANS_WEIGHED * _p_of_means(before, after, independent))


def p_of_ranks(before: Values, after: Values, memory: float = 0.0) -> float:
    """Return the two-sided p of Mann and Whitney (1947), increased for autocorrelation as in `p_value`."""
    independent = independent_ratio(max(memory, 0.0))
    p = float(scipy.stats.mannwhitneyu(before, after).pvalue)
    if independent == 1:
        return p
    return float(2 * scipy.stats.norm.sf(scipy.stats.norm.isf(p / 2) * sqrt(independent)))


def _p_of_means(before: Values, after: Values, independent: float) -> float:
    """Return 1 for runs without any scatter.

    The error is at least that of a common scatter: few runs may by chance have none.
    """
    counts = len(before), len(after)
    runs = [max(independent * count, _FEWEST_INDEPENDENT) for count in counts]
    variances = _variance(before), _variance(after)
    errors = [variance / count for variance, count in zip(variances, runs, strict=True)]
    if not any(errors):
        return 1.0
    freedom = sum(errors) ** 2 / sum(part**2 / (count - 1) for part, count in zip(errors, runs, strict=True))
    common = sum(variance * (count - 1) for variance, count in zip(variances, counts, strict=True)) / (sum(counts) - 2)
    error = max(sum(errors), sum(common / count for count in runs))
    score = abs(float(np.mean(after) - np.mean(before))) / sqrt(error)
    return float(2 * scipy.stats.t.sf(score, freedom))


def _variance(part: Values) -> float:
    """Return exactly 0 for equal values, whose mean may be rounded."""
    return float(np.var(part, ddof=1)) if np.ptp(part) else 0.0


def independent_ratio(memory: float) -> float:
    """Return the number of independent runs that one run counts for."""
    return (1 - memory) / (1 + memory)


def memory(segments: Sequence[Values], parameters: int | None = None) -> float:
    """Return the lag-1 autocorrelation of ranks within segments, pooled; 0 if negative or unknown.

    Ranks are robust against extreme runs; a change between segments does not count. Each fitted parameter lowers the
    estimate by (1 + 3 r) / n (Kendall 1954, Biometrika 41), which is added again.

    Args:
        parameters: of the fit whose residuals these are; by default a level for each segment.
    """
    together = apart = 0.0
    levels = runs = 0
    for segment in segments:
        if len(segment) >= _FEWEST_RANKED:
            ranks = scipy.stats.rankdata(segment) / (len(segment) + 1) - 0.5
            together += float(np.dot(ranks[1:], ranks[:-1]))
            apart += float(np.dot(ranks, ranks))
            levels += 1
            runs += len(segment)
    if not apart:
        return 0.0
    fitted = (levels if parameters is None else parameters) / runs
    remaining = 1 - 3 * fitted
    if remaining <= 0:
        return MOST_MEMORY  # nothing is left to estimate it from
    return min(max((together / apart + fitted) / remaining, 0.0), MOST_MEMORY)
