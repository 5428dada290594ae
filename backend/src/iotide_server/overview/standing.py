"""Where a series is compared with its last healthy level, and the sum over many series; pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from iotide_server.kit.clock import day_written
from iotide_server.statistics.course import Course
from iotide_server.statistics.shifts import is_near
from iotide_server.trends.changes.drift import Drift
from iotide_server.trends.changes.words import course_words, direction, drift_words, shift_words


class SeriesState(StrEnum):
    """In the order in which somebody should look."""

    SLOWER = "slower"
    STALE = "stale"
    NOISY = "noisy"
    FASTER = "faster"
    IN_CONTROL = "in_control"
    NO_BASELINE = "no_baseline"


ORDER = {state: place for place, state in enumerate(SeriesState)}


@dataclass(frozen=True, slots=True)
class AgreedChange:
    """A change of level that several analyses agree on."""

    at: datetime
    cell_id: int  # of the first point after it
    # before, after: the medians around it
    before: float
    after: float
    is_expected: bool = False  # somebody said so, and the level after it is the normal one from then on


@dataclass(frozen=True, slots=True)
class Spread:
    """Since when a series scatters more than before."""

    at: datetime
    words: str


@dataclass(frozen=True, slots=True)
class Gone:
    """How a series went, as its last analysis has it."""

    course: Course | None  # None before the first analysis
    better: str
    point_count: int
    missing_points: int
    last_at: datetime
    steps: Sequence[AgreedChange] = ()  # all of the series, in time order
    drift: Drift | None = None  # the line of a slow change
    noisy: Spread | None = None  # where it became noisier
    # of a series without new data; None: it has some, or nothing is known of its usual gap
    stale_words: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedSeries:
    """How a series stands."""

    state: SeriesState
    since: datetime | None  # when the first point of that was measured; None where there is no such moment
    cell_id: int | None  # of that point
    shift_ratio: float | None  # of now to what it was; None without a change, or where it was 0
    words: str  # as a sentence that says no more than was shown


def judge(gone: Gone, since: datetime | None = None) -> JudgedSeries:
    """Judge a series; `since` begins the period, and decides which recoveries the words report, never the state."""
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
        # a former release measured it relative to the median; nothing is known until it is analysed again.
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
    words = "at its healthy level:" if gone.steps else "no change shown in"
    steady = JudgedSeries(SeriesState.IN_CONTROL, None, None, None, f"{words} {gone.point_count} points")
    return moved or path.recovered(since) or steady


class _Path:
    """The way of a series through its steps, each compared with the healthy level.

    The healthy level is the best level that the series had since the last step that was expected. A step within 3 % of
    it leaves it as it is. So a drop that was taken back leaves nothing behind, and where a period begins is no matter.
    """

    def __init__(self, better: str) -> None:
        self._better = better
        self._start: float | None = None
        self._healthy = self._level = 0.0
        self._drop: AgreedChange | None = None
        self._rise: AgreedChange | None = None
        self._end: tuple[AgreedChange, AgreedChange, float | None] | None = None

    def take(self, step: AgreedChange) -> None:
        """Go on to the level after the step."""
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
        """Compare the level of now: slower than the healthy level, or faster than any healthy level before."""
        if self._drop is not None:
            return self._judged(SeriesState.SLOWER, self._drop, self._healthy)
        if self._start is not None and self._rise is not None and self._side(self._start) == "better":
            return self._judged(SeriesState.FASTER, self._rise, self._start)
        return None

    def recovered(self, since: datetime | None) -> JudgedSeries | None:
        """Report the last drop that was taken back, where that happened in the period."""
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


def _ratio(value: float, level: float) -> float | None:
    return (value - level) / abs(level) if level else None


def _drifted(gone: Gone) -> JudgedSeries | None:
    if gone.course is not Course.DRIFT or gone.drift is None:
        return None
    is_worse = direction(gone.drift.end - gone.drift.start, gone.better) == "worse"
    state = SeriesState.SLOWER if is_worse else SeriesState.FASTER
    return JudgedSeries(state, None, None, gone.drift.shift_ratio, drift_words(gone.drift, gone.point_count))


@dataclass(frozen=True, slots=True)
class Summed:
    """What many series are together: the gravest state among them."""

    state: SeriesState
    counts: dict[SeriesState, int]  # of the series in each state, the gravest first
    worst: int  # the series of that state which moved most, and of equals the one that did so last
    judged: JudgedSeries


def sum_up(judged: Iterable[tuple[int, JudgedSeries, int]]) -> Summed:
    """Of at least one series: ids, how they stand, and how many stand like each."""
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
