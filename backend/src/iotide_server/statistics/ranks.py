"""Whether two stretches of runs differ, by their ranks alone, and how much of a run the one before it says already."""

from collections.abc import Sequence
from math import sqrt
from typing import Final

import numpy as np
import scipy  # half a second of processor time and 60 MB more come with the first use of `scipy.stats`
from numpy.typing import NDArray

Values = NDArray[np.float64]

MOST_MEMORY: Final = 0.9  # a higher estimate would take all weight from any number of runs
_FEWEST_RANKED: Final = 4  # of a segment whose ranks say something of their order


def p_value(before: Values, after: Values, memory: float = 0.0) -> float:
    """The two-sided p of Mann and Whitney (1947, Ann. Math. Stat. 18), made larger where runs resemble the ones before.

    n runs of lag-1 autocorrelation r say as much as n (1 - r) / (1 + r) independent ones (Bayley and Hammersley 1946,
    J. R. Stat. Soc. Suppl. 8), so the normal score that p stands for is made smaller by the root of that.

    Args:
        memory: r, from 0 up to below 1.
    """
    p = float(scipy.stats.mannwhitneyu(before, after).pvalue)
    if memory <= 0:
        return p
    return float(2 * scipy.stats.norm.sf(scipy.stats.norm.isf(p / 2) * sqrt(independent_ratio(memory))))


def independent_ratio(memory: float) -> float:
    """How many independent runs one run of that lag-1 autocorrelation counts for."""
    return (1 - memory) / (1 + memory)


def memory(segments: Sequence[Values]) -> float:
    """Lag-1 autocorrelation of the ranks within segments, pooled; 0 where it is negative or nothing can be said.

    Of ranks, so that one wild run does not hide it, and within segments, since a change of level is no memory.
    """
    together = apart = 0.0
    for segment in segments:
        if len(segment) >= _FEWEST_RANKED:
            ranks = scipy.stats.rankdata(segment) / (len(segment) + 1) - 0.5
            together += float(np.dot(ranks[1:], ranks[:-1]))
            apart += float(np.dot(ranks, ranks))
    return min(max(together / apart, 0.0), MOST_MEMORY) if apart else 0.0
