"""Outliers of a cell, and newest runs that suggest a change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log10
from statistics import median
from typing import Final

from iotide_server.statistics.summary import ENOUGH_RUNS

LEAST_RATIO = 0.03
"""Of the median; closer runs are no outliers."""
FEWEST_RUNS: Final = 8
NEWEST_RUNS: Final = 3
OUTSIDE_RUNS: Final = 2
SUSPECT_MADS: Final = 4
CONFIRMATION_RUNS: Final = 3  # runs queued to confirm a suspicion


_CUTS: Final[Mapping[int, tuple[float, float, float]]] = {
    4: (23.7, 76.9, 248.0),
    5: (27.5, 88.6, 272.0),
    6: (15.0, 33.6, 73.8),
    7: (15.8, 35.6, 77.1),
    8: (11.8, 22.1, 40.7),
    9: (12.2, 23.0, 41.8),
    10: (10.2, 17.4, 28.8),
    11: (10.5, 17.9, 29.8),
    12: (9.32, 14.8, 22.8),
    13: (9.49, 15.0, 22.7),
    14: (8.73, 13.1, 19.1),
    15: (8.85, 13.3, 19.6),
    16: (8.31, 12.2, 17.1),
    17: (8.37, 12.3, 17.3),
    20: (7.76, 10.7, 14.3),
    25: (7.46, 9.98, 13.1),
    30: (7.09, 9.21, 11.5),
    50: (6.63, 8.15, 9.79),
    100: (6.38, 7.49, 8.55),
    200: (6.35, 7.28, 8.13),
    1000: (6.6, 7.3, 8.0),
}
"""Median absolute deviations that 1 %, 0.1 % and 0.01 % of sets of that number of normal runs exceed."""


@dataclass(frozen=True, slots=True)
class Bounds:
    median: float
    low: float
    high: float
    mads: float  # distance of low and high from the median, in median absolute deviations

    def hold(self, value: float) -> bool:
        return self.low <= value <= self.high


def outlier_bounds(values: Sequence[float], value_count: int = 1) -> Bounds | None:
    """Return the bounds that all runs of 99 % of ordinary cells keep, at least 3 % around the median.

    None below four runs. A cell has `value_count` values a run, which are judged together (Bonferroni).
    """
    if len(values) < ENOUGH_RUNS:
        return None
    bounds = bounds_around(values, outlier_cut(len(values), value_count))
    return replace(bounds, low=max(0.0, bounds.low)) if min(values) >= 0 else bounds


def outlier_cut(run_count: int, value_count: int = 1) -> float:
    """Return the median absolute deviations that the furthest of normal runs exceeds in 1 % of `value_count` sets.

    Quantiles of max |x - median| / MAD by simulation, as of Davies and Gather 1993, J. Am. Stat. Assoc. 88. Rarer
    ones are extrapolated as a power, which is exact for few runs: n // 2 + 1 of them must be close together.
    """
    cuts = max((_CUTS[known] for known in (_known(run_count), _known(run_count, above=True))), key=lambda cuts: cuts[0])
    rarity = log10(value_count)
    step = min(int(rarity), len(cuts) - 2)
    return float(cuts[step] * (cuts[step + 1] / cuts[step]) ** (rarity - step))


def _known(run_count: int, *, above: bool = False) -> int:
    """Return the nearest number of runs with a simulated cut."""
    if above:
        return min((known for known in _CUTS if known >= run_count), default=max(_CUTS))
    return max(known for known in _CUTS if known <= run_count)


def bounds_around(values: Sequence[float], mads: float) -> Bounds:
    centre = median(values)
    reach = max(mads * median(abs(value - centre) for value in values), LEAST_RATIO * abs(centre))
    return Bounds(centre, centre - reach, centre + reach, mads)


@dataclass(frozen=True, slots=True)
class SuspectRuns:
    """Bounds that the newest runs exceed, in the unit of the values."""

    centre: float
    low: float
    high: float
    is_higher: bool


def suspect(values: Sequence[float]) -> SuspectRuns | None:
    """Return median -+ max(4 MAD, 3 %) of earlier runs if two of the last three exceed it on one side, else None.

    Needs eight values since the last change.
    """
    if len(values) < FEWEST_RUNS:
        return None
    earlier, newest = values[:-NEWEST_RUNS], values[-NEWEST_RUNS:]
    bounds = bounds_around(earlier, SUSPECT_MADS)
    above, below = sum(value > bounds.high for value in newest), sum(value < bounds.low for value in newest)
    if max(above, below) < OUTSIDE_RUNS:
        return None
    return SuspectRuns(bounds.median, bounds.low, bounds.high, is_higher=above > below)
