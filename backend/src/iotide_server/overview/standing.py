"""State of series relative to their healthy level."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from iotide_server.kit.clock import day_written
from iotide_server.statistics.course import Course, DriftShape
from iotide_server.statistics.shifts import is_near
from iotide_server.trends.changes.drift import Drift
from iotide_server.trends.changes.words import course_words, direction, drift_words, shift_words


class SeriesState(StrEnum):
    """Most urgent first."""

    SLOWER = "slower"
    STALE = "stale"
    NOISY = "noisy"
    FASTER = "faster"
    IN_CONTROL = "in_control"
    NO_BASELINE = "no_baseline"


ORDER = {state: place for place, state in enumerate(SeriesState)}


@dataclass(frozen=True, slots=True)
class AgreedChange:
    at: datetime
    cell_id: int
    # before, after: medians
    before: float
    after: float
    is_expected: bool = False
    # change_id, previous_at: the stored change, and the last point before it
    change_id: int | None = None
    previous_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class OverShift:
    """Shift that came and ended; no step marks its end."""

    at: datetime
    over_at: datetime
    cell_id: int
    shift_ratio: float | None


@dataclass(frozen=True, slots=True)
class Spread:
    at: datetime
    words: str


@dataclass(frozen=True, slots=True)
class Gone:
    course: Course | None
    better: str
    point_count: int
    missing_points: int
    last_at: datetime
    steps: Sequence[AgreedChange] = ()
    over: OverShift | None = None  # the last one
    drift: Drift | None = None
    noisy: Spread | None = None
    # None: it has new data, or no usual gap
    stale_words: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedSeries:
    state: SeriesState
    since: datetime | None
    cell_id: int | None
    shift_ratio: float | None  # from the healthy level; None without a change
    words: str


def judge(gone: Gone, since: datetime | None = None) -> JudgedSeries:
    """Judge a series; `since` affects only which recoveries are reported."""
    if gone.stale_words is not None:
        return JudgedSeries(SeriesState.STALE, gone.last_at, None, None, gone.stale_words)
    if gone.course is None or gone.course is Course.TOO_SHORT:
        words = course_words(
            Course.TOO_SHORT, gone.point_count, missing_points=gone.missing_points, changes=0, drift=None
        )
        return JudgedSeries(
            SeriesState.NO_BASELINE, None, None, None, "not analysed yet" if gone.course is None else words
        )
    if gone.course is Course.DRIFT and gone.drift is None:
        # Unknown until the next analysis: an earlier release measured it relative to the median.
        words = course_words(gone.course, gone.point_count, missing_points=0, changes=0, drift=None)
        return JudgedSeries(SeriesState.NO_BASELINE, None, None, None, words)
    path = _Path(gone.better)
    for step in gone.steps:
        path.take(step)
    moved = path.away() or _drifted(gone)
    if moved is not None and moved.state is SeriesState.SLOWER:
        return moved
    if gone.noisy is not None:
        return JudgedSeries(SeriesState.NOISY, gone.noisy.at, None, None, gone.noisy.words)
    points = f"{gone.point_count} points"
    has_changes = gone.steps or gone.over is not None
    words = f"at its healthy level ({points})" if has_changes else f"no significant change in {points}"
    steady = JudgedSeries(SeriesState.IN_CONTROL, None, None, None, words)
    return moved or path.recovered(since) or _over(gone.over, since) or steady


class _Path:
    """Steps of a series, each compared with the healthy level.

    That is the best level since the last expected step; steps within 3 % do not change it. Recovered drops and the
    start of the period have no effect.
    """

    def __init__(self, better: str) -> None:
        self._better = better
        self._start: float | None = None
        self._healthy = self._level = 0.0
        self._drop: AgreedChange | None = None
        self._rise: AgreedChange | None = None
        self._end: tuple[AgreedChange, AgreedChange, float | None] | None = None

    def take(self, step: AgreedChange) -> None:
        if self._start is None:
            self._start = self._healthy = self._level = step.before
        self._level, before = step.after, self._level
        if step.is_expected:
            self._start = self._healthy = step.after
            self._drop = self._rise = self._end = None
            return
        side = self._side(self._healthy)
        if side == "worse":
            self._drop = self._drop or step
            return
        if self._drop is not None:
            self._end, self._drop = (self._drop, step, _ratio(before, self._healthy)), None
        if side == "better":
            self._healthy = step.after
            self._rise = self._rise or step

    def away(self) -> JudgedSeries | None:
        """Return SLOWER below the healthy level, FASTER above all earlier ones, else None."""
        if self._drop is not None:
            return self._judged(SeriesState.SLOWER, self._drop, self._healthy)
        if self._start is not None and self._rise is not None and self._side(self._start) == "better":
            return self._judged(SeriesState.FASTER, self._rise, self._start)
        return None

    def recovered(self, since: datetime | None) -> JudgedSeries | None:
        """Return the last recovered drop, if it is in the period."""
        if self._end is None or since is None or self._end[1].at < since:
            return None
        drop, back, ratio = self._end
        words = f"recovered on {day_written(back.at)}: was {shift_words(ratio)} since {day_written(drop.at)}"
        return JudgedSeries(SeriesState.IN_CONTROL, back.at, back.cell_id, None, words)

    def _side(self, level: float) -> str | None:
        return None if is_near(self._level, level) else direction(_ratio(self._level, level), self._better)

    def _judged(self, state: SeriesState, step: AgreedChange, level: float) -> JudgedSeries:
        ratio = _ratio(self._level, level)
        words = shift_words(ratio) + ("" if ratio is None else " than before")
        return JudgedSeries(state, step.at, step.cell_id, ratio, words)


def _over(shift: OverShift | None, since: datetime | None) -> JudgedSeries | None:
    """Return the shift if it ended in the period."""
    if shift is None or since is None or shift.over_at < since:
        return None
    was = f"was {shift_words(shift.shift_ratio)} since {day_written(shift.at)}"
    words = f"over since {day_written(shift.over_at)}: {was}"
    return JudgedSeries(SeriesState.IN_CONTROL, shift.over_at, shift.cell_id, None, words)


def _ratio(value: float, level: float) -> float | None:
    return (value - level) / abs(level) if level else None


def _drifted(gone: Gone) -> JudgedSeries | None:
    if gone.course is not Course.DRIFT or gone.drift is None:
        return None
    words = drift_words(gone.drift, gone.point_count)
    if gone.drift.shape is DriftShape.WAVE:
        return JudgedSeries(SeriesState.IN_CONTROL, None, None, None, words)
    is_worse = direction(gone.drift.end - gone.drift.start, gone.better) == "worse"
    state = SeriesState.SLOWER if is_worse else SeriesState.FASTER
    return JudgedSeries(state, None, None, gone.drift.shift_ratio, words)


@dataclass(frozen=True, slots=True)
class Summed:
    state: SeriesState
    counts: dict[SeriesState, int]  # worst first
    worst: int
    judged: JudgedSeries


def sum_up(judged: Iterable[tuple[int, JudgedSeries, int]]) -> Summed:
    """Summarise series, given as id, state and number of equal ones."""
    known = list(judged)
    counted: Counter[SeriesState] = Counter()
    for _, one, alike in known:
        counted[one.state] += alike
    state = min(counted, key=ORDER.__getitem__)

    def weight(item: tuple[int, JudgedSeries, int]) -> tuple[float, float, int]:
        series_id, one, _ = item
        return abs(one.shift_ratio or 0.0), one.since.timestamp() if one.since else 0.0, series_id

    worst, chosen, _ = max((item for item in known if item[1].state is state), key=weight)
    return Summed(state, {each: counted[each] for each in SeriesState if each in counted}, worst, chosen)
