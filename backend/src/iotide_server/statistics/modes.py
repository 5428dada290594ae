"""Two modes among repeats, as of a cache that was hit at times: then no one number stands for the runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from iotide_server.statistics.summary import ENOUGH_RUNS

GAP_SPREADS = 5
"""Compares the gap with the wider mode's range.

Two of four equal runs lie five standard deviations from the other two in 8 % of cases, and five ranges in 3 %.
"""
FEWEST_OF_A_MODE = 2
LEAST_GAP_RATIO = 0.05  # of the median; nearer modes are of no account


@dataclass(frozen=True, slots=True)
class Modes:
    """The runs of one cell, apart."""

    # low, high: medians of the modes, in the unit of the values; with them the number of their runs
    low: float
    low_runs: int
    high: float
    high_runs: int


def two_modes(values: Sequence[float]) -> Modes | None:
    """Return the modes on both sides of the widest gap, if it is five times the wider of them; None: one mode.

    One run alone is an outlier and no mode, and below four runs nothing is said.
    """
    if len(values) < ENOUGH_RUNS:
        return None
    runs = sorted(values)
    gaps = [after - before for before, after in pairwise(runs)]
    split = max(range(FEWEST_OF_A_MODE, len(runs) - FEWEST_OF_A_MODE + 1), key=lambda at: gaps[at - 1])
    low, high = runs[:split], runs[split:]
    gap, spread = gaps[split - 1], max(low[-1] - low[0], high[-1] - high[0])
    if gap <= GAP_SPREADS * spread or gap < LEAST_GAP_RATIO * abs(median(runs)):
        return None
    return Modes(median(low), len(low), median(high), len(high))
