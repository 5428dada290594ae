"""Which runs lie far from the others: one of a cell, to be marked, and the newest of a series, as a suspect; pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from iotide_server.statistics.summary import ENOUGH_RUNS

MADS: Final = 5
LEAST_RATIO = 0.03
"""Of the median; a nearer run is no outlier, however alike the others are: no such difference is acted upon."""
FEWEST_RUNS: Final = 8
NEWEST_RUNS: Final = 3
OUTSIDE_RUNS: Final = 2
SUSPECT_MADS: Final = 4
CONFIRMATION_RUNS: Final = 3  # so many runs are queued to see whether a suspect is a change


@dataclass(frozen=True, slots=True)
class Bounds:
    """Median and the values beyond which a run is an outlier, in the unit of the values."""

    median: float
    low: float
    high: float

    def hold(self, value: float) -> bool:
        """Whether it is none."""
        return self.low <= value <= self.high


def outlier_bounds(values: Sequence[float]) -> Bounds | None:
    """Median -+ 5 median absolute deviations (Leys et al. 2013, J. Exp. Soc. Psychol. 49), and 3 % at least.

    The lower one is not below 0 where no value is. None below four runs. Among normal runs that scatter by 2 % it marks
    one in a tenth of the cells of four to twenty repeats, so it is a reason to look at a run and none to leave it out.
    """
    if len(values) < ENOUGH_RUNS:
        return None
    bounds = bounds_around(values, MADS)
    return replace(bounds, low=max(0.0, bounds.low)) if min(values) >= 0 else bounds


def bounds_around(values: Sequence[float], mads: float) -> Bounds:
    """Median -+ so many median absolute deviations, and 3 % at least."""
    centre = median(values)
    reach = max(mads * median(abs(value - centre) for value in values), LEAST_RATIO * abs(centre))
    return Bounds(centre, centre - reach, centre + reach)


@dataclass(frozen=True, slots=True)
class SuspectRuns:
    """The newest runs and the bounds outside which two of them are, in the unit of the values."""

    centre: float
    low: float
    high: float
    is_higher: bool


def suspect(values: Sequence[float]) -> SuspectRuns | None:
    """Return two of the last three runs beyond median -+ max(4 MAD, 3 %) of those before them, on one side; else None.

    The values are of the segment since the last change; with fewer than eight nothing is suspected.
    """
    if len(values) < FEWEST_RUNS:
        return None
    earlier, newest = values[:-NEWEST_RUNS], values[-NEWEST_RUNS:]
    bounds = bounds_around(earlier, SUSPECT_MADS)
    above, below = sum(value > bounds.high for value in newest), sum(value < bounds.low for value in newest)
    if max(above, below) < OUTSIDE_RUNS:
        return None
    return SuspectRuns(bounds.median, bounds.low, bounds.high, is_higher=above > below)
