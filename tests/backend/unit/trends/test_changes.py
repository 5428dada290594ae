from datetime import UTC, datetime, timedelta

import pytest

from iotide_server.statistics.course import Course, DriftShape, Effect, LevelChange
from iotide_server.statistics.findable import FindableShift
from iotide_server.trends.changes.drift import Drift, DriftPoint
from iotide_server.trends.changes.keeping import StoredChange, match_changes
from iotide_server.trends.changes.words import (
    Ended,
    Regained,
    change_words,
    course_words,
    drift_words,
    event_series_words,
    event_words,
    findable_words,
)

TIMES = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number) for number in range(100)]

DRIFT = Drift(
    shape=DriftShape.LINE,
    shift_ratio=-0.22,
    low=-0.26,
    high=-0.18,
    start=100.0,
    end=78.0,
    start_at=TIMES[0],
    end_at=TIMES[12],
    path=[DriftPoint(at=TIMES[0], value=100.0), DriftPoint(at=TIMES[12], value=78.0)],
)


def change(index: int) -> LevelChange:
    return LevelChange(index, 9, 9, 1.0, 2.0, 1.0, 0.0)


def stored(*numbers: int) -> list[StoredChange]:
    return [StoredChange(TIMES[number], is_up=True) for number in numbers]


def test_a_change_that_moved_by_six_points_is_the_same_and_by_seven_another() -> None:
    matched = match_changes([change(36), change(67)], stored(30, 60), TIMES)
    assert matched.known == ((change(36), 0),)
    assert (matched.new, matched.missed) == ((change(67),), (1,))


def test_each_stored_change_is_matched_to_exactly_one_nearest_change() -> None:
    matched = match_changes([change(30), change(34)], stored(33, 29), TIMES)
    assert matched.known == ((change(30), 1), (change(34), 0))
    assert match_changes([change(30), change(34)], stored(33), TIMES).new == (change(30),)


def test_a_rise_is_not_matched_to_a_stored_drop_at_the_same_place() -> None:
    matched = match_changes([change(30)], [StoredChange(TIMES[30], is_up=False)], TIMES)
    assert (matched.known, matched.new, matched.missed) == ((), (change(30),), (0,))


def test_a_change_stays_the_same_after_late_points_or_the_loss_of_its_first_point() -> None:
    later = [TIMES[0] - timedelta(hours=number) for number in (3, 2, 1)] + TIMES
    assert match_changes([change(33)], stored(30), later).known == ((change(33), 0),)
    without = TIMES[:30] + TIMES[31:]
    assert match_changes([change(30)], stored(30), without).known == ((change(30), 0),)


@pytest.mark.parametrize(
    ("shift", "better", "words"),
    [
        (-0.12, "higher", "12.0 % lower, worse (40 points after, 60 before)"),
        (0.5, "higher", "50.0 % higher, better (40 points after, 60 before)"),
        (0.5, "lower", "50.0 % higher, worse (40 points after, 60 before)"),
        (0.5, "neither", "50.0 % higher (40 points after, 60 before)"),
        (None, "lower", "no longer 0 (40 points after, 60 before)"),
    ],
)
def test_a_change_is_reported_with_its_numbers_and_whether_it_is_worse(
    shift: float | None, better: str, words: str
) -> None:
    assert change_words(shift, 60, 40, better) == words


@pytest.mark.parametrize(
    ("course", "words"),
    [
        (Course.TOO_SHORT, "not enough data: 13 of 14 points"),
        (Course.STEADY, "no significant change in 13 points; noise: 30 points needed"),
        (Course.CHANGED, "2 changes in 13 points"),
        (Course.DRIFT, "gradual decline, \u221222.0 % since 1 Jan 2026 (13 points), no single start date"),
    ],
)
def test_a_trace_shows_no_more_than_the_samples(course: Course, words: str) -> None:
    assert course_words(course, 13, missing_points=1, changes=2, drift=DRIFT) == words


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        (Effect.SHIFTED, "5.0 % lower, worse (8 points after, 20 before)"),
        (Effect.NONE_SHOWN, "no significant effect (8 points after, 20 before)"),
        (Effect.PENDING, "not enough data yet: 8 of 4 points after the event"),
        (Effect.TOO_FEW_BEFORE, "not enough data: 20 of 6 points before the event"),
    ],
)
def test_an_event_is_reported_with_its_effect(effect: Effect, words: str) -> None:
    assert event_words(effect, -0.05, 20, 8, "higher") == words


def test_an_event_of_several_series_says_how_many_shift_by_chance() -> None:
    assert event_series_words(3, 50) == "3 of 50 series shifted, 0.5 expected by chance"
    assert event_series_words(1, 1) is None


def test_a_drop_that_ended_is_one_sentence_with_its_start_and_its_end() -> None:
    span = datetime(2026, 8, 11, tzinfo=UTC), datetime(2026, 9, 20, tzinfo=UTC)
    for end in ("recovered", "over"):
        words = change_words(-0.18, 60, 40, "higher", Ended(*span, end))
        assert words == f"18.0 % lower from 11 Aug to 20 Sep 2026, {end} (40 points after, 60 before)"


@pytest.mark.parametrize(
    ("level", "is_recovery", "words"),
    [
        (99.0, True, "50.0 % higher, back at the level before 31 Dec 2025 (9 points after, 9 before)"),
        (80.0, True, "50.0 % higher, still 20.0 % lower than before 31 Dec 2025 (9 points after, 9 before)"),
        (120.0, False, "50.0 % higher, 20.0 % higher than before 31 Dec 2025, better (9 points after, 9 before)"),
    ],
)
def test_a_rise_from_a_low_level_is_compared_with_the_healthy_one(level: float, is_recovery: bool, words: str) -> None:  # noqa: FBT001
    past = Regained(level, 100.0, datetime(2025, 12, 31, tzinfo=UTC), is_recovery)
    assert change_words(0.5, 9, 9, "higher", past) == words


def test_a_drift_from_nothing_has_no_percentage() -> None:
    rising = DRIFT.model_copy(update={"shift_ratio": None, "start": 0.0})
    assert drift_words(rising, 40) == "gradual rise, since 1 Jan 2026 (40 points), no single start date"


def test_a_line_that_the_previous_release_stored_without_a_path_has_both_ends() -> None:
    stored = DRIFT.model_dump(mode="json", exclude={"shape", "path"})
    assert Drift.read(stored) == DRIFT
    assert Drift.read(DRIFT.model_dump(mode="json")) == DRIFT


def test_a_drift_that_an_earlier_release_stored_is_not_shown_with_its_other_base() -> None:
    stored = Drift.read({"shift_ratio": -0.36, "low": -0.375, "high": -0.334})
    assert stored is None
    words = course_words(Course.DRIFT, 179, missing_points=0, changes=0, drift=stored)
    assert words == "gradual change; the next analysis measures it"


@pytest.mark.parametrize(
    ("after_40", "words"),
    [
        (0.09, "with this scatter (5.2 %), a change of 17 % can be found after 10 points, of 9 % after 40"),
        (0.161, "with this scatter (5.2 %), a change of 17 % can be found after 10 points"),
    ],
)
def test_a_change_that_can_be_found_is_named_once_in_whole_percent(after_40: float, words: str) -> None:
    assert findable_words(0.052, [FindableShift(10, 0.166), FindableShift(40, after_40)]) == words
