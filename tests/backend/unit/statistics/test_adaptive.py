import numpy as np
import pytest
from repeats_adaptive import simulate

from iotide_server.statistics.adaptive import LOOKS, median_interval, next_look, rank_of, resembles_before


def test_ranks_at_the_looks_are_those_of_a_97_percent_sign_test() -> None:
    assert [rank_of(look) for look in LOOKS] == [1, 2, 4, 7, 13]
    assert [rank_of(count) for count in (0, 1, 6, 7)] == [None, None, None, 1]


def test_the_interval_is_made_of_order_statistics_and_ignores_one_outlier_of_twelve() -> None:
    values = [100.0, 101.0, 99.0, 102.0, 98.0, 100.5, 99.5, 101.5, 98.5, 100.2, 99.8, 10.0]
    found = median_interval(values)
    assert found is not None
    assert (found.low, found.high) == (98.0, 101.5)
    assert found.median == pytest.approx(99.9)
    assert found.half_width_ratio == pytest.approx(1.75 / 99.9)
    assert median_interval(values[:6]) is None


def test_a_median_of_zero_is_never_narrow_unless_all_runs_are_equal() -> None:
    around_zero, all_zero = median_interval([-1.0, 1.0] * 4), median_interval([0.0] * 8)
    assert around_zero is not None
    assert all_zero is not None
    assert around_zero.half_width_ratio == float("inf")
    assert all_zero.half_width_ratio == 0.0


def test_looks_end_at_the_most_runs_of_the_plan() -> None:
    assert [next_look(count, 40) for count in (0, 7, 8, 12, 16, 24, 39, 40)] == [8, 8, 12, 16, 24, 40, 40, None]
    assert [next_look(count, 20) for count in (0, 12, 16, 20)] == [8, 16, 20, None]
    assert [next_look(count, 8) for count in (0, 8)] == [8, None]


def test_runs_that_follow_a_drift_resemble_the_one_before_and_shuffled_ones_do_not() -> None:
    drift = [float(run) for run in range(16)]
    assert resembles_before(drift)
    assert not resembles_before([*drift[::2], *drift[1::2]][::3] * 2)
    assert not resembles_before(drift[:11])
    assert not resembles_before([5.0] * 16)


@pytest.mark.parametrize(("scatter", "mean_runs"), [(0.5, 8.4), (1.0, 14.9), (2.0, 34.8)])
def test_coverage_and_runs_are_those_of_the_documentation(scatter: float, mean_runs: float) -> None:
    random = np.random.default_rng(31)
    plain = simulate(random, scatter, outliers=False, cells=2_000)
    slowed = simulate(random, scatter, outliers=True, cells=2_000)
    assert plain.mean_runs == pytest.approx(mean_runs, abs=1.0)
    assert min(plain.coverage, slowed.coverage) >= 0.955
