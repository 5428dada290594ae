import numpy as np
import pytest
from factories.agreement import agreed
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from iotide_server.statistics.changepoints import FEWEST_RUNS, MOST_RUNS, analyse
from iotide_server.statistics.course import (
    LEAST_SHIFT,
    MOST_P,
    SAME_RUNS,
    SEGMENT_RUNS,
    Analysis,
    Course,
    DriftShape,
    LevelChange,
)


def runs(*levels: tuple[int, float], noise: float = 0.01, seed: int = 1) -> list[float]:
    """Return that many runs at each level, with noise of that share."""
    random = np.random.default_rng(seed)
    means = np.concatenate([np.full(count, level) for count, level in levels])
    return list(means * (1 + noise * random.standard_normal(len(means))))


def places(found: Analysis) -> list[int]:
    return [change.index for change in found.changes]


def test_a_step_is_found_where_it_is_with_what_was_before_and_after() -> None:
    found = analyse(runs((60, 1000.0), (40, 880.0)))
    (change,) = found.changes
    assert (found.course, change.index, change.runs_before, change.runs_after) == (Course.CHANGED, 60, 60, 40)
    assert change.shift_ratio == pytest.approx(-0.12, abs=0.01)
    assert (change.median_before, change.median_after) == pytest.approx((1000, 880), rel=0.01)
    assert change.p_value < MOST_P


def test_several_steps_are_found_in_time_order() -> None:
    found = analyse(runs((50, 100.0), (50, 120.0), (50, 90.0), (50, 100.0)))
    assert [change.index for change in found.changes] == [50, 100, 150]


@given(
    st.integers(-9, 9).map(lambda power: 10.0**power) | st.floats(1e-9, 1e9),
    st.floats(0.5, 0.95),
    st.lists(st.tuples(st.integers(8, 40), st.sampled_from([100.0, 90.0, 200.0, 2000.0])), min_size=1, max_size=4),
    st.integers(0, 1000),
)
def test_the_unit_of_the_values_changes_nothing_also_where_most_are_equal(
    factor: float, equal_share: float, levels: list[tuple[int, float]], seed: int
) -> None:
    random = np.random.default_rng(seed)
    values = np.concatenate([np.full(count, level) for count, level in levels])
    values *= 1 + np.where(random.random(len(values)) < equal_share, 0, random.integers(-3, 4, len(values)) / 90)
    found, other = analyse(list(values)), analyse(list(factor * values))
    assert (other.course, places(other)) == (found.course, places(found))
    assert other.memory == pytest.approx(found.memory)


@pytest.mark.parametrize(
    ("before", "after"),
    [(12e-6, 24e-6), (12e-6, 240e-6), (1e-3, 2e-3), (0.0, 0.01), (0.0, 0.3), (1.0, 0.9)],
    ids=["p50 doubled", "p50 twenty-fold", "1 ms to 2 ms", "losses of 1 %", "losses of 30 %", "a share"],
)
def test_a_step_between_repeating_values_is_found_within_five_points(before: float, after: float) -> None:
    assert places(analyse([before] * 60 + [after] * 20)) == [60]
    assert places(analyse([before] * 60 + [after] * 5)) == [60]


def test_a_halving_is_found_in_a_short_series_whose_points_resemble_the_ones_before() -> None:
    rising = [0.1 * number for number in range(12)]
    assert places(analyse([100 + more for more in rising] + [50 + more for more in rising])) == [12]
    sawtooth = [0.1 * (number % 2) for number in range(10)]
    assert places(analyse([100 + more for more in sawtooth] + [50 + more for more in sawtooth])) == [10]


@pytest.mark.parametrize(
    "steady",
    [
        [100.0] * 50,
        runs((200, 100.0), noise=0.05),
        runs((60, 100.0), (1, 50.0), (60, 100.0)),
        runs((60, 100.0), (4, 50.0), (60, 100.0)),
        runs((100, 100.0), (100, 102.0), noise=0.001),
        runs((40, 100.0), (40, 130.0)) and [100.0, 130.0] * 40,
    ],
    ids=["constant", "noisy", "one wild run", "four wild runs", "a shift below 3 %", "two modes in turn"],
)
def test_a_series_without_a_change_of_level_is_steady(steady: list[float]) -> None:
    assert analyse(steady).course is Course.STEADY


def test_too_few_runs_get_no_answer_but_how_many_more_are_needed() -> None:
    values = runs((5, 100.0), (9, 50.0), noise=0.001)
    assert analyse(values[:-1]) == Analysis(Course.TOO_SHORT, 13, missing_runs=1)
    assert [change.index for change in analyse(values).changes] == [5]
    assert analyse([]).missing_runs == FEWEST_RUNS


def test_a_slow_change_is_a_drift_and_no_row_of_steps() -> None:
    falling = [value * level for value, level in zip(runs((200, 100.0)), np.linspace(1, 0.8, 200), strict=True)]
    found = analyse(falling)
    assert (found.course, found.changes) == (Course.DRIFT, ())
    assert found.drift is not None
    assert found.drift.low is not None
    assert found.drift.shift_ratio is not None
    assert found.drift.high is not None
    assert found.drift.low < found.drift.shift_ratio < found.drift.high < 0
    assert found.drift.shift_ratio == pytest.approx(-0.2, abs=0.02)


def test_a_drift_is_reported_as_a_share_of_its_value_at_the_start() -> None:
    line = np.linspace(13_127, 9_101, 179)
    drift = analyse(list(line)).drift
    assert drift is not None
    assert (drift.start, drift.end) == pytest.approx((13_127, 9_101))
    assert drift.shift_ratio == pytest.approx(-0.307, abs=0.001)
    noisy = line * (1 + 0.02 * np.random.default_rng(4).standard_normal(len(line)))
    around = analyse(list(noisy)).drift
    assert around is not None
    assert around.low is not None
    assert around.high is not None
    assert around.low < -0.307 < around.high
    assert (around.low, around.high) == pytest.approx((-0.307, -0.307), abs=0.02)


@given(st.integers(FEWEST_RUNS, 400), st.floats(1.0, 1e12), st.floats(0.1, 10.0).filter(lambda of: abs(of - 1) > 0.1))
def test_the_drift_of_a_straight_line_is_its_gain_relative_to_its_start_for_any_length(
    count: int, start: float, factor: float
) -> None:
    drift = analyse(list(np.linspace(start, start * factor, count))).drift
    assert drift is not None
    for ratio in (drift.low, drift.shift_ratio, drift.high):
        assert ratio == pytest.approx(factor - 1, rel=1e-6)


def test_the_interval_of_a_drift_holds_the_true_one_about_as_often_as_claimed() -> None:
    random = np.random.default_rng(11)
    line = np.linspace(100.0, 70.0, 80)
    analyses = [analyse(list(line * (1 + 0.03 * random.standard_normal(len(line))))) for _ in range(200)]
    drifts = [found.drift for found in analyses if found.drift is not None]
    lines = [drift for drift in drifts if drift.shape is DriftShape.LINE]
    held = sum(drift.low <= -0.3 <= drift.high for drift in lines if drift.low and drift.high)
    assert len(drifts) >= 190
    assert len(lines) >= 170
    assert 0.9 <= held / len(lines) <= 0.99


def test_a_drift_that_begins_at_nothing_has_no_ratio() -> None:
    drift = analyse(list(np.linspace(0.0, 100.0, 40))).drift
    assert drift is not None
    assert (drift.shift_ratio, drift.low, drift.high) == (None, None, None)
    assert (drift.start, drift.end) == pytest.approx((0.0, 100.0), abs=1e-9)


@pytest.mark.parametrize("memory", [0.3, 0.6])
def test_correlated_noise_is_rarely_a_drift_or_a_change(memory: float) -> None:
    random = np.random.default_rng(7)
    courses = []
    for _ in range(100):
        noise = np.zeros(100)
        for number in range(1, 100):
            noise[number] = memory * noise[number - 1] + random.standard_normal()
        courses.append(analyse(list(100 + 2 * noise)).course)
    assert sum(course is not Course.STEADY for course in courses) <= 8


def remembering(random: np.random.Generator, count: int, memory: float) -> NDArray[np.float64]:
    """Return normal noise of variance 1 with that lag-1 autocorrelation."""
    values = random.standard_normal(count)
    for number in range(1, count):
        values[number] = memory * values[number - 1] + np.sqrt(1 - memory**2) * values[number]
    return values


@pytest.mark.parametrize("memory", [0.0, 0.6])
def test_a_halving_in_24_runs_is_found_with_any_memory(memory: float) -> None:
    random = np.random.default_rng(12)
    level = np.repeat([100.0, 50.0], 12)
    found = [places(analyse(list(level * (1 + 0.02 * remembering(random, 24, memory))))) for _ in range(100)]
    assert sum(any(abs(place - 12) <= 3 for place in each) for each in found) >= 90


def test_runs_that_resemble_the_ones_before_need_more_of_them_for_a_change() -> None:
    random = np.random.default_rng(3)
    noise = np.zeros(200)
    for number in range(1, 200):
        noise[number] = 0.9 * noise[number - 1] + random.standard_normal()
    wandering = analyse(list(100 + 2 * noise))
    assert wandering.memory > 0.5
    assert wandering.course is not Course.CHANGED or all(change.p_value < MOST_P for change in wandering.changes)


def test_only_the_newest_runs_of_a_very_long_series_count_and_keep_their_numbers() -> None:
    values = runs((MOST_RUNS, 100.0), (100, 80.0))
    assert [change.index for change in analyse(values).changes] == [MOST_RUNS]
    assert analyse(values).run_count == MOST_RUNS + 100


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_value_that_is_none_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        analyse([*runs((20, 1.0)), bad])


def test_analyses_agree_on_a_change_that_moved_by_six_runs_and_not_by_seven() -> None:
    def analysis(run_count: int, *indices: int) -> Analysis:
        changes = tuple(LevelChange(index, 9, 9, 1.0, 2.0, 1.0, 0.0) for index in indices)
        return Analysis(Course.CHANGED, run_count, changes)

    later = analysis(102, 30, 60)
    assert agreed(analysis(100, 30 + SAME_RUNS, 60 - SAME_RUNS - 1), later) == later.changes[:1]
    assert agreed(analysis(100, 30, 60), analysis(101, 60), later) == later.changes[1:]
    assert agreed(analysis(100), later) == ()
    for too_few in ((101,), (102,), (100, 100), (100, 103)):
        with pytest.raises(ValueError, match="102"):
            agreed(*(analysis(run_count, 30) for run_count in too_few), later)


@given(
    st.lists(st.sampled_from([1.0, 1.01, 1.5, 2.0, 3.0]), max_size=60),
    st.lists(st.tuples(st.integers(5, 30), st.floats(1.0, 4.0)), max_size=4),
)
def test_each_reported_change_is_guarded_for_any_values(noise: list[float], levels: list[tuple[int, float]]) -> None:
    values = [level for count, level in levels for _ in range(count)] + noise
    found = analyse(values)
    assert (found.course is Course.CHANGED) == bool(found.changes)
    assert (found.course is Course.DRIFT) == (found.drift is not None)
    ends = [0, *(change.index for change in found.changes), len(values)]
    for change, start, end in zip(found.changes, ends, ends[2:], strict=False):
        assert (change.runs_before, change.runs_after) == (change.index - start, end - change.index)
        assert min(change.runs_before, change.runs_after) >= SEGMENT_RUNS
        assert abs(change.shift_ratio) >= LEAST_SHIFT
        assert change.p_value < MOST_P
