"""Variances of many numbers, each made steadier by the others.

Smyth 2004, Stat. Appl. Genet. Mol. Biol. 3(1): true variances scatter around a common one, s0^2, as if that were known
from d0 more degrees of freedom. Robust against a few numbers that scatter more than the rest: Phipson, Lee, Majewski,
Alexander and Smyth 2016, Ann. Appl. Stat. 10, as `squeezeVar(robust=TRUE)` of the R package limma.

Plain Python: the API compares without loading numpy and scipy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import ceil, exp, floor, log
from operator import mul
from statistics import fmean, median, variance
from typing import Final

from iotide_server.statistics.distributions import (
    digamma,
    f_density,
    f_quantile,
    f_tail,
    trigamma,
    trigamma_inverse,
)

_MOST_FREEDOM: Final = 10_000.0  # stands for infinitely many
_LOW_TAIL, _HIGH_TAIL = 0.05, 0.1  # shares whose logarithms are drawn in to the rest
_FEWEST: Final = 2
_FEWEST_ROBUST: Final = 3
_RARE: Final = 0.2
"""A variance begins to count as an outlier if fewer of its rank are expected so far out.

With limma's 1, four in ten boards without any outlier had one, which cost 1 % of the power of ten numbers."""
_NODES: Final = 64
_HALVINGS: Final = 12
_LEAST_SHARE: Final = 1 / 9  # d / (1 + d) of an eighth of a degree of freedom
_LEAST_RATIO: Final = 1e-12  # of the median variance


@dataclass(frozen=True, slots=True)
class Scatter:
    """A variance and what it is worth."""

    variance: float
    freedom: float  # degrees


@dataclass(frozen=True, slots=True)
class _Prior:
    variance: float
    freedom: float


def squeezed(own: Sequence[Scatter]) -> list[Scatter]:
    """Return the variances, above 0, drawn towards their common one; a single one stays as it is."""
    if len(own) < _FEWEST:
        return list(own)
    least = _LEAST_RATIO * median(one.variance for one in own)
    raised = [Scatter(max(one.variance, least), one.freedom) for one in own]
    prior = _prior(raised)
    freedoms = [prior.freedom] * len(raised)
    if len(raised) >= _FEWEST_ROBUST:
        prior, freedoms = _robust(raised, prior)
    most = sum(one.freedom for one in raised)
    return [_drawn(one, prior.variance, freedom, most) for one, freedom in zip(raised, freedoms, strict=True)]


def _drawn(own: Scatter, common: float, freedom: float, most: float) -> Scatter:
    together = own.freedom + freedom
    return Scatter((own.freedom * own.variance + freedom * common) / together, min(together, most))


def _prior(own: Sequence[Scatter]) -> _Prior:
    """Match the moments of log F."""
    logs = [log(one.variance) - digamma(one.freedom / 2) + log(one.freedom / 2) for one in own]
    excess = variance(logs) - fmean(trigamma(one.freedom / 2) for one in own)
    if excess <= trigamma(_MOST_FREEDOM / 2):
        return _Prior(_pooled(own), _MOST_FREEDOM)
    half = trigamma_inverse(excess)
    return _Prior(exp(fmean(logs) + digamma(half) - log(half)), 2 * half)


def _pooled(own: Sequence[Scatter]) -> float:
    return sum(one.freedom * one.variance for one in own) / sum(one.freedom for one in own)


def _robust(own: Sequence[Scatter], plain: _Prior) -> tuple[_Prior, list[float]]:
    """Return the common variance without the extremes, and its degrees of freedom for each number: few for outliers."""
    freedom = max(one.freedom for one in own)
    logs = [log(_of_freedom(one, freedom, plain)) for one in own]
    ranked = sorted(logs)
    kept = [min(max(one, _quantile(ranked, _LOW_TAIL)), _quantile(ranked, 1 - _HIGH_TAIL)) for one in logs]
    mean, spread = fmean(kept), variance(kept)
    prior_freedom = _matching(spread, freedom, plain.freedom)
    prior = _Prior(exp(mean - _moments(freedom, prior_freedom)[0]), prior_freedom)
    return prior, _freedoms([exp(one) / prior.variance for one in logs], freedom, prior_freedom, plain.freedom)


def _of_freedom(own: Scatter, freedom: float, prior: _Prior) -> float:
    """Return the variance that is as far out at `freedom` as this one is at its own."""
    if own.freedom == freedom:
        return own.variance
    tail = f_tail(own.variance / prior.variance, own.freedom, prior.freedom)
    return prior.variance * f_quantile(min(max(tail, 1e-12), 1 - 1e-12), freedom, prior.freedom)


def _matching(spread: float, freedom: float, least: float) -> float:
    """Return the prior degrees of freedom with this variance of the logarithms."""

    def is_wider(other: float) -> bool:
        return spread > _moments(freedom, other)[1]

    if not is_wider(_MOST_FREEDOM):
        return _MOST_FREEDOM
    # By bisection of d / (1 + d) on a fixed grid, so that moments are found in the cache.
    low, high = _LEAST_SHARE, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_wider(middle / (1 - middle)) else (middle, high)
    return max(least, low / (1 - low))


@lru_cache(maxsize=4096)
def _moments(freedom: float, other: float) -> tuple[float, float]:
    """Return mean and variance of log F whose tails are drawn in, by Simpson's rule."""
    first, last = (log(f_quantile(tail, freedom, other)) for tail in (1 - _LOW_TAIL, _HIGH_TAIL))
    step = (last - first) / _NODES
    logs = [first + number * step for number in range(_NODES + 1)]
    weights = [step / 3 * (1 if number in {0, _NODES} else 2 + 2 * (number % 2)) for number in range(_NODES + 1)]
    shares = [
        weight * exp(one) * f_density(exp(one), freedom, other) for weight, one in zip(weights, logs, strict=True)
    ]
    logs, shares = [*logs, first, last], [*shares, _LOW_TAIL, _HIGH_TAIL]
    mean = sum(map(mul, shares, logs)) / sum(shares)
    return mean, sum(share * (one - mean) ** 2 for share, one in zip(shares, logs, strict=True)) / sum(shares)


def _freedoms(ratios: Sequence[float], freedom: float, prior: float, plain: float) -> list[float]:
    """Return each number's prior degrees of freedom.

    The further its variance / the common one is out for its rank, the nearer are they to what makes the largest one
    the median of its distribution.
    """
    count = len(ratios)
    order = sorted(range(count), key=ratios.__getitem__, reverse=True)
    tails = [max(f_tail(ratios[place], freedom, prior), 1e-300) for place in order]
    usual = [min(1.0, tail * count / (number + 0.5) / _RARE) for number, tail in enumerate(tails)]
    if min(usual) >= 1:
        return [prior] * count
    of_outlier = 0.0
    if prior < _MOST_FREEDOM:
        of_outlier = prior * log(0.5) / log(tails[0])
        of_outlier *= log(0.5) / log(max(f_tail(ratios[order[0]], freedom, of_outlier), 1e-300))
    found = [share * min(prior, count * freedom) + (1 - share) * of_outlier for share in usual]
    found[0] = min(found[0], plain)
    means = [total / number for number, total in enumerate(accumulate(found), start=1)]
    lowest = min(range(count), key=means.__getitem__)
    found[: lowest + 1] = [means[lowest]] * (lowest + 1)
    rising = list(accumulate(found, max))
    return [value for _, value in sorted(zip(order, rising, strict=True))]


def _quantile(ranked: Sequence[float], share: float) -> float:
    place = share * (len(ranked) - 1)
    low, high = ranked[floor(place)], ranked[ceil(place)]
    return low + (high - low) * (place - floor(place))
