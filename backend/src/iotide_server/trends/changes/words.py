"""Findings about a series as sentences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Final, Literal

from iotide_server.kit.clock import day_written, days_written
from iotide_server.statistics.course import (
    FEWEST_BEFORE,
    FEWEST_NOISE_RUNS,
    LOOKS_AFTER,
    MOST_EVENT_P,
    Course,
    DriftShape,
    Effect,
)
from iotide_server.statistics.findable import FindableShift
from iotide_server.statistics.peers import FEWEST_PEERS, FEWEST_RUNS, PeerBasis
from iotide_server.statistics.shifts import is_near
from iotide_server.trends.changes.drift import Drift
from iotide_wire.facts import FactValue
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.units import format_distance, format_number, format_percent, format_shift

Direction = Literal["better", "worse"]

_FEWEST_TOGETHER: Final = 2  # series of an event; a single one shows nothing of chance


@dataclass(frozen=True, slots=True)
class Ended:
    at: datetime
    ended_at: datetime
    end: Literal["recovered", "over"]


@dataclass(frozen=True, slots=True)
class Regained:
    # level, healthy_level: after this change, and before the change for the worse
    level: float
    healthy_level: float
    healthy_until: datetime
    is_recovery: bool  # False: it exceeds the healthy level


def change_words(
    shift_ratio: float | None,
    points_before: int,
    points_after: int,
    better: str,
    past: Ended | Regained | None = None,
) -> str:
    """Return e.g. `12.0 % lower, worse (40 points after, 60 before)`."""
    counts = f"({points_after} points after, {points_before} before)"
    shift = shift_words(shift_ratio)
    if isinstance(past, Ended):
        return f"{shift} {days_written(past.at, past.ended_at)}, {past.end} {counts}"
    if isinstance(past, Regained):
        return f"{shift}, {_regained_words(past)} {counts}"
    found = None if shift_ratio is None else direction(shift_ratio, better)
    return f"{shift} {counts}" if found is None else f"{shift}, {found} {counts}"


def shift_words(shift_ratio: float | None) -> str:
    """Return e.g. `12.0 % lower`."""
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
    """Return better or worse, or None for metrics without a better direction; the ratio None is a rise from 0."""
    if better not in {"higher", "lower"}:
        return None
    is_higher = shift_ratio is None or shift_ratio > 0
    return "better" if is_higher == (better == "higher") else "worse"


def course_words(course: Course, point_count: int, *, missing_points: int, changes: int, drift: Drift | None) -> str:
    match course:
        case Course.TOO_SHORT:
            return f"not enough data: {point_count} of {point_count + missing_points} points"
        case Course.STEADY:
            shown = f"no significant change in {point_count} points"
            missing = noise_missing_points(point_count)
            return f"{shown}; noise: {point_count + missing} points needed" if missing else shown
        case Course.CHANGED:
            return f"{changes} {'change' if changes == 1 else 'changes'} in {point_count} points"
        case Course.DRIFT:
            return "gradual change; the next analysis measures it" if drift is None else drift_words(drift, point_count)


def findable_words(scatter_ratio: float | None, shifts: Sequence[FindableShift]) -> str | None:
    """Return e.g. `with this scatter (5.2 %), a change of 17 % can be found after 10 points, of 9 % after 40`."""
    if scatter_ratio is None or not shifts:
        return None
    first_after: dict[int, int] = {}
    for shift in shifts:
        first_after.setdefault(ceil(100 * shift.shift_ratio), shift.points_after)
    found = [f"{percent} % {{}}after {points}" for percent, points in first_after.items()]
    first, *others = (words.format("" if number else "can be found ") for number, words in enumerate(found))
    listed = ", of ".join([f"{first} points", *others])
    return f"with this scatter ({format_percent(scatter_ratio)}), a change of {listed}"


def noise_missing_points(point_count: int) -> int:
    return max(0, 2 * FEWEST_NOISE_RUNS - point_count)


def unjudged_peers_words(enough: int, members: int) -> str:
    if enough >= FEWEST_PEERS:
        return "the median of the group is 0: no ratio applies"
    return f"not enough data: {enough} of {members} have {FEWEST_RUNS} runs, {FEWEST_PEERS} needed"


def peer_basis_words(basis: PeerBasis) -> str:
    match basis:
        case PeerBasis.COMMON_CAMPAIGNS:
            return "compared within each campaign, so days do not count"
        case PeerBasis.OWN_CAMPAIGNS:
            return "measured by campaigns of their own: a difference may come from the day"


def drift_words(drift: Drift, point_count: int) -> str:
    """Return a drift: `gradual decline, \u221231.0 % since 31 May 2026 (179 points), no single start date`.

    A wave is e.g. `gradual rise and decline, up to 21.0 % apart, since 31 May 2026 (179 points), no single start date`.
    """
    since = f"since {day_written(drift.start_at)} ({point_count} points), no single start date"
    if drift.shape is DriftShape.WAVE:
        swing = "" if drift.swing_ratio is None else f" up to {format_distance(1 + drift.swing_ratio)} apart,"
        return f"gradual rise and decline,{swing} {since}"
    side = "rise" if drift.is_up else "decline"
    shift = "" if drift.shift_ratio is None else f" {format_shift(1 + drift.shift_ratio)}"
    return f"gradual {side},{shift} {since}"


def event_words(effect: Effect, shift_ratio: float | None, points_before: int, points_after: int, better: str) -> str:
    match effect:
        case Effect.SHIFTED:
            found = None if shift_ratio is None else direction(shift_ratio, better)
            judged = "" if found is None else f", {found}"
            return f"{shift_words(shift_ratio)}{judged} ({points_after} points after, {points_before} before)"
        case Effect.NONE_SHOWN:
            return f"no significant effect ({points_after} points after, {points_before} before)"
        case Effect.TOO_FEW_BEFORE:
            return f"not enough data: {points_before} of {FEWEST_BEFORE} points before the event"
        case Effect.PENDING:
            return f"not enough data yet: {points_after} of {LOOKS_AFTER[0]} points after the event"


def event_series_words(shifted: int, judged: int) -> str | None:
    """Return e.g. `3 of 50 series shifted, 0.5 expected by chance`."""
    if judged < _FEWEST_TOGETHER:
        return None
    return f"{shifted} of {judged} series shifted, {format_number(MOST_EVENT_P * judged)} expected by chance"


def seen_change_words(words: str, at: datetime) -> str:
    """Return the effect of an event that coincides with a change."""
    return f"{words}; see the change of {day_written(at)}"


def noise_words(spread_before: float, spread_after: float, points_before: int, points_after: int) -> str:
    """Return e.g. `2.4 times as noisy, 1.2 % -> 2.9 % (40 points after, 100 before)`."""
    counts = f"({points_after} points after, {points_before} before)"
    spreads = f"{format_percent(spread_before)} -> {format_percent(spread_after)}"
    if not spread_before or not spread_after:
        return f"{'noisy' if spread_after else 'no longer noisy'}, {spreads} {counts}"
    if spread_after > spread_before:
        return f"{format_number(spread_after / spread_before)} times as noisy, {spreads} {counts}"
    return f"less noisy by a factor of {format_number(spread_before / spread_after)}, {spreads} {counts}"


def peer_words(difference_ratio: float, members: int, better: str, *, is_odd: bool) -> str:
    """Return e.g. `outlier: 23.0 % below the median of 3 peers, worse`; never claim equality."""
    if not is_odd:
        return f"no significant difference among {members} peers"
    side, judged = "above" if difference_ratio > 0 else "below", direction(difference_ratio, better)
    words = f"outlier: {format_distance(1 + difference_ratio)} {side} the median of {members} peers"
    return words if judged is None else f"{words}, {judged}"


def stale_words(last_at: datetime, reason: str) -> str:
    """Return e.g. `no data since 25 Oct 2026: schedule weekly is paused`."""
    return f"no data since {day_written(last_at)}: {reason}"


def unanswered_words(schedule_name: str, missed_firings: int) -> str:
    if missed_firings == 0:
        return f"schedule {schedule_name} was due but has not fired"
    return (
        f"schedule {schedule_name} fired {missed_firings} {'time' if missed_firings == 1 else 'times'} without a result"
    )


def gap_words(usual_gap: timedelta) -> str:
    """Return e.g. `usually measured every 7 days`."""
    days = round(usual_gap / timedelta(days=1))
    return "usually measured every day" if days <= 1 else f"usually measured every {days} days"


_NAMED_FACTS = 20


def environment_change(
    before: Mapping[str, FactValue], after: Mapping[str, FactValue], run_before_id: int
) -> Flag | None:
    """Return the flag of a run with other facts than the previous run of its series, or None."""
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
    """Return the differences, such as `kernel: 6.1.0-30 -> 6.1.0-35`, in the same words for every series."""
    names = _differing(before, after)
    return _listed(f"{name}: {_shown(before.get(name))} -> {_shown(after.get(name))}" for name in names)


def _differing(before: Mapping[str, FactValue], after: Mapping[str, FactValue]) -> list[str]:
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def _listed(facts: Iterable[str]) -> str:
    known = list(facts)
    more = [f"and {len(known) - _NAMED_FACTS} more"] if len(known) > _NAMED_FACTS else []
    return "; ".join([*known[:_NAMED_FACTS], *more])


def _shown(value: FactValue) -> str:
    shown = "absent" if value is None else str(value)
    return shown if len(shown) <= 80 else f"{shown[:80]} ..."  # noqa: PLR2004 - half a line
