import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.statistics.comparison import Modes, two_modes


def test_runs_that_a_cache_served_at_times_have_two_modes() -> None:
    assert two_modes([100.0, 400.0, 101.0, 404.0, 402.0]) == Modes(100.5, 2, 402.0, 3)


@pytest.mark.parametrize(
    "values",
    [
        [100.0, 101.0, 102.0, 400.0],  # one run alone is an outlier
        [100.0, 120.0, 200.0, 220.0],  # a gap of four times the spread
        [100.0, 100.0, 104.0, 104.0],  # too near for anybody to care
        [100.0, 100.0, 400.0],
        [5.0] * 6,
    ],
)
def test_what_has_no_second_run_no_wide_gap_or_too_few_runs_has_one_mode(values: list[float]) -> None:
    assert two_modes(values) is None


def test_runs_that_scatter_normally_are_seldom_taken_for_two_modes() -> None:
    random = np.random.default_rng(4)
    for runs in range(4, 11):
        taken = sum(two_modes(list(100 * (1 + 0.05 * random.standard_normal(runs)))) is not None for _ in range(2000))
        assert taken / 2000 < 0.05


@given(st.lists(st.floats(1.0, 1e9), min_size=4, max_size=30))
def test_modes_are_apart_and_hold_all_runs(values: list[float]) -> None:
    found = two_modes(values)
    if found is not None:
        assert found.low < found.high
        assert found.low_runs + found.high_runs == len(values)
        assert min(found.low_runs, found.high_runs) >= 2
