from datetime import UTC, datetime, timedelta

import pytest

from iotide_server.statistics.course import Course, Effect, LevelChange
from iotide_server.trends.changes.analysis import match_changes
from iotide_server.trends.changes.drift import Drift
from iotide_server.trends.changes.words import Ended, Regained, change_words, course_words, drift_words, event_words

TIMES = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number) for number in range(100)]

DRIFT = Drift(shift_ratio=-0.22, low=-0.26, high=-0.18, start=100.0, end=78.0, start_at=TIMES[0], end_at=TIMES[12])


def change(index: int) -> LevelChange:
    return LevelChange(index, 9, 9, 1.0, 2.0, 1.0, 0.0)


def test_a_change_that_moved_by_six_points_is_the_same_and_by_seven_another() -> None:
    matched = match_changes([change(36), change(67)], [TIMES[30], TIMES[60]], TIMES)
    assert matched.known == ((change(36), 0),)
    assert (matched.new, matched.gone) == ((change(67),), (1,))


def test_each_stored_change_is_the_nearest_one_and_one_alone() -> None:
    matched = match_changes([change(30), change(34)], [TIMES[33], TIMES[29]], TIMES)
    assert matched.known == ((change(30), 1), (change(34), 0))
    assert match_changes([change(30), change(34)], [TIMES[33]], TIMES).new == (change(30),)


def test_a_change_stays_the_same_where_points_came_late_or_its_own_first_point_is_gone() -> None:
    later = [TIMES[0] - timedelta(hours=number) for number in (3, 2, 1)] + TIMES
    assert match_changes([change(33)], [TIMES[30]], later).known == ((change(33), 0),)
    without = TIMES[:30] + TIMES[31:]
    assert match_changes([change(30)], [TIMES[30]], without).known == ((change(30), 0),)


@pytest.mark.parametrize(
    ("shift", "better", "words"),
    [
        (-0.12, "higher", "12.0 % lower, worse: 40 points against 60 before"),
        (0.5, "higher", "50.0 % higher, better: 40 points against 60 before"),
        (0.5, "lower", "50.0 % higher, worse: 40 points against 60 before"),
        (0.5, "neither", "50.0 % higher: 40 points against 60 before"),
        (None, "lower", "no longer 0: 40 points against 60 before"),
    ],
)
def test_a_change_is_told_with_its_numbers_and_whether_it_is_worse(
    shift: float | None, better: str, words: str
) -> None:
    assert change_words(shift, 60, 40, better) == words


@pytest.mark.parametrize(
    ("course", "words"),
    [
        (Course.TOO_SHORT, "not judged: 13 points, 14 needed"),
        (Course.STEADY, "no change shown in 13 points; noise not judged: 30 points needed"),
        (Course.CHANGED, "2 changes in 13 points"),
        (Course.DRIFT, "gradual decline, \u221222.0 % since 1 Jan 2026 (13 points), no single start date"),
    ],
)
def test_a_course_says_no_more_than_was_shown(course: Course, words: str) -> None:
    assert course_words(course, 13, missing_points=1, changes=2, drift=DRIFT) == words


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        (Effect.SHIFTED, "5.0 % lower, worse: 8 points after it, 20 before"),
        (Effect.NONE_SHOWN, "no effect shown: 8 points after it, 20 before"),
        (Effect.PENDING, "not judged yet: 8 points after it, 4 needed"),
        (Effect.TOO_FEW_BEFORE, "not judged: 20 points before it, 6 needed"),
    ],
)
def test_an_event_is_told_with_what_it_did(effect: Effect, words: str) -> None:
    assert event_words(effect, -0.05, 20, 8, "higher") == words


def test_a_drop_that_ended_is_one_sentence_with_its_start_and_its_end() -> None:
    ended = Ended(datetime(2026, 8, 11, tzinfo=UTC), datetime(2026, 9, 20, tzinfo=UTC))
    words = change_words(-0.18, 60, 40, "higher", ended)
    assert words == "18.0 % lower from 11 Aug to 20 Sep 2026, recovered: 40 points against 60 before"


@pytest.mark.parametrize(
    ("level", "is_recovery", "words"),
    [
        (99.0, True, "50.0 % higher, back at the level before 31 Dec 2025: 9 points against 9 before"),
        (80.0, True, "50.0 % higher, still 20.0 % lower than before 31 Dec 2025: 9 points against 9 before"),
        (120.0, False, "50.0 % higher, 20.0 % higher than before 31 Dec 2025, better: 9 points against 9 before"),
    ],
)
def test_a_rise_from_a_low_level_is_compared_with_the_healthy_one(level: float, is_recovery: bool, words: str) -> None:  # noqa: FBT001
    past = Regained(level, 100.0, datetime(2025, 12, 31, tzinfo=UTC), is_recovery)
    assert change_words(0.5, 9, 9, "higher", past) == words


def test_a_drift_from_nothing_has_no_percentage() -> None:
    rising = DRIFT.model_copy(update={"shift_ratio": None, "start": 0.0})
    assert drift_words(rising, 40) == "gradual rise, since 1 Jan 2026 (40 points), no single start date"


def test_a_drift_that_the_previous_release_stored_is_not_shown_with_its_other_base() -> None:
    stored = Drift.read({"shift_ratio": -0.36, "low": -0.375, "high": -0.334})
    assert stored is None
    words = course_words(Course.DRIFT, 179, missing_points=0, changes=0, drift=stored)
    assert words == "gradual change, not measured again yet"
