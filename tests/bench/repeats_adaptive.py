"""Adaptive repeats: coverage of the last interval, and runs until it is narrow, in simulated configurations."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from statistics import NormalDist, fmean
from typing import Final

import numpy as np

from iotide_server.statistics.adaptive import LOOKS, median_interval

CELLS: Final = 8_000
MOST: Final = LOOKS[-1]
WANTED_RATIO: Final = 0.03
"""Half width at which a configuration stops."""
OUTLIER_SHARE: Final = 0.05
OUTLIER_RATIO: Final = 0.6
SCATTERS: Final = (0.2, 0.5, 0.8, 1.0, 1.3, 1.6, 2.0, 2.5, 3.0, 4.0)
"""Coefficient of variation / wanted half width."""
_SLOW: Final = np.log(OUTLIER_RATIO)


@dataclass(frozen=True, slots=True)
class Stopped:
    """Share of configurations whose last interval covers the true median, and whose interval got narrow."""

    coverage: float
    mean_runs: float
    reached: float


def simulate(random: np.random.Generator, scatter: float, *, outliers: bool, cells: int = CELLS) -> Stopped:
    """Run `cells` configurations with this scatter to their last look."""
    sigma = scatter * WANTED_RATIO
    logs = random.normal(0.0, sigma, (cells, MOST))
    if outliers:
        logs[random.random((cells, MOST)) < OUTLIER_SHARE] += _SLOW
    true = _median(sigma) if outliers else 1.0
    ends = [_last_look(runs) for runs in np.exp(logs).tolist()]
    return Stopped(
        coverage=fmean(low <= true <= high for _, low, high, _ in ends),
        mean_runs=fmean(count for count, *_ in ends),
        reached=fmean(is_narrow for *_, is_narrow in ends),
    )


def _last_look(runs: Sequence[float]) -> tuple[int, float, float, bool]:
    """Return the number of runs, the interval, and whether it is as narrow as wanted."""
    intervals = [(look, interval) for look in LOOKS if (interval := median_interval(runs[:look])) is not None]
    narrow = (found for found in intervals if found[1].half_width_ratio <= WANTED_RATIO)
    look, interval = next(narrow, intervals[-1])
    return look, interval.low, interval.high, interval.half_width_ratio <= WANTED_RATIO


def _median(sigma: float) -> float:
    """Return the median with outliers, by bisection of the distribution of the logarithms."""
    steady, slow = NormalDist(0.0, sigma), NormalDist(_SLOW, sigma)
    low, high = -10 * sigma, 0.0
    for _ in range(60):
        middle = (low + high) / 2
        below = (1 - OUTLIER_SHARE) * steady.cdf(middle) + OUTLIER_SHARE * slow.cdf(middle)
        low, high = (middle, high) if below < 0.5 else (low, middle)
    return exp(low)


def adaptive_figures(random: np.random.Generator, cells: int = CELLS) -> tuple[float, float]:
    """Print a line per scatter. Return the lowest coverage, and the mean number of runs where CV = wanted width."""
    coverage_low, mean_runs_cv1 = 1.0, 0.0
    print("CV / X   runs   reached  coverage  with outliers")
    for scatter in SCATTERS:
        plain = simulate(random, scatter, outliers=False, cells=cells)
        slowed = simulate(random, scatter, outliers=True, cells=cells)
        coverage_low = min(coverage_low, plain.coverage, slowed.coverage)
        if scatter == 1.0:
            mean_runs_cv1 = plain.mean_runs
        figures = f"{plain.mean_runs:5.1f}  {plain.reached:7.2f}  {plain.coverage:8.3f}  {slowed.coverage:8.3f}"
        print(f"{scatter:6.1f}  {figures}")
    return coverage_low, mean_runs_cv1
