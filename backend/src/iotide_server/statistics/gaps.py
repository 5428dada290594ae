"""The stretches in which a series has no data; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from itertools import pairwise
from typing import Final

from iotide_server.statistics.lateness import FEWEST_GAPS, USUAL_GAPS, usual_gap

MOST_DAYS: Final = 21  # with points: the usual gap is the median of the 20 gaps between them


@dataclass(frozen=True, slots=True)
class DataGap:
    """A stretch without data, from the last point before it to the first point after it; None: it lasts."""

    since: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True)
class FoundGaps:
    """The gaps of a span in time order, and how many more days with points allow to judge gaps."""

    gaps: Sequence[DataGap]
    missing_days: int


def missing_days(times: Sequence[datetime]) -> int:
    """Return how many more days with points allow to judge gaps."""
    return max(0, FEWEST_GAPS + 1 - len({moment.date() for moment in times}))


def find_gaps(times: Sequence[datetime], now: datetime) -> list[DataGap]:
    """Return the stretches between sorted times longer than twice the usual gap, in order, the one up to now included.

    The points of one day are one measurement: the night after an afternoon of many runs is no gap. With points on fewer
    than four days nothing is usual, and there is no answer.
    """
    last_of_day = [earlier for earlier, later in pairwise(times) if earlier.date() != later.date()] + list(times[-1:])
    first_of_day = [later for earlier, later in pairwise(times) if earlier.date() != later.date()]
    days = [datetime.combine(moment.date(), time(), moment.tzinfo) for moment in last_of_day]
    if len(days) <= FEWEST_GAPS:
        return []
    gaps: list[DataGap] = []
    ends: list[datetime | None] = [*first_of_day, None]
    for index, (since, until) in enumerate(zip(last_of_day, ends, strict=True)):
        # The first gaps are measured by the days after them, since there are too few days before.
        window = days[max(0, index + 1 - MOST_DAYS) : max(index + 1, MOST_DAYS)]
        if (until or now) - since > USUAL_GAPS * usual_gap(window):
            gaps.append(DataGap(since, until))
    return gaps
