"""What was found in a series, as sentences that say no more than was shown; pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from iotide_server.kit.clock import day_written, days_written
from iotide_server.statistics.course import FEWEST_BEFORE, FEWEST_NOISE_RUNS, LOOKS_AFTER, Course, Effect
from iotide_server.statistics.peers import FEWEST_PEERS, FEWEST_RUNS
from iotide_server.statistics.shifts import is_near
from iotide_server.trends.changes.drift import Drift
from iotide_wire.facts import FactValue
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.units import format_distance, format_number, format_percent, format_shift

Direction = Literal["better", "worse"]


@dataclass(frozen=True, slots=True)
class Ended:
    """A change for the worse that a later change took back: its first point, and the first one after its end."""

    at: datetime
    recovered_at: datetime


@dataclass(frozen=True, slots=True)
class Regained:
    """A change for the better while the level was away from the healthy one."""

    # level, healthy_level: after the change, and before the change for the worse that led away from the healthy one
    level: float
    healthy_level: float
    healthy_until: datetime  # the first point after that change for the worse
    is_recovery: bool  # the level only leads back; False: it is better than the healthy one


def change_words(
    shift_ratio: float | None,
    points_before: int,
    points_after: int,
    better: str,
    past: Ended | Regained | None = None,
) -> str:
    """Return a change of level as a sentence, such as `12.0 % lower, worse: 40 points against 60 before`."""
    counts = f"{points_after} points against {points_before} before"
    shift = shift_words(shift_ratio)
    if isinstance(past, Ended):
        return f"{shift} {days_written(past.at, past.recovered_at)}, recovered: {counts}"
    if isinstance(past, Regained):
        return f"{shift}, {_regained_words(past)}: {counts}"
    found = None if shift_ratio is None else direction(shift_ratio, better)
    return f"{shift}: {counts}" if found is None else f"{shift}, {found}: {counts}"


def shift_words(shift_ratio: float | None) -> str:
    """Return a change of level without its reasons, for instance `12.0 % lower`."""
    if shift_ratio is None:
        return "no longer 0"
    return f"{format_distance(1 + shift_ratio)} {'higher' if shift_ratio > 0 else 'lower'}"


def _regained_words(past: Regained) -> str:
    day = day_written(past.healthy_until)
    if past.is_recovery and is_near(past.level, past.healthy_level):
        return f"back at the level before {day}"
    difference = past.level - past.healthy_level
    away = shift_words(difference / abs(past.healthy_level) if past.healthy_level else None)
    return f"still {away} than before {day}" if past.is_recovery else f"{away} than before {day}, better"


def direction(shift_ratio: float | None, better: str) -> Direction | None:
    """Return whether a change is better, by its ratio (None: it rose from 0); None where neither way is better."""
    if better not in {"higher", "lower"}:
        return None
    is_higher = shift_ratio is None or shift_ratio > 0
    return "better" if is_higher == (better == "higher") else "worse"


def course_words(course: Course, point_count: int, *, missing_points: int, changes: int, drift: Drift | None) -> str:
    """Return how a series went, as a sentence; `drift` is given where that is the course."""
    match course:
        case Course.TOO_SHORT:
            return f"not judged: {point_count} points, {point_count + missing_points} needed"
        case Course.STEADY:
            shown = f"no change shown in {point_count} points"
            missing = noise_missing_points(point_count)
            return f"{shown}; noise not judged: {point_count + missing} points needed" if missing else shown
        case Course.CHANGED:
            return f"{changes} {'change' if changes == 1 else 'changes'} in {point_count} points"
        case Course.DRIFT:
            return "gradual change, not measured again yet" if drift is None else drift_words(drift, point_count)


def noise_missing_points(point_count: int) -> int:
    """Return how many more points allow to judge whether the points scatter more than before."""
    return max(0, 2 * FEWEST_NOISE_RUNS - point_count)


def unjudged_peers_words(enough: int, members: int) -> str:
    """Return why equals are not compared."""
    return f"not judged: {enough} of {members} have {FEWEST_RUNS} runs, {FEWEST_PEERS} needed"


def drift_words(drift: Drift, point_count: int) -> str:
    """Return a drift: `gradual decline, \u221231.0 % since 31 May 2026 (179 points), no single start date`."""
    side = "rise" if drift.is_up else "decline"
    shift = ""
    if drift.shift_ratio is not None:
        shift = f" {format_shift(1 + drift.shift_ratio)}"
    since = day_written(drift.start_at)
    return f"gradual {side},{shift} since {since} ({point_count} points), no single start date"


def event_words(effect: Effect, shift_ratio: float | None, points_before: int, points_after: int, better: str) -> str:
    """Return what an event did to a series, with the points that this is known from."""
    match effect:
        case Effect.SHIFTED:
            found = None if shift_ratio is None else direction(shift_ratio, better)
            judged = "" if found is None else f", {found}"
            return f"{shift_words(shift_ratio)}{judged}: {points_after} points after it, {points_before} before"
        case Effect.NONE_SHOWN:
            return f"no effect shown: {points_after} points after it, {points_before} before"
        case Effect.TOO_FEW_BEFORE:
            return f"not judged: {points_before} points before it, {FEWEST_BEFORE} needed"
        case Effect.PENDING:
            return f"not judged yet: {points_after} points after it, {LOOKS_AFTER[0]} needed"


def seen_change_words(words: str, at: datetime) -> str:
    """Return the effect of an event that coincides with a change: the change has the number."""
    return f"{words}; see the change of {day_written(at)}"


def noise_words(spread_before: float, spread_after: float, points_before: int, points_after: int) -> str:
    """A change of spread, for instance `2.4 times as noisy, 1.2 % -> 2.9 %: 40 points against 100 before`."""
    counts = f"{points_after} points against {points_before} before"
    spreads = f"{format_percent(spread_before)} -> {format_percent(spread_after)}"
    if not spread_before or not spread_after:
        return f"{'noisy' if spread_after else 'not noisy any more'}, {spreads}: {counts}"
    if spread_after > spread_before:
        return f"{format_number(spread_after / spread_before)} times as noisy, {spreads}: {counts}"
    return f"less noisy by a factor of {format_number(spread_before / spread_after)}, {spreads}: {counts}"


def peer_words(difference_ratio: float, others: int, better: str, *, is_odd: bool) -> str:
    """One among equals, for instance `odd: 23.0 % lower than its 2 peers, worse`; never that it is equal."""
    if not is_odd:
        return f"not shown to be odd among its {others} peers"
    side, judged = "higher" if difference_ratio > 0 else "lower", direction(difference_ratio, better)
    words = f"odd: {format_distance(1 + difference_ratio)} {side} than its {others} peers"
    return words if judged is None else f"{words}, {judged}"


def stale_words(last_at: datetime, reason: str) -> str:
    """A series without new data, for instance `no data since 25 Oct 2026: schedule weekly is paused`."""
    return f"no data since {day_written(last_at)}: {reason}"


def unanswered_words(schedule_name: str, missed_firings: int) -> str:
    """A schedule that gives a series no points, or does not fire at all."""
    if missed_firings == 0:
        return f"schedule {schedule_name} was due and has not fired"
    return (
        f"schedule {schedule_name} fired {missed_firings} {'time' if missed_firings == 1 else 'times'} without a point"
    )


def gap_words(usual_gap: timedelta) -> str:
    """The usual gap of a series, for instance `usually measured every 7 days`."""
    days = round(usual_gap / timedelta(days=1))
    return "usually measured every day" if days <= 1 else f"usually measured every {days} days"


_NAMED_FACTS = 20


def environment_change(
    before: Mapping[str, FactValue], after: Mapping[str, FactValue], run_before_id: int
) -> Flag | None:
    """The flag for a run whose facts differ from those of the series' previous run; None where they are the same."""
    names = _differing(before, after)
    if not names:
        return None
    return Flag(
        code=FlagCode.ENV_CHANGED,
        effect=FlagEffect.MARKED,
        measured=_listed(f"{name} = {_shown(after.get(name))}" for name in names),
        limit=f"as in run {run_before_id}: " + _listed(f"{name} = {_shown(before.get(name))}" for name in names),
    )


def environment_differences(before: Mapping[str, FactValue], after: Mapping[str, FactValue]) -> str:
    """What differs, for instance `kernel: 6.1.0-30 -> 6.1.0-35`; the same whichever series saw it."""
    names = _differing(before, after)
    return _listed(f"{name}: {_shown(before.get(name))} -> {_shown(after.get(name))}" for name in names)


def _differing(before: Mapping[str, FactValue], after: Mapping[str, FactValue]) -> list[str]:
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def _listed(facts: Iterable[str]) -> str:
    known = list(facts)
    more = [f"and {len(known) - _NAMED_FACTS} more"] if len(known) > _NAMED_FACTS else []
    return "; ".join([*known[:_NAMED_FACTS], *more])


def _shown(value: FactValue) -> str:
    """A fact, short enough for twenty of them to fit into a sentence for a person."""
    shown = "absent" if value is None else str(value)
    return shown if len(shown) <= 80 else f"{shown[:80]} ..."  # noqa: PLR2004 - half a line
