"""Two modes, as of runs that a cache served at times."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from statistics import median

GAP_SPREADS = 5
"""Gap between two modes / range of the wider one.

Of four runs of one level, two are five standard deviations from the others in 8 % of cases, five ranges in 3 %.
"""
FEWEST_OF_A_MODE = 3  # two slow runs of ten are outliers
LEAST_SHARE_OF_A_MODE = 0.2
LEAST_GAP_RATIO = 0.05  # of the median


@dataclass(frozen=True, slots=True)
class Modes:
    # low, high: medians, in the unit of the values
    low: float
    low_runs: int
    high: float
    high_runs: int


def two_modes(values: Sequence[float]) -> Modes | None:
    """Return the modes around the widest gap, if it is five times as wide as either.

    A mode has at least three runs and a fifth of all.
    """
    fewest = max(FEWEST_OF_A_MODE, ceil(LEAST_SHARE_OF_A_MODE * len(values)))
    if len(values) < 2 * fewest:
        return None
    runs = sorted(values)
    gaps = [after - before for before, after in pairwise(runs)]
    split = max(range(fewest, len(runs) - fewest + 1), key=lambda at: gaps[at - 1])
    low, high = runs[:split], runs[split:]
    gap, spread = gaps[split - 1], max(low[-1] - low[0], high[-1] - high[0])
    if gap <= GAP_SPREADS * spread or gap < LEAST_GAP_RATIO * abs(median(runs)):
        return None
    return Modes(median(low), len(low), median(high), len(high))
