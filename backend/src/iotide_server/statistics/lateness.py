"""When a series has no data: the stretches without any, and a schedule that fires on while no point comes; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from itertools import pairwise
from statistics import median
from typing import Final

MISSED_FIRINGS: Final = 2  # one firing may fail for reasons of its own, which its campaign tells
TOLERANCE: Final = timedelta(hours=1)
"""What the last of them has to give its point; a later one may be waiting for its node."""
USUAL_GAPS: Final = 2
FEWEST_GAPS: Final = 3  # from fewer of them nothing is usual
MOST_DAYS: Final = 21  # with points: the usual gap is the median of the 20 gaps between them


@dataclass(frozen=True, slots=True)
class Lateness:
    """How a scheduled series stands."""

    last_at: datetime  # its newest point
    missed_firings: int  # that came since the one which gave a point last, each longer ago than the tolerance
    # it is late from then on unless a point comes before; None: too few firings are known to tell when
    late_at: datetime | None
    is_late: bool  # whether that is now or was before


def lateness(
    times: Sequence[datetime], firings: Sequence[datetime], now: datetime, tolerance: timedelta = TOLERANCE
) -> Lateness:
    """Late is a series without a point of two firings, silent for longer than twice its usual gap, and the tolerance.

    late_at = max(second firing, newest point + 2 x median gap) + tolerance. The median does not mind a few gaps that a
    failed firing or an outage made long; and a series that gets a point of each third firing only, since its node is
    seldom quiet, is not late at each of the other two. Where the next firing alone is known and never came, since
    nothing fires it, that one counts instead of the second, if the series has a usual gap.

    Args:
        times: of its newest points, in order, at least one.
        firings: since the one that gave a point last, in order: those that were, and the next one if it is known.
    """
    missed = sum(firing + tolerance <= now for firing in firings)
    gap = usual_gap(times)
    if not firings or (len(firings) < MISSED_FIRINGS and not gap):
        return Lateness(times[-1], missed, None, is_late=False)
    silent_at = times[-1] + USUAL_GAPS * gap
    late_at = max(firings[:MISSED_FIRINGS][-1], silent_at) + tolerance
    return Lateness(times[-1], missed, late_at, is_late=late_at <= now)


def usual_gap(times: Sequence[datetime]) -> timedelta:
    """The median time from one point to the next; none where there are fewer than three gaps."""
    gaps_seconds = [(after - before).total_seconds() for before, after in pairwise(times)]
    return timedelta(seconds=median(gaps_seconds) if len(gaps_seconds) >= FEWEST_GAPS else 0)


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
