"""Power of comparisons: the difference that a number of repeats shows.

Plain arithmetic without data, so that the server's forecast and `iotide power` answer alike. `./dev bench repeats`
holds it to the server's own comparisons.

A comparison shows a difference that exceeds a bar: the half width of its interval, and at least 5 %. The half width
varies between campaigns, and hardly depends on the difference itself. So power is a mean of normal probabilities.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt
from statistics import NormalDist, fmean, variance
from typing import Final

POWER: Final = 0.8
FEWEST_REPEATS: Final = 4
MOST_REPEATS: Final = 1000
USUAL_SCATTERS: Final = (0.03, 0.06, 0.10)
"""Shown where nothing was measured: steady, ordinary and noisy storage."""

_FALSE_RATIO: Final = 0.04
"""At the first look; further ones after added repeats share the rest of 5 %."""
_PRACTICAL_RATIO: Final = 0.05
_SHARED_FACTOR, _SHARED_EXPONENT = 0.9, 0.7
"""Fitted to simulated scatters of 2 to 40 numbers."""
_NORMAL: Final = NormalDist()
_QUANTILES: Final = tuple(_NORMAL.inv_cdf((number + 0.5) / 16) for number in range(16))
_LEAST_RATIO: Final = 1e-9
_LEAST_SCATTER: Final = 1e-6
_LEAST_DIFFERENCE: Final = 1e-4


@dataclass(frozen=True, slots=True)
class RepeatedRuns:
    """Summary of a configuration's runs, as points of a series have it."""

    runs: int
    median: float
    low: float
    high: float
    variation_ratio: float | None  # None below four runs

    @property
    def variance(self) -> float | None:
        """Return the variance of the runs' logarithms; None if it is unknown.

        Two and three runs follow from their median and range.
        """
        if self.variation_ratio is not None:
            return self.variation_ratio**2
        if not 1 < self.runs < FEWEST_REPEATS or self.low <= 0:
            return None
        middle = [log(self.median)] * (self.runs - 2)
        return variance([log(self.low), *middle, log(self.high)])


def pooled_scatter(points: Iterable[RepeatedRuns]) -> float | None:
    """Return the standard deviation of runs within points, by their degrees of freedom; None if unknown."""
    known = [(point.runs - 1, own) for point in points if (own := point.variance) is not None]
    degrees = sum(freedom for freedom, _ in known)
    return sqrt(sum(freedom * own for freedom, own in known) / degrees) if degrees else None


def power(ratio: float, scatter_ratio: float, repeats: int, numbers: int = 1) -> float:
    """Return the share of comparisons that show this true ratio of two configurations.

    Args:
        scatter_ratio: standard deviation of the runs' logarithms, about their coefficient of variation.
        repeats: of each side.
        numbers: compared together; the others do not differ.
    """
    if repeats < FEWEST_REPEATS:
        return 0.0
    error = max(scatter_ratio, _LEAST_SCATTER) * sqrt(2 / repeats)
    practical = abs(log(1 - _PRACTICAL_RATIO if ratio < 1 else 1 + _PRACTICAL_RATIO)) / error
    distance = abs(log(max(ratio, _LEAST_RATIO))) / error
    return fmean(_NORMAL.cdf(distance - max(bar, practical)) for bar in _bars(repeats, numbers))


def smallest_difference(scatter_ratio: float, repeats: int, numbers: int = 1) -> float | None:
    """Return the smallest difference that 8 of 10 comparisons show, as a share of the higher side.

    None below four repeats.
    """
    if repeats < FEWEST_REPEATS:
        return None
    low, high = 0.0, 1.0
    while high - low > _LEAST_DIFFERENCE:
        middle = (low + high) / 2
        low, high = (low, middle) if power(1 - middle, scatter_ratio, repeats, numbers) >= POWER else (middle, high)
    return high


def repeats_needed(difference_ratio: float, scatter_ratio: float, numbers: int = 1) -> int | None:
    """Return the fewest repeats with which 8 of 10 comparisons show this difference; None if more than 1000."""
    few, enough = FEWEST_REPEATS - 1, MOST_REPEATS
    if power(1 - difference_ratio, scatter_ratio, enough, numbers) < POWER:
        return None
    while enough - few > 1:
        middle = (few + enough) // 2
        is_enough = power(1 - difference_ratio, scatter_ratio, middle, numbers) >= POWER
        few, enough = (few, middle) if is_enough else (middle, enough)
    return enough


@lru_cache(maxsize=1024)
def _bars(repeats: int, numbers: int) -> tuple[float, ...]:
    """Return equally likely half widths, in true standard errors of the difference.

    A single difference among several numbers has to be below its share of 4 %. Their scatters are drawn towards a
    common one. How alike they are has to be estimated as well, so this is worth less than all degrees of freedom.
    """
    degrees = 2 * (repeats - 1) * (1 + _SHARED_FACTOR * (numbers - 1) ** _SHARED_EXPONENT)
    critical = _t_quantile(1 - _FALSE_RATIO / (2 * numbers), degrees)
    return tuple(critical * _estimated_deviation(quantile, degrees) for quantile in _QUANTILES)


def _t_quantile(probability: float, degrees: float) -> float:
    """Return a quantile of Student's t (Fisher and Cornish 1960, Technometrics 2), within 0.1 % from 6 degrees on."""
    z = _NORMAL.inv_cdf(probability)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return sum(term / degrees**place for place, term in enumerate(terms))


def _estimated_deviation(quantile: float, degrees: float) -> float:
    """Return a quantile of estimated / true deviation (Wilson and Hilferty 1931); `quantile` is that of a normal."""
    part = 2 / (9 * degrees)
    return sqrt(1 - part + quantile * sqrt(part)) ** 3
