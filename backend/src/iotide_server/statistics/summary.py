"""Summary of a cell's runs, and ratios of cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from statistics import fmean, median, stdev
from typing import Protocol

from iotide_wire.units import format_number

FEW_RUNS = 2
ENOUGH_RUNS = 4  # fewest runs with an exact interval (Mann-Whitney)
MAD_TO_SIGMA = 1.4826  # 1 / the normal distribution's 0.75 quantile


class Tier(StrEnum):
    """Presentation that the number of runs allows.

    One run: its value and a badge. Few: every point, median and range. Enough: also spread and intervals.
    """

    ONE_RUN = "one_run"
    FEW_RUNS = "few_runs"
    ENOUGH_RUNS = "enough_runs"


class Variation(StrEnum):
    """By coefficient of variation: up to 5, 10 or 25 %, or more."""

    STEADY = "steady"
    FLAGGED = "flagged"
    NOISY = "noisy"
    UNRANKABLE = "unrankable"


_LIMITS = ((0.05, Variation.STEADY), (0.10, Variation.FLAGGED), (0.25, Variation.NOISY))
VARIATION_LIMIT = _LIMITS[0][0]  # cells above it are flagged


@dataclass(frozen=True, slots=True)
class Summary:
    run_count: int
    # in the unit of the values; low and high are extremes
    median: float
    low: float
    high: float
    variation_ratio: float | None  # sample standard deviation / mean; None below four runs or if the mean is 0
    # 1.4826 x median absolute deviation / median (Rousseeuw and Croux 1993); None below four runs or if the median is
    # 0
    robust_spread_ratio: float | None


def tier(run_count: int) -> Tier:
    if run_count < 1:
        raise ValueError(f"run_count must be at least 1, not {run_count}")
    if run_count < FEW_RUNS:
        return Tier.ONE_RUN
    return Tier.FEW_RUNS if run_count < ENOUGH_RUNS else Tier.ENOUGH_RUNS


def variation(variation_ratio: float) -> Variation:
    return next((grade for limit, grade in _LIMITS if variation_ratio <= limit), Variation.UNRANKABLE)


def summarize(values: Sequence[float]) -> Summary:
    if not values or not all(map(isfinite, values)):
        raise ValueError(f"a summary needs finite values, not {list(values)!r}")
    centre = median(values)
    enough = len(values) >= ENOUGH_RUNS
    mean = fmean(values)
    return Summary(
        run_count=len(values),
        median=centre,
        low=min(values),
        high=max(values),
        variation_ratio=stdev(values) / abs(mean) if enough and mean else None,
        robust_spread_ratio=robust_sigma(values, centre) / abs(centre) if enough and centre else None,
    )


def robust_sigma(values: Sequence[float], centre: float) -> float:
    """Return 1.4826 x the median absolute deviation: a sigma robust against one outlier."""
    return MAD_TO_SIGMA * median(abs(value - centre) for value in values)


class Ranged(Protocol):
    @property
    def n(self) -> int:
        """Return the number of runs."""

    @property
    def median(self) -> float:
        """Return the median."""

    @property
    def low(self) -> float:
        """Return the smallest run."""

    @property
    def high(self) -> float:
        """Return the largest run."""


@dataclass(frozen=True, slots=True)
class Ratio:
    median: float
    # low, high: extreme ratios between runs of both sides, at least as wide as the exact 95 % Hodges-Lehmann
    # interval; None below four runs per side
    low: float | None
    high: float | None

    @property
    def words(self) -> str:
        """Return e.g. `4.21 (3.92 to 4.6)`."""
        if self.low is None or self.high is None:
            return format_number(self.median)
        return f"{format_number(self.median)} ({format_number(self.low)} to {format_number(self.high)})"


def ratio(a: Ranged, b: Ranged) -> Ratio:
    """Return B / A, with a range if both have four runs and A's are above 0."""
    if min(a.n, b.n) < ENOUGH_RUNS or a.low <= 0:
        return Ratio(b.median / a.median, None, None)
    return Ratio(b.median / a.median, b.low / a.high, b.high / a.low)
