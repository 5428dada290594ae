"""How a series stands beside where it stood at the beginning of a period, and what that makes of many series; pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from iotide_server.statistics.course import Course
from iotide_server.statistics.shifts import is_near
from iotide_server.trends.drift import StoredDrift
from iotide_server.trends.words import course_words, direction, drift_words


class Standing(StrEnum):
    """In the order in which somebody should look."""

    SLOWER = "slower"
    MISSING = "missing"
    NOISY = "noisy"
    FASTER = "faster"
    IN_CONTROL = "in_control"
    NO_BASELINE = "no_baseline"


ORDER = {state: place for place, state in enumerate(Standing)}


@dataclass(frozen=True, slots=True)
class Step:
    """A change of level that several analyses agree on.

    Attributes:
        cell_id: of the first point after it.
        before, after: the medians around it.
        is_expected: somebody said so, and the level after it is the normal one from then on.
    """

    at: datetime
    cell_id: int
    before: float
    after: float
    is_expected: bool = False


@dataclass(frozen=True, slots=True)
class Spread:
    """Since when a series scatters more than before."""

    at: datetime
    words: str


@dataclass(frozen=True, slots=True)
class Gone:
    """How a series went, as its last analysis has it.

    Attributes:
        course: None before the first analysis.
        steps: of the period, in time order.
        drift: the line of a slow change.
        noisy: where it became noisier in the period.
        late_words: of a scheduled series that stopped.
    """

    course: Course | None
    better: str
    point_count: int
    missing_points: int
    last_at: datetime
    steps: Sequence[Step] = ()
    drift: StoredDrift | None = None
    noisy: Spread | None = None
    late_words: str | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """How a series stands.

    Attributes:
        since: when the first point of that was measured; None where there is no such moment.
        cell_id: of that point.
        shift_ratio: of now to what it was; None without a change, or where it was 0.
        words: as a sentence that says no more than was shown.
    """

    state: Standing
    since: datetime | None
    cell_id: int | None
    shift_ratio: float | None
    words: str


def judge(gone: Gone) -> Judged:
    """Stopped first: what is not measured any more has no level of now."""
    if gone.late_words is not None:
        return Judged(Standing.MISSING, gone.last_at, None, None, gone.late_words)
    if gone.course is None or gone.course is Course.TOO_SHORT:
        words = course_words(
            Course.TOO_SHORT, gone.point_count, missing_points=gone.missing_points, changes=0, drift=None
        )
        return Judged(Standing.NO_BASELINE, None, None, None, "not analysed yet" if gone.course is None else words)
    moved = _moved(gone) or _drifted(gone)
    if moved is not None and moved.state is Standing.SLOWER:
        return moved
    if gone.noisy is not None:
        return Judged(Standing.NOISY, gone.noisy.at, None, None, gone.noisy.words)
    return moved or Judged(Standing.IN_CONTROL, None, None, None, f"no change shown in {gone.point_count} points")


def _moved(gone: Gone) -> Judged | None:
    """Where the level of now is not within 3 % of the normal one, since the step that led away from it last."""
    if not gone.steps:
        return None
    normal, level = gone.steps[0].before, gone.steps[0].before
    since: Step | None = None
    for step in gone.steps:
        was_away, was_above = since is not None, level > normal
        level = step.after
        if step.is_expected:
            normal, since = step.after, None
        elif is_near(level, normal):
            since = None
        elif not was_away or was_above != (level > normal):
            since = step
    if since is None:
        return None
    ratio = (level - normal) / abs(normal) if normal else None
    state = Standing.SLOWER if direction(ratio, gone.better) == "worse" else Standing.FASTER
    return Judged(state, since.at, since.cell_id, ratio, _shift_words(ratio))


def _shift_words(ratio: float | None) -> str:
    if ratio is None:
        return "no longer 0"
    return f"{100 * abs(ratio):.1f} % {'higher' if ratio > 0 else 'lower'} than before"


def _drifted(gone: Gone) -> Judged | None:
    if gone.course is not Course.DRIFT or gone.drift is None:
        return None
    is_worse = direction(gone.drift.end - gone.drift.start, gone.better) == "worse"
    state = Standing.SLOWER if is_worse else Standing.FASTER
    return Judged(state, None, None, gone.drift.shift_ratio, drift_words(gone.drift, gone.point_count))


@dataclass(frozen=True, slots=True)
class Summed:
    """What many series are together: the gravest state among them.

    Attributes:
        counts: of the series in each state, the gravest first.
        worst: the series of that state which moved most, and of equals the one that did so last.
    """

    state: Standing
    counts: dict[Standing, int]
    worst: int
    judged: Judged


def sum_up(judged: Iterable[tuple[int, Judged, int]]) -> Summed:
    """Of at least one series: ids, how they stand, and how many stand like each."""
    known = list(judged)
    counted: Counter[Standing] = Counter()
    for _, one, alike in known:
        counted[one.state] += alike
    state = min(counted, key=ORDER.__getitem__)

    def weight(item: tuple[int, Judged, int]) -> tuple[float, float, int]:
        series_id, one, _ = item
        return abs(one.shift_ratio or 0.0), one.since.timestamp() if one.since else 0.0, series_id

    worst, chosen, _ = max((item for item in known if item[1].state is state), key=weight)
    return Summed(state, {each: counted[each] for each in Standing if each in counted}, worst, chosen)
