"""Which run of a cell lies far from the others, so that it can be marked; it is never dropped."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from iotide_server.statistics.summary import ENOUGH_RUNS

MADS = 5
LEAST_RATIO = 0.03
"""Of the median; a nearer run is no outlier, however alike the others are: no such difference is acted upon."""


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
