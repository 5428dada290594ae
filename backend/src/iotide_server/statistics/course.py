"""Course of a series. `changepoints` computes it; showing it needs no numpy and scipy."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

SEGMENT_RUNS: Final = 5
LEAST_SHIFT: Final = 0.03  # of the median before
MOST_P: Final = 0.001
SAME_RUNS: Final = 6  # changes of two analyses this close are the same
CONFIRMING_RUNS: Final = 2  # a change still found after this many more is confirmed
FEWEST_NOISE_RUNS: Final = 15  # on each side; a spread needs three times as many as a level
FEWEST_BEFORE: Final = 6  # needed to judge an event
MOST_EVENT_P: Final = 0.01  # of an event's effect; the same share of series shifts by chance
LOOKS_AFTER: Final = (4, 8)  # runs after an event at which it is judged


class Course(StrEnum):
    TOO_SHORT = "too_short"
    STEADY = "steady"
    CHANGED = "changed"
    DRIFT = "drift"


class Effect(StrEnum):
    TOO_FEW_BEFORE = "too_few_before"
    PENDING = "pending"
    NONE_SHOWN = "none_shown"
    SHIFTED = "shifted"


@dataclass(frozen=True, slots=True)
class LevelChange:
    index: int
    # runs_before, runs_after: up to the neighbouring changes
    runs_before: int
    runs_after: int
    median_before: float
    median_after: float
    shift_ratio: float  # (after - before) / |before|; inf from 0
    p_value: float  # by `ranks.p_value`

    @property
    def is_guarded(self) -> bool:
        """Check that the change is long, large and certain enough."""
        is_long = min(self.runs_before, self.runs_after) >= SEGMENT_RUNS
        return is_long and abs(self.shift_ratio) >= LEAST_SHIFT and self.p_value < MOST_P


class DriftShape(StrEnum):
    """CURVE: not at a constant rate, such as ageing. WAVE: it takes back half of itself or more, such as a season."""

    LINE = "line"
    CURVE = "curve"
    WAVE = "wave"


@dataclass(frozen=True, slots=True)
class FittedDrift:
    shape: DriftShape
    # from first to last run, relative to the start
    shift_ratio: float | None
    # low, high: of a line, for the bounds of the slope's 95 % interval, widened by autocorrelation. Each of the three
    # is None if its line starts at 0 or beyond
    low: float | None
    high: float | None
    # start, end: of the line or curve, in the unit of the values
    start: float
    end: float
    path: tuple[tuple[int, float], ...]  # runs and fitted values, from the first to the last run


@dataclass(frozen=True, slots=True)
class ScatterChange:
    index: int
    # runs_before, runs_after: back to the previous change, and up to the end
    runs_before: int
    runs_after: int
    # spread_before, spread_after: 1.4826 x the median distance from the local level, relative to it
    spread_before: float
    spread_after: float
    p_value: float  # corrected for the choice of the best split


@dataclass(frozen=True, slots=True)
class Analysis:
    course: Course
    run_count: int
    changes: tuple[LevelChange, ...] = ()
    drift: FittedDrift | None = None
    memory: float = 0.0  # lag-1 autocorrelation within segments, 0 or more
    noise: ScatterChange | None = None
    missing_runs: int = 0  # if it is TOO_SHORT: needed for a result
