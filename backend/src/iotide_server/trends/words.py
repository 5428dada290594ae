"""What was found in a series, as sentences that say no more than was shown; pure."""

from datetime import datetime
from typing import Literal

from iotide_server.kit.clock import written
from iotide_server.statistics.course import Course, Effect

Direction = Literal["better", "worse"]


def change_words(shift_ratio: float | None, points_before: int, points_after: int, better: str) -> str:
    """A change of level, for instance `12.0 % lower, worse: 40 points against 60 before`."""
    counts = f"{points_after} points against {points_before} before"
    if shift_ratio is None:
        return f"no longer 0: {counts}"
    side = "higher" if shift_ratio > 0 else "lower"
    found = direction(shift_ratio, better)
    judged = "" if found is None else f", {found}"
    return f"{abs(shift_ratio):.1%} {side}{judged}: {counts}".replace("%", " %")


def direction(shift_ratio: float | None, better: str) -> Direction | None:
    """Whether a change is to the better; None where nobody says of the metric which way is better.

    Without a ratio it was 0 before, and rose.
    """
    if better not in {"higher", "lower"}:
        return None
    is_higher = shift_ratio is None or shift_ratio > 0
    return "better" if is_higher == (better == "higher") else "worse"


def course_words(
    course: Course, point_count: int, *, missing_points: int, changes: int, drift: tuple[float, float] | None
) -> str:
    """How a series went.

    Args:
        drift: the ends of its interval, where that is the course.
    """
    match course:
        case Course.TOO_SHORT:
            return f"{point_count} points: {missing_points} more are needed to tell whether it changed"
        case Course.STEADY:
            return f"no change shown in {point_count} points"
        case Course.CHANGED:
            return f"{changes} {'change' if changes == 1 else 'changes'} in {point_count} points"
        case Course.DRIFT:
            low, high = drift or (0.0, 0.0)
            return f"a slow drift of {100 * low:+.1f}..{100 * high:+.1f} % over {point_count} points, without a moment"


def event_words(effect: Effect, shift_ratio: float | None, points_before: int, points_after: int, better: str) -> str:
    """What an event did to a series."""
    match effect:
        case Effect.SHIFTED:
            return change_words(shift_ratio, points_before, points_after, better)
        case Effect.NONE_SHOWN:
            return f"no effect shown: {points_after} points against {points_before} before"
        case Effect.TOO_FEW_BEFORE:
            return f"{points_before} points before it are too few to judge it by"
        case Effect.PENDING:
            return f"{points_after} points since then, and 4 are needed"


def noise_words(spread_before: float, spread_after: float, points_before: int, points_after: int) -> str:
    """A change of spread, for instance `2.4 times as noisy, 1.2 % -> 2.9 %: 40 points against 100 before`."""
    counts = f"{points_after} points against {points_before} before"
    spreads = f"{100 * spread_before:.1f} % -> {100 * spread_after:.1f} %"
    if not spread_before or not spread_after:
        return f"{'noisy' if spread_after else 'not noisy any more'}, {spreads}: {counts}"
    if spread_after > spread_before:
        return f"{spread_after / spread_before:.1f} times as noisy, {spreads}: {counts}"
    return f"less noisy by a factor of {spread_before / spread_after:.1f}, {spreads}: {counts}"


def peer_words(difference_ratio: float, others: int, better: str, *, is_odd: bool) -> str:
    """One among equals, for instance `odd: 23.0 % lower than its 2 peers, worse`; never that it is equal."""
    if not is_odd:
        return f"not shown to be odd among its {others} peers"
    side, judged = "higher" if difference_ratio > 0 else "lower", direction(difference_ratio, better)
    words = f"odd: {100 * abs(difference_ratio):.1f} % {side} than its {others} peers"
    return words if judged is None else f"{words}, {judged}"


def late_words(last_at: datetime, missed_firings: int, schedule_name: str) -> str:
    """A scheduled series that has stopped."""
    return f"no point since {written(last_at)}: schedule {schedule_name} fired {missed_firings} times since then"
