"""Whether the newest runs look as if a series had changed, long before that can be shown; nobody is told; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from iotide_server.statistics.outliers import bounds_around

FEWEST_RUNS: Final = 8
NEWEST_RUNS: Final = 3
OUTSIDE_RUNS: Final = 2
MADS: Final = 4
CONFIRMATION_RUNS: Final = 3  # so many runs are queued to see whether a suspect is a change


@dataclass(frozen=True, slots=True)
class SuspectRuns:
    """The newest runs and the bounds outside which two of them are, in the unit of the values."""

    centre: float
    low: float
    high: float
    is_higher: bool


def suspect(values: Sequence[float]) -> SuspectRuns | None:
    """Return two of the last three runs beyond median -+ max(4 MAD, 3 %) of those before them, on one side; else None.

    The values are of the segment since the last change; with fewer than eight nothing is suspected.
    """
    if len(values) < FEWEST_RUNS:
        return None
    earlier, newest = values[:-NEWEST_RUNS], values[-NEWEST_RUNS:]
    bounds = bounds_around(earlier, MADS)
    above, below = sum(value > bounds.high for value in newest), sum(value < bounds.low for value in newest)
    if max(above, below) < OUTSIDE_RUNS:
        return None
    return SuspectRuns(bounds.median, bounds.low, bounds.high, is_higher=above > below)
