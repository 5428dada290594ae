"""Scatter from day to day, for comparisons of sides that were measured on different days.

Repeats of one day share what the day brings, such as other jobs, fullness and caches. So their scatter says nothing of
the next day; earlier days do (Kalibera and Jones 2013, "Rigorous benchmarking in reasonable time", ISMM).

Plain Python: the API compares without loading numpy and scipy.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import fsum, log
from statistics import fmean, median
from typing import Final

MOST_POINTS: Final = 20  # of a series; older ones are of another time
FEWEST_POINTS: Final = 6
FEWEST_DAYS: Final = 3  # on each side, to be the unit of a comparison
_APART: Final = timedelta(hours=12)


@dataclass(frozen=True, slots=True)
class DayScatter:
    """Variance of ln of a campaign's median from day to day."""

    variance: float
    freedom: float  # degrees
    point_count: int
    series_count: int = 1


@dataclass(frozen=True, slots=True)
class DayError:
    """Variance of ln B - ln A of two days."""

    variance: float
    freedom: float  # degrees
    point_count: int
    series_count: int


def scatter_of(medians: Sequence[float]) -> DayScatter | None:
    """Return the scatter of the last 20 days of a series, a median each, in time order; None below six."""
    return pooled_scatter([medians])


def pooled_scatter(series: Iterable[Sequence[float]], day_count: int | None = None) -> DayScatter | None:
    """Return the scatter within series, pooled; None if it is worth less than that of six days.

    Args:
        series: medians of days, in time order.
        day_count: days of all series together, which may share them; None: they do not.
    """
    logs = [[log(value) for value in medians[-MOST_POINTS:] if value > 0] for medians in series]
    several = [own for own in logs if len(own) > 1]
    point_count = sum(map(len, several))
    within = point_count - len(several)
    freedom = within if day_count is None else min(within, day_count - 1)
    if freedom < FEWEST_POINTS - 1:
        return None
    squares = fsum((value - mean) ** 2 for own in several for mean in [fmean(own)] for value in own)
    return DayScatter(squares / within, freedom, point_count, len(several))


def day_error(a: DayScatter, b: DayScatter) -> DayError:
    """Return the error of a difference of two days; equal scatters are one, known once (Satterthwaite 1946)."""
    variance = a.variance + b.variance
    if a == b:
        return DayError(variance, a.freedom, a.point_count, a.series_count)
    parts = a.variance**2 / a.freedom + b.variance**2 / b.freedom
    freedom = variance**2 / parts if parts else min(a.freedom, b.freedom)
    return DayError(variance, freedom, a.point_count + b.point_count, a.series_count + b.series_count)


def are_of_one_day(a: Sequence[datetime], b: Sequence[datetime]) -> bool:
    """Return true if the middle starts of both sides are at most 12 hours apart."""
    return abs(_middle(a) - _middle(b)) <= _APART


def _middle(starts: Sequence[datetime]) -> datetime:
    ranked = sorted(starts)
    low, high = ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2]
    return low + (high - low) / 2


def day_medians(starts: Sequence[datetime], values: Sequence[float]) -> list[float]:
    """Return the median of each day's values, in time order.

    A day ends 12 hours after its first start, so that a night is one day in every time zone.
    """
    days: list[tuple[datetime, list[float]]] = []
    for start, value in sorted(zip(starts, values, strict=True)):
        if not days or start - days[-1][0] > _APART:
            days.append((start, []))
        days[-1][1].append(value)
    return [median(own) for _, own in days]
