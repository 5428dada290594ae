"""Thinning of a long series that keeps its shape.

Plain Python: the API need not load numpy. A test compares it with tsdownsample.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean
from typing import Final

MIN_MAX_RATIO: Final = 4  # candidates per wanted point
FEWEST_POINTS: Final = 5  # ends, extremes, and one for the shape


def thinned(times: Sequence[float], values: Sequence[float], most: int) -> list[int]:
    """Return sorted indices of at most `most` (five or more) points, with ends and extremes."""
    if most < FEWEST_POINTS:
        raise ValueError(f"{most} points are too few to show a series; ask for {FEWEST_POINTS} at least")
    if len(values) <= most:
        return list(range(len(values)))
    extremes = {values.index(min(values)), values.index(max(values))}
    for spare in range(len(extremes) + 1):
        chosen = extremes.union(min_max_lttb(times, values, most - spare))
        if len(chosen) <= most:
            break
    return sorted(chosen)


def min_max_lttb(times: Sequence[float], values: Sequence[float], wanted: int) -> list[int]:
    """Return MinMaxLTTB indices: largest triangles among the extremes of equal spans.

    Van Der Donckt et al. 2023, IEEE VIS.

    Args:
        times: increasing; more than `wanted`, which is at least 3.
    """
    if len(values) <= MIN_MAX_RATIO * wanted:
        candidates = list(range(len(values)))
    else:
        candidates = [0, *_extremes(times, values, MIN_MAX_RATIO * wanted // 2), len(values) - 1]
    chosen = _triangles([times[index] for index in candidates], [values[index] for index in candidates], wanted)
    return [candidates[index] for index in chosen]


def _extremes(times: Sequence[float], values: Sequence[float], spans: int) -> list[int]:
    """Return the extremes of each equal span of time, without the ends."""
    first, last = 1, len(values) - 1
    width = (times[last - 1] - times[first]) / spans
    starts = [bisect_left(times, times[first] + number * width, first, last) for number in range(1, spans)]
    found: list[int] = []
    for start, end in pairwise((first, *starts, last)):
        if start < end:
            inside = range(start, end)
            found += sorted({min(inside, key=values.__getitem__), max(inside, key=values.__getitem__)})
    return found


def _triangles(times: Sequence[float], values: Sequence[float], wanted: int) -> list[int]:
    """Return indices of largest triangle, three buckets (Steinarsson 2013, University of Iceland).

    Each bucket's point has the largest triangle with the one chosen before and the next bucket's mean.
    """
    last = len(values) - 1
    if last < wanted:
        return list(range(last + 1))
    every = (last - 1) / (wanted - 2)
    bounds = [int(number * every) + 1 for number in range(wanted - 1)]
    chosen = [0]
    for (start, end), (_, next_end) in pairwise([*pairwise(bounds), (last, last + 1)]):
        next_time, next_value = fmean(times[end:next_end]), fmean(values[end:next_end])
        time, value = times[chosen[-1]], values[chosen[-1]]
        areas = [
            abs((time - next_time) * (values[index] - value) - (time - times[index]) * (next_value - value))
            for index in range(start, end)
        ]
        chosen.append(start + areas.index(max(areas)))
    return [*chosen, last]
