"""Gaps in series, and late series."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Final

import numpy as np

MISSED_FIRINGS: Final = 2  # one firing may fail for its own reasons
TOLERANCE: Final = timedelta(hours=1)
"""Time for the last of them to add its point."""
USUAL_GAPS: Final = 2
FEWEST_GAPS: Final = 3
MOST_DAYS: Final = 21  # with points: 20 gaps


@dataclass(frozen=True, slots=True)
class Lateness:
    last_at: datetime
    missed_firings: int  # since the last point, older than the tolerance
    # unless a point comes first; None: too few known firings
    late_at: datetime | None
    is_late: bool


def lateness(
    times: Sequence[datetime], firings: Sequence[datetime], now: datetime, tolerance: timedelta = TOLERANCE
) -> Lateness:
    """Return whether and when a scheduled series is late.

    late_at = max(second firing, newest point + 2 x median gap) + tolerance. The median gap covers series that get a
    point only from every third firing. If only one firing is known and the series has a usual gap, it replaces the
    second one.

    Args:
        times: of the newest points, in order, at least one.
        firings: since the one of the last point, in order, including the next one if known.
    """
    missed = sum(firing + tolerance <= now for firing in firings)
    gap = usual_gap(times)
    if not firings or (len(firings) < MISSED_FIRINGS and not gap):
        return Lateness(times[-1], missed, None, is_late=False)
    silent_at = times[-1] + USUAL_GAPS * gap
    late_at = max(firings[:MISSED_FIRINGS][-1], silent_at) + tolerance
    return Lateness(times[-1], missed, late_at, is_late=late_at <= now)


def usual_gap(times: Sequence[datetime]) -> timedelta:
    """Return 0 below three gaps."""
    gaps_seconds = [(after - before).total_seconds() for before, after in pairwise(times)]
    return timedelta(seconds=median(gaps_seconds) if len(gaps_seconds) >= FEWEST_GAPS else 0)


@dataclass(frozen=True, slots=True)
class DataGap:
    """From the last point before it to the first point after it; None: until now."""

    since: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True)
class FoundGaps:
    """Gaps of a span, and the days with points needed to detect them."""

    gaps: Sequence[DataGap]
    missing_days: int


def missing_days(times: Sequence[datetime]) -> int:
    return max(0, FEWEST_GAPS + 1 - len({moment.date() for moment in times}))


def find_gaps(times: Sequence[datetime], now: datetime) -> list[DataGap]:
    """Return gaps of more than twice the usual one, in order, including one up to now.

    Points of one day count once. Below four days with points there is no usual gap.
    """
    days = [moment.date().toordinal() for moment in times]
    firsts = [place for place in range(1, len(days)) if days[place] != days[place - 1]]
    if len(firsts) < FEWEST_GAPS:
        return []
    last_of_day = [*(times[place - 1] for place in firsts), times[-1]]
    gaps_days = np.diff([days[0], *(days[place] for place in firsts)])
    width = min(MOST_DAYS - 1, len(gaps_days))
    usual_days = np.median(np.lib.stride_tricks.sliding_window_view(gaps_days, width), axis=1).tolist()
    gaps: list[DataGap] = []
    ends: list[datetime | None] = [*(times[place] for place in firsts), None]
    for index, (since, until) in enumerate(zip(last_of_day, ends, strict=True)):
        if (until or now) - since > USUAL_GAPS * timedelta(days=usual_days[max(0, index - width)]):
            gaps.append(DataGap(since, until))
    return gaps
