from datetime import UTC, datetime, timedelta

import pytest

from iotide_server.statistics.course import Change, Course, Effect
from iotide_server.trends.changes import match_changes
from iotide_server.trends.words import change_words, course_words, event_words

TIMES = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number) for number in range(100)]


def change(index: int) -> Change:
    return Change(index, 9, 9, 1.0, 2.0, 1.0, 0.0)


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
        (Course.TOO_SHORT, "13 points: 1 more are needed to tell whether it changed"),
        (Course.STEADY, "no change shown in 13 points"),
        (Course.CHANGED, "2 changes in 13 points"),
        (Course.DRIFT, "a slow drift of -22.0..-18.0 % over 13 points, without a moment"),
    ],
)
def test_a_course_says_no_more_than_was_shown(course: Course, words: str) -> None:
    assert course_words(course, 13, missing_points=1, changes=2, drift=(-0.22, -0.18)) == words


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        (Effect.SHIFTED, "5.0 % lower, worse: 8 points against 20 before"),
        (Effect.NONE_SHOWN, "no effect shown: 8 points against 20 before"),
        (Effect.PENDING, "8 points since then, and 4 are needed"),
        (Effect.TOO_FEW_BEFORE, "20 points before it are too few to judge it by"),
    ],
)
def test_an_event_is_told_with_what_it_did(effect: Effect, words: str) -> None:
    assert event_words(effect, -0.05, 20, 8, "higher") == words
