from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.overview.standing import (
    ORDER,
    AgreedChange,
    Gone,
    JudgedSeries,
    OverShift,
    SeriesState,
    Spread,
    judge,
    sum_up,
)
from iotide_server.statistics.course import Course, DriftShape
from iotide_server.trends.changes.drift import Drift, DriftPoint

NOW = datetime(2026, 11, 20, tzinfo=UTC)
DRIFT = Drift(
    shape=DriftShape.LINE,
    shift_ratio=-0.1,
    low=-0.12,
    high=-0.08,
    start=100.0,
    end=90.0,
    start_at=datetime(2026, 1, 1, tzinfo=UTC),
    end_at=NOW,
    path=[DriftPoint(at=datetime(2026, 1, 1, tzinfo=UTC), value=100.0), DriftPoint(at=NOW, value=90.0)],
)


def gone(*levels: float, better: str = "higher", expected: tuple[int, ...] = (), **details: object) -> Gone:
    """Return a series that starts at the first level and steps to each of the others, one a day."""
    steps = [
        AgreedChange(NOW + timedelta(days=day), day, before, after, is_expected=day in expected)
        for day, (before, after) in enumerate(pairwise(levels), start=1)
    ]
    course = Course.CHANGED if steps else Course.STEADY
    known: dict[str, Any] = {"course": course, "better": better, "point_count": 60, "missing_points": 0, "last_at": NOW}
    return Gone(**known | {"steps": steps} | details)


@pytest.mark.parametrize(
    ("series", "state", "day"),
    [
        (gone(100.0), SeriesState.IN_CONTROL, None),
        (gone(100.0, 80.0), SeriesState.SLOWER, 1),
        (gone(1.0, 1.3, better="lower"), SeriesState.SLOWER, 1),
        (gone(1.0, 0.7, better="lower"), SeriesState.FASTER, 1),
        (gone(100.0, 120.0, 100.0), SeriesState.SLOWER, 2),
        (gone(100.0, 120.0, 80.0, 119.0), SeriesState.FASTER, 1),
        (gone(100.0, 80.0, 98.0, 96.0), SeriesState.SLOWER, 3),
        (gone(100.0, 80.0, 90.0, 70.0), SeriesState.SLOWER, 1),
        (gone(100.0, 80.0, 120.0), SeriesState.FASTER, 2),
        (gone(100.0, 120.0, 80.0), SeriesState.SLOWER, 2),
        (gone(100.0, 80.0, 101.0, 85.0), SeriesState.SLOWER, 3),
        (gone(100.0, 80.0, expected=(1,)), SeriesState.IN_CONTROL, None),
        (gone(100.0, 80.0, 70.0, expected=(1,)), SeriesState.SLOWER, 2),
        (gone(100.0, 80.0, 100.0, expected=(1,)), SeriesState.FASTER, 2),
        (gone(0.0, 5.0), SeriesState.FASTER, 1),
    ],
)
def test_a_series_is_judged_by_its_current_level_since_it_left_the_normal_one(
    series: Gone, state: SeriesState, day: int | None
) -> None:
    judged = judge(series)
    assert (judged.state, judged.cell_id) == (state, day)
    assert judged.since == (None if day is None else NOW + timedelta(days=day))


def test_the_words_and_the_ratio_compare_now_with_the_healthy_level() -> None:
    assert judge(gone(100.0, 120.0, 90.0)).shift_ratio == pytest.approx(-0.25)
    assert judge(gone(100.0, 80.0, 130.0)).shift_ratio == pytest.approx(0.3)
    judged = judge(gone(100.0, 90.0, 80.0))
    assert judged.shift_ratio == pytest.approx(-0.2)
    assert judged.words == "20.0 % lower than before"
    assert judge(gone(0.0, 5.0)).words == "no longer 0"


def test_what_recovered_is_in_control_and_the_words_report_it_where_that_lies_in_the_period() -> None:
    back = gone(100.0, 82.0, 101.0)
    judged_series = judge(back, NOW + timedelta(days=2))
    words = "recovered on 22 Nov 2026: was 18.0 % lower since 21 Nov 2026"
    assert judged_series == JudgedSeries(SeriesState.IN_CONTROL, NOW + timedelta(days=2), 2, None, words)
    later = judge(back, NOW + timedelta(days=3))
    assert later == JudgedSeries(SeriesState.IN_CONTROL, None, None, None, "at its healthy level (60 points)")
    assert judge(gone(100.0)).words == "no significant change in 60 points"


level = st.floats(1, 1000, allow_nan=False)
better_sides = st.sampled_from(["higher", "lower"])


@given(st.lists(level, min_size=1, max_size=12), st.sets(st.integers(1, 11)), st.integers(-1, 13), better_sides)
def test_the_state_does_not_depend_on_where_the_period_begins(
    path: list[float], expected: set[int], day: int, better: str
) -> None:
    series = gone(*path, better=better, expected=tuple(expected))
    judged, other = judge(series, NOW + timedelta(days=day)), judge(series)
    assert (judged.state, judged.shift_ratio) == (other.state, other.shift_ratio)
    accepted = max((one for one in expected if one < len(path)), default=0)
    kept = [value if better == "higher" else -value for value in path[accepted:]]
    if judged.state is SeriesState.SLOWER:
        assert kept[-1] < max(kept)
    if judged.state is SeriesState.FASTER:
        assert kept[-1] > kept[0]
    if kept[-1] < max(kept) - 0.07 * max(map(abs, kept)):
        assert judged.state is SeriesState.SLOWER


@given(st.lists(level, min_size=1, max_size=8), st.floats(0.5, 0.96), st.floats(0.98, 1.02))
def test_a_reverted_drop_leaves_the_state_unchanged(path: list[float], drop: float, back: float) -> None:
    before = judge(gone(*path))
    if before.state is SeriesState.IN_CONTROL:
        assert judge(gone(*path, path[-1] * drop, path[-1])).state is SeriesState.IN_CONTROL
    if len(path) == 1:
        assert judge(gone(*path, path[0] * drop, path[0] * back)).state is SeriesState.IN_CONTROL


def test_a_drift_has_a_direction_and_no_moment() -> None:
    judged = judge(gone(100.0, course=Course.DRIFT, drift=DRIFT))
    assert (judged.state, judged.since, judged.shift_ratio) == (SeriesState.SLOWER, None, -0.1)
    assert judged.words == "gradual decline, \u221210.0 % since 1 Jan 2026 (60 points), no single start date"


def test_a_wave_is_neither_faster_nor_slower() -> None:
    path = [DriftPoint(at=NOW, value=value) for value in (100.0, 121.0, 95.0)]
    wave = DRIFT.model_copy(update={"shape": DriftShape.WAVE, "path": path})
    judged = judge(gone(100.0, course=Course.DRIFT, drift=wave))
    assert (judged.state, judged.shift_ratio) == (SeriesState.IN_CONTROL, None)
    assert judged.words.startswith("gradual rise and decline, up to 27.4 % apart, since 1 Jan 2026 (60 points)")


def test_a_stale_series_shows_that_first_then_that_it_is_slower_then_that_it_is_noisier() -> None:
    spread = Spread(NOW, "2.4 times as noisy")
    assert judge(gone(100.0, noisy=spread)) == JudgedSeries(SeriesState.NOISY, NOW, None, None, "2.4 times as noisy")
    assert judge(gone(100.0, 130.0, noisy=spread)).state is SeriesState.NOISY
    assert judge(gone(100.0, 80.0, noisy=spread)).state is SeriesState.SLOWER
    stopped = judge(gone(100.0, 80.0, noisy=spread, stale_words="no data since then"))
    assert (stopped.state, stopped.since, stopped.words) == (SeriesState.STALE, NOW, "no data since then")


@pytest.mark.parametrize("course", [None, Course.TOO_SHORT])
def test_without_an_analysis_or_enough_points_there_is_no_baseline(course: Course | None) -> None:
    judged = judge(gone(100.0, course=course, point_count=10, missing_points=4))
    assert judged.state is SeriesState.NO_BASELINE
    assert judged.words in {"not analysed yet", "not enough data: 10 of 14 points"}


states = st.sampled_from(SeriesState)
ratios = st.none() | st.floats(-1, 10)


@given(st.lists(st.tuples(states, ratios, st.integers(1, 1000)), min_size=1, max_size=20))
def test_many_series_are_together_what_the_gravest_is_and_none_is_lost(
    found: list[tuple[SeriesState, float | None, int]],
) -> None:
    judged = [
        (number, JudgedSeries(state, NOW, None, ratio, ""), alike) for number, (state, ratio, alike) in enumerate(found)
    ]
    summed = sum_up(judged)
    assert sum(summed.counts.values()) == sum(alike for _, _, alike in found)
    assert list(summed.counts) == sorted(summed.counts, key=ORDER.__getitem__)
    assert ORDER[summed.state] == min(ORDER[state] for state, _, _ in found)
    assert judged[summed.worst][1] is summed.judged
    assert summed.judged.state is summed.state
    shifts = [abs(one.shift_ratio or 0) for _, one, _ in judged if one.state is summed.state]
    assert abs(summed.judged.shift_ratio or 0) == max(shifts)


def test_a_drift_that_a_former_release_stored_has_no_state_until_it_is_analysed_again() -> None:
    gone = Gone(course=Course.DRIFT, better="higher", point_count=100, missing_points=0, last_at=NOW)
    judged = judge(gone)
    assert judged.state is SeriesState.NO_BASELINE
    assert "the next analysis measures it" in judged.words


def test_a_shift_that_is_over_is_named_in_the_period_of_its_end_and_changes_no_state() -> None:
    shift = OverShift(NOW, NOW + timedelta(days=5), 7, -0.18)
    series = gone(100.0, course=Course.CHANGED, over=shift)
    named = judge(series, NOW)
    assert (named.state, named.cell_id) == (SeriesState.IN_CONTROL, 7)
    assert named.words == "over since 25 Nov 2026: was 18.0 % lower since 20 Nov 2026"
    assert judge(series, NOW + timedelta(days=6)).words == "at its healthy level (60 points)"
    assert judge(gone(100.0, 80.0, over=shift), NOW).state is SeriesState.SLOWER
