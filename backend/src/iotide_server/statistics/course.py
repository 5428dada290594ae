"""How a series of runs went: its changes of level, each guarded by a test, or a drift, or nothing; pure.

What finds it is `changepoints`, which needs numpy and scipy; who only tells of it does not.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

SEGMENT_RUNS: Final = 5
LEAST_SHIFT: Final = 0.03  # of the median before; a smaller one is not acted upon
MOST_P: Final = 0.001
SAME_RUNS: Final = 6  # a change that another analysis finds so far away is the same
CONFIRMING_RUNS: Final = 2  # so many runs after it was found must a change still be found, to be told
FEWEST_NOISE_RUNS: Final = 15  # on both sides: a spread needs three times the runs that a level does
FEWEST_BEFORE: Final = 6  # runs before an event; fewer do not judge it
LOOKS_AFTER: Final = (4, 8)  # an event is judged after so many runs, and once more


class Course(StrEnum):
    """How a series went."""

    TOO_SHORT = "too_short"
    STEADY = "steady"
    CHANGED = "changed"
    DRIFT = "drift"


class Effect(StrEnum):
    """What is known of what an event did."""

    TOO_FEW_BEFORE = "too_few_before"
    PENDING = "pending"
    NONE_SHOWN = "none_shown"
    SHIFTED = "shifted"


@dataclass(frozen=True, slots=True)
class LevelChange:
    """A change of level."""

    index: int  # of the first run after it
    # runs_before, runs_after: of the segments on both sides, up to the next change or the end
    runs_before: int
    runs_after: int
    # median_before, median_after: of these segments, in the unit of the values
    median_before: float
    median_after: float
    shift_ratio: float  # (after - before) / |before|; inf where the median before is 0
    p_value: float  # of the two segments being alike, by `ranks.p_value`

    @property
    def is_guarded(self) -> bool:
        """Whether it is long, large and sure enough to be told."""
        is_long = min(self.runs_before, self.runs_after) >= SEGMENT_RUNS
        return is_long and abs(self.shift_ratio) >= LEAST_SHIFT and self.p_value < MOST_P


@dataclass(frozen=True, slots=True)
class LinearDrift:
    """A slow change without a moment."""

    # what the line gains or loses from the first run to the last, as a share of its value at the first
    shift_ratio: float | None
    # low, high: the same for the lines at the ends of the slope's 95 % interval, which the memory of the runs widens;
    # each line has its own value at the first run. None of the three where its line begins at 0 or beyond
    low: float | None
    high: float | None
    # start, end: the values of the line at the first run and at the last, in the unit of the values
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class ScatterChange:
    """A change of how far runs scatter around their level."""

    index: int  # of the first run after it
    # runs_before, runs_after: of the stretches on both sides, up to the change of spread before it and to the end
    runs_before: int
    runs_after: int
    # spread_before, spread_after: 1.4826 x the median distance from the local level, of that level
    spread_before: float
    spread_after: float
    p_value: float  # of both stretches scattering alike, for the split of all at which they differ most


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is known of a series' course."""

    course: Course
    run_count: int
    changes: tuple[LevelChange, ...] = ()  # in time order, where the course is CHANGED
    drift: LinearDrift | None = None  # where it is DRIFT
    memory: float = 0.0  # lag-1 autocorrelation of the runs within segments, from 0
    noise: ScatterChange | None = None  # the last change of the spread, whatever the course is
    missing_runs: int = 0  # so many more runs allow an answer, where the series is TOO_SHORT
