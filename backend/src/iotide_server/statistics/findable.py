"""Smallest change of level that an analysis finds."""

from dataclasses import dataclass
from math import sqrt
from typing import Final

from iotide_server.statistics.course import LEAST_SHIFT

POINTS_AFTER: Final = (10, 40)
"""Points after a change for which pages say what can be found."""

_FEWEST_BEFORE: Final = 20
_SURE: Final = 5.8


@dataclass(frozen=True, slots=True)
class FindableShift:
    points_after: int
    shift_ratio: float


def findable_shifts(scatter_ratio: float | None, memory: float, points_before: int) -> list[FindableShift]:
    """Return the smallest shifts that `analyse` finds in four of five series, for each of POINTS_AFTER.

    Args:
        scatter_ratio: `noise.scatter_ratio` of the series; without one nothing is known.
        memory: lag-1 autocorrelation within segments.
        points_before: points since the last change.
    """
    if scatter_ratio is None or points_before < _FEWEST_BEFORE:
        return []
    return [
        FindableShift(points_after, max(LEAST_SHIFT, scatter_ratio * _sigmas(memory, points_before, points_after)))
        for points_after in POINTS_AFTER
    ]


def _sigmas(memory: float, before: int, after: int) -> float:
    """Return the smallest findable shift in units of the scatter; fitted to simulations."""
    return _SURE * (1 + memory / 2) * sqrt((1 / before + 1 / after) * (1 + memory) / (1 - memory))
