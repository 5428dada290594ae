"""Where throughput falls along a size and stays low, as it does behind a cache ("nose-dives"); pure.

One sweep falls behind its highest level where no larger size comes back: by 30 % where four runs a size show it, their
whole ranges apart, else by 40 %. A single sweep of few runs may fall by chance, at one outlier: so a surface has a
cliff where at least half of the sweeps across it, and two at least, fall between the same two sizes, or where the runs
of a sweep show it. Source: the documentation of IOzone on cache sizes; the report of Wesleyan on IOzone, where
throughput "nose-dives" once files outgrow the memory.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from iotide_server.statistics.summary import Ranged, Ratio, ratio

FEWEST_SIZES: Final = 3
LEAST_FALL: Final = 0.3  # of the highest level, where the runs show it
LEAST_FALL_OF_FEW: Final = 0.4  # where there are too few runs to show anything
FEWEST_ALIKE: Final = 2
LEAST_SHARE_ALIKE: Final = 0.5
_FULL_RATIO: Final = 1.5
"""A cache holds what fits into it, and of what is larger soon nothing: so a fall that it causes is seen at sizes from
two thirds of it on, which others use the rest of, and behind it at the latest."""


@dataclass(frozen=True, slots=True)
class Cliff:
    """A fall in a sweep, by places in it."""

    top: int  # where the highest level is
    last: int  # the last place before the fall
    first: int  # the first one behind it
    bottom: int  # the highest level behind it
    fall: Ratio  # that in terms of the top

    @property
    def is_shown(self) -> bool:
        """Whether there are runs enough to say that it is no scatter."""
        return self.fall.high is not None


@dataclass(frozen=True, slots=True)
class SurfaceCliff:
    """A fall across a surface."""

    # last, first: the places on the axis of the fall, before and behind it
    last: int
    first: int
    sweeps: tuple[int, ...]  # those that fall there
    of: int  # how many were measured on both sides
    fall: Ratio  # the median of theirs; its range is that of all of them, where the runs of each show it


def find_cliff(sweep: Sequence[Ranged]) -> Cliff | None:
    """The fall behind the highest level, from which no larger size comes back."""
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
    """Return the falls along one axis, those with most sweeps first; sweeps have the same places, None: unmeasured."""
    found: defaultdict[tuple[int, int], dict[int, Cliff]] = defaultdict(dict)
    for number, sweep in enumerate(sweeps):
        for last, first, cliff in _placed(sweep):
            found[last, first][number] = cliff
    told = []
    for (last, first), cliffs in found.items():
        of = sum(_has_both(sweep, last, first) for sweep in sweeps)
        is_common = len(cliffs) >= FEWEST_ALIKE and len(cliffs) >= LEAST_SHARE_ALIKE * of
        kept = {number: cliff for number, cliff in cliffs.items() if is_common or cliff.is_shown}
        if kept:
            told.append(SurfaceCliff(last, first, tuple(kept), of, _together([one.fall for one in kept.values()])))
    return sorted(told, key=lambda one: (-len(one.sweeps), one.last))


def suits(cache_bytes: int, last_bytes: int, first_bytes: int) -> bool:
    """Whether a cache of that size may be why throughput falls between these two sizes."""
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
