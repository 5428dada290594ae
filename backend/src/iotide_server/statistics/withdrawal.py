"""Withdrawal of reported changes, by a weaker test than their discovery."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Final

import numpy as np
import scipy  # first use costs 0.5 s of CPU and 60 MB

from iotide_server.statistics.course import SEGMENT_RUNS, LevelChange
from iotide_server.statistics.ranks import Values, memory, p_value
from iotide_server.statistics.shifts import Shift

MOST_P: Final = 0.05


@dataclass(frozen=True, slots=True)
class Reported:
    index: int
    is_up: bool


@dataclass(frozen=True, slots=True)
class Reviewed:
    # between its neighbouring changes; None: withdrawn
    change: LevelChange | None
    # of a shift that ended: index of the first run after it
    over_index: int | None = None


_WITHDRAWN: Final = Reviewed(None)


def review(values: Sequence[float], found: Sequence[int], reported: Sequence[Reported]) -> list[Reviewed]:
    """Decide which reported changes stay, although the newest analysis finds only `found`.

    A reported change is tested at its own place, between its neighbouring changes as they are now. It is withdrawn if
    p > 0.05, if the level moves the other way, or if a side has less than five runs. It is over if the level returned
    between it and the next change. The weakest is settled first; a withdrawn one joins the segments of the others.

    Only its own two segments decide, also where a drift is found. On 48 series of a year (NERSC and ALCF, Lockwood et
    al. 2018, SC18) 4 of 119 reported changes are withdrawn; after removing the drift and with the memory of all
    segments, 30 were, among them drops by half.

    Args:
        values: finite, one per run, in time order.
    """
    series = np.asarray(values, dtype=np.float64)
    open_numbers = _apart(found, reported)
    ends = set(found)
    settled: dict[int, Reviewed] = {}
    while True:
        places = sorted({*ends, *(reported[number].index for number in open_numbers)})
        judged = {number: _judged(series, places, reported[number]) for number in open_numbers}
        loose = [number for number, one in judged.items() if one.change is None or one.over_index is not None]
        if not loose:
            settled |= judged
            return [settled.get(number, _WITHDRAWN) for number in range(len(reported))]
        weakest = max(loose, key=lambda number: _weakness(judged[number]))
        settled[weakest] = judged[weakest]
        open_numbers.remove(weakest)
        over_index = judged[weakest].over_index
        if over_index is not None:
            ends |= {reported[weakest].index, over_index}


def _apart(found: Sequence[int], reported: Sequence[Reported]) -> list[int]:
    """Return the numbers of reported changes at places that no other change has."""
    taken = set(found)
    numbers: list[int] = []
    for number, one in enumerate(reported):
        if one.index not in taken:
            numbers.append(number)
            taken.add(one.index)
    return numbers


def _weakness(one: Reviewed) -> float:
    return inf if one.change is None else one.change.p_value


def _judged(series: Values, places: Sequence[int], one: Reported) -> Reviewed:
    ends = [0, *places, len(series)]
    number = ends.index(one.index, 1)
    before, after = series[ends[number - 1] : one.index], series[one.index : ends[number + 1]]
    if min(len(before), len(after)) < SEGMENT_RUNS:
        return _WITHDRAWN
    end = _end(one, before, after)
    if end is not None:
        return Reviewed(_change(one.index, before, series[one.index : end]), end)
    change = _change(one.index, before, after)
    stays = change.p_value <= MOST_P and (change.median_after > change.median_before) == one.is_up
    return Reviewed(change) if stays else _WITHDRAWN


def _end(one: Reported, before: Values, after: Values) -> int | None:
    """Return the index of the first run after the shift, if the level returned."""
    if len(after) < 2 * SEGMENT_RUNS:
        return None
    lasted, rest = np.split(after, [_split(after)])
    recalled = memory([before, lasted, rest])
    levels = [float(np.median(part)) for part in (before, lasted, rest)]
    shift, back = (Shift(*pair) for pair in pairwise(levels))
    is_back = shift.is_taken_back_by(back) or (back.is_up != shift.is_up and p_value(before, rest, recalled) > MOST_P)
    is_sure = max(p_value(before, lasted, recalled), p_value(lasted, rest, recalled)) <= MOST_P
    return one.index + len(lasted) if is_back and is_sure and shift.is_up == one.is_up else None


def _split(part: Values) -> int:
    """Return the number of runs before the split into two levels; both sides have five runs or more.

    The largest Mann-Whitney statistic gives the levels, and the smallest distance from them the place.
    """
    runs = len(part)
    before = np.arange(SEGMENT_RUNS, runs - SEGMENT_RUNS + 1)
    excess = np.cumsum(scipy.stats.rankdata(part))[before - 1] - before * (runs + 1) / 2
    first = SEGMENT_RUNS + int(np.argmax(np.abs(excess) / np.sqrt(before * (runs - before))))
    nearer = np.abs(part - np.median(part[:first])) - np.abs(part - np.median(part[first:]))
    return SEGMENT_RUNS + int(np.argmin(np.cumsum(nearer)[before - 1]))


def _change(index: int, before: Values, after: Values) -> LevelChange:
    shift = Shift(float(np.median(before)), float(np.median(after)))
    ratio = inf if shift.ratio is None else shift.ratio
    p = p_value(before, after, memory([before, after]))
    return LevelChange(index, len(before), len(after), shift.before, shift.after, ratio, p)
