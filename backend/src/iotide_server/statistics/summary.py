"""What the runs of one cell say together, how much of it may honestly be shown, and one cell in terms of another."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from statistics import fmean, median, stdev
from typing import Protocol

from iotide_wire.units import format_number

FEW_RUNS = 2
ENOUGH_RUNS = 4  # from here on a spread means something: four runs are the fewest with an exact interval (Mann-Whitney)
MAD_TO_SIGMA = 1.4826  # 1 / the normal distribution's 0.75 quantile, so that it estimates a standard deviation


class Tier(StrEnum):
    """What a number of independent runs allows to be shown.

    One run: its value and a badge. Few: every point, median and range. Enough: spread and intervals as well.
    """

    ONE_RUN = "one_run"
    FEW_RUNS = "few_runs"
    ENOUGH_RUNS = "enough_runs"


class Variation(StrEnum):
    """How far runs of one cell scatter, by their coefficient of variation: up to 5, 10 or 25 %, or more."""

    STEADY = "steady"
    FLAGGED = "flagged"
    NOISY = "noisy"
    UNRANKABLE = "unrankable"


_LIMITS = ((0.05, Variation.STEADY), (0.10, Variation.FLAGGED), (0.25, Variation.NOISY))
VARIATION_LIMIT = _LIMITS[0][0]  # coefficient of variation above which a cell is flagged


@dataclass(frozen=True, slots=True)
class Summary:
    """Independent runs of one cell."""

    run_count: int
    # median, low, high: in the unit of the values; low and high are the smallest and the largest value
    median: float
    low: float
    high: float
    variation_ratio: float | None  # sample standard deviation over mean; None below four runs or where the mean is 0
    # 1.4826 x median absolute deviation over median, which one outlier cannot move (Rousseeuw and Croux 1993); None
    # below four runs or where the median is 0
    robust_spread_ratio: float | None


def tier(run_count: int) -> Tier:
    """What may be shown of `run_count` runs (1 or more)."""
    if run_count < 1:
        raise ValueError(f"{run_count} runs say nothing")
    if run_count < FEW_RUNS:
        return Tier.ONE_RUN
    return Tier.FEW_RUNS if run_count < ENOUGH_RUNS else Tier.ENOUGH_RUNS


def variation(variation_ratio: float) -> Variation:
    """The grade of a coefficient of variation."""
    return next((grade for limit, grade in _LIMITS if variation_ratio <= limit), Variation.UNRANKABLE)


def summarize(values: Sequence[float]) -> Summary:
    """Return median, range and spread of one finite value per run; ValueError where there is none."""
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
    """1.4826 x the median absolute deviation from the centre: a standard deviation that one outlier cannot move."""
    return MAD_TO_SIGMA * median(abs(value - centre) for value in values)


class Ranged(Protocol):
    """What so many independent runs say."""

    @property
    def n(self) -> int:
        """Independent runs."""

    @property
    def median(self) -> float:
        """In the unit of the values, as low and high."""

    @property
    def low(self) -> float:
        """The smallest run."""

    @property
    def high(self) -> float:
        """The largest run."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """One set of runs in terms of another."""

    median: float  # of the medians
    # low, high: the smallest and the largest ratio that runs of both sides have, which hold the exact 95 % interval of
    # Hodges and Lehmann and from four runs a side on are never narrower; None below
    low: float | None
    high: float | None

    @property
    def words(self) -> str:
        """Such as `4.21 (3.92 to 4.6)`."""
        if self.low is None or self.high is None:
            return format_number(self.median)
        return f"{format_number(self.median)} ({format_number(self.low)} to {format_number(self.high)})"


def ratio(a: Ranged, b: Ranged) -> Ratio:
    """B / A; with intervals where both have four runs and none of A is 0."""
    if min(a.n, b.n) < ENOUGH_RUNS or a.low <= 0:
        return Ratio(b.median / a.median, None, None)
    return Ratio(b.median / a.median, b.low / a.high, b.high / a.low)
