"""Cliffs of a surface: throughput falls along a size and stays low, for example beyond a cache.

A sweep falls if no larger size recovers from 30 % below its highest level, shown by four runs per size with disjoint
ranges, or 40 % with fewer runs. A surface has a cliff where at least two sweeps, and half of all, fall between the
same sizes, or where the runs of one sweep show it. Sources: IOzone's documentation on cache sizes; Wesleyan's IOzone
report ("nose-dives").
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from iotide_server.statistics.summary import Ranged, Ratio, ratio

FEWEST_SIZES: Final = 3
LEAST_FALL: Final = 0.3  # of the highest level
LEAST_FALL_OF_FEW: Final = 0.4  # with few runs
FEWEST_ALIKE: Final = 2
LEAST_SHARE_ALIKE: Final = 0.5
_FULL_RATIO: Final = 1.5
"""Other data uses part of a cache, so falls appear at sizes from two thirds of it on, up to the first one beyond it."""


@dataclass(frozen=True, slots=True)
class Cliff:
    top: int
    last: int
    first: int
    bottom: int
    fall: Ratio  # bottom / top

    @property
    def is_shown(self) -> bool:
        return self.fall.high is not None


@dataclass(frozen=True, slots=True)
class SurfaceCliff:
    # last, first: indices before and after the fall
    last: int
    first: int
    sweeps: tuple[int, ...]  # number of sweeps that fall there
    of: int  # number of sweeps measured on both sides
    fall: Ratio  # median of the sweeps, with their total range if all show the fall


def find_cliff(sweep: Sequence[Ranged]) -> Cliff | None:
    top = max(range(len(sweep)), key=lambda place: sweep[place].median)
    first = len(sweep)
    while first > top + 1 and _is_below(sweep[top], sweep[first - 1]):
        first -= 1
    if first == len(sweep):
        return None
    bottom = max(range(first, len(sweep)), key=lambda place: sweep[place].median)
    fall = ratio(sweep[top], sweep[bottom])
    if fall.high is not None and fall.high >= 1:
        return None
    return Cliff(top, first - 1, first, bottom, fall)


def surface_cliffs(sweeps: Sequence[Sequence[Ranged | None]]) -> list[SurfaceCliff]:
    """Return the falls along one axis, those of most sweeps first; None: not measured."""
    found: defaultdict[tuple[int, int], dict[int, Cliff]] = defaultdict(dict)
    for number, sweep in enumerate(sweeps):
        for last, first, cliff in _placed(sweep):
            found[last, first][number] = cliff
    kept_cliffs = []
    for (last, first), cliffs in found.items():
        of = sum(_has_both(sweep, last, first) for sweep in sweeps)
        is_common = len(cliffs) >= FEWEST_ALIKE and len(cliffs) >= LEAST_SHARE_ALIKE * of
        kept = {number: cliff for number, cliff in cliffs.items() if is_common or cliff.is_shown}
        if kept:
            kept_cliffs.append(
                SurfaceCliff(last, first, tuple(kept), of, _together([one.fall for one in kept.values()]))
            )
    return sorted(kept_cliffs, key=lambda one: (-len(one.sweeps), one.last))


def suits(cache_bytes: int, last_bytes: int, first_bytes: int) -> bool:
    """Check that such a cache may cause a fall between these sizes."""
    return last_bytes <= cache_bytes <= first_bytes * _FULL_RATIO


def _is_below(peak: Ranged, later: Ranged) -> bool:
    fall = ratio(peak, later)
    return fall.median <= 1 - (LEAST_FALL_OF_FEW if fall.high is None else LEAST_FALL)


def _placed(sweep: Sequence[Ranged | None]) -> Iterator[tuple[int, int, Cliff]]:
    measured = [(place, level) for place, level in enumerate(sweep) if level is not None and level.median > 0]
    if len(measured) >= FEWEST_SIZES:
        cliff = find_cliff([level for _, level in measured])
        if cliff is not None:
            yield measured[cliff.last][0], measured[cliff.first][0], cliff


def _has_both(sweep: Sequence[Ranged | None], last: int, first: int) -> bool:
    measured = sum(level is not None for level in sweep)
    return sweep[last] is not None and sweep[first] is not None and measured >= FEWEST_SIZES


def _together(falls: Sequence[Ratio]) -> Ratio:
    lows = [fall.low for fall in falls if fall.low is not None]
    highs = [fall.high for fall in falls if fall.high is not None]
    is_shown = len(highs) == len(falls)
    return Ratio(
        median(fall.median for fall in falls), min(lows) if is_shown else None, max(highs) if is_shown else None
    )
