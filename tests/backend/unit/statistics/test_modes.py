import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.statistics.modes import Modes, two_modes


def test_runs_that_a_cache_served_at_times_have_two_modes() -> None:
    assert two_modes([100.0, 400.0, 101.0, 404.0, 402.0, 101.0]) == Modes(101.0, 3, 402.0, 3)


def test_two_disturbed_runs_of_ten_are_outliers_and_no_mode() -> None:
    steady = [100.0 + number / 10 for number in range(8)]
    assert two_modes([*steady, 50.0, 50.1]) is None
    assert two_modes([*steady, 50.0, 50.1, 50.2]) is not None
    assert two_modes([*steady, *steady, 50.0, 50.1, 50.2]) is None  # less than a fifth


@pytest.mark.parametrize(
    "values",
    [
        [100.0, 101.0, 102.0, 101.0, 400.0, 401.0],  # two runs are outliers
        [100.0, 120.0, 110.0, 200.0, 210.0, 220.0],  # a gap of four times the spread
        [100.0, 100.0, 100.0, 104.0, 104.0, 104.0],  # too near to matter
        [100.0, 100.0, 400.0, 400.0],
        [5.0] * 6,
    ],
)
def test_few_runs_or_no_wide_gap_mean_one_mode(values: list[float]) -> None:
    assert two_modes(values) is None


def test_runs_that_scatter_normally_are_rarely_taken_for_two_modes() -> None:
    random = np.random.default_rng(4)
    for runs in range(6, 11):
        taken = sum(two_modes(list(100 * (1 + 0.05 * random.standard_normal(runs)))) is not None for _ in range(2000))
        assert taken / 2000 < 0.01


@given(st.lists(st.floats(1.0, 1e9), min_size=4, max_size=30))
def test_modes_are_apart_and_hold_all_runs(values: list[float]) -> None:
    found = two_modes(values)
    if found is not None:
        assert found.low < found.high
        assert found.low_runs + found.high_runs == len(values)
        assert min(found.low_runs, found.high_runs) >= max(3, len(values) / 5)
