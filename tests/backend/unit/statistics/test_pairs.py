from datetime import UTC, datetime, timedelta
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from iotide_server.statistics.boards import Basis
from iotide_server.statistics.comparison import Comparison, Sides, Verdict, compare, compare_board
from iotide_server.statistics.pairs import TimedRun, _critical_rank, neighbours, signed_rank_interval

START = datetime(2026, 11, 1, tzinfo=UTC)


def timed(minutes: list[int], centre: float) -> dict[int, TimedRun]:
    runs = enumerate(minutes, start=1)
    return {repeat: TimedRun(START + timedelta(minutes=one), centre + repeat) for repeat, one in runs}


def test_runs_that_took_turns_are_pairs_by_repeat() -> None:
    a, b = timed([0, 3, 4, 7], 100), timed([1, 2, 5, 6], 200)
    assert neighbours(a, b) == ([101, 102, 103, 104], [201, 202, 203, 204])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([0, 1, 2, 3], [4, 5, 6, 7]),  # one after the other
        ([0, 3, 4], [1, 2, 5]),  # too few
        ([0, 3, 4, 7, 8, 9, 10, 11, 12], [1, 2, 5, 6]),  # most are without a neighbour
    ],
)
def test_other_runs_are_no_pairs(a: list[int], b: list[int]) -> None:
    assert neighbours(timed(a, 100), timed(b, 200)) is None


@pytest.mark.parametrize(("pairs", "largest"), [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (15, 25), (20, 52)])
def test_the_rank_of_the_interval_is_that_of_printed_tables(pairs: int, largest: int) -> None:
    assert _critical_rank(pairs) - 1 == largest


def test_the_rank_of_the_interval_is_that_of_all_signs() -> None:
    sums = [sum(rank for rank, sign in enumerate(signs, start=1) if sign) for signs in product([0, 1], repeat=9)]
    rank = _critical_rank(9)
    assert np.mean([one < rank for one in sums]) <= 0.025 < np.mean([one <= rank for one in sums])
    assert abs(_critical_rank(61) - _critical_rank(60)) < 30


@given(st.lists(st.floats(-1, 1), min_size=6, max_size=15))
def test_a_ratio_of_pairs_lies_in_its_interval(differences: list[float]) -> None:
    ratio, low, high = signed_rank_interval(differences)
    assert low <= ratio <= high


def test_five_pairs_have_no_exact_interval() -> None:
    with pytest.raises(ValueError, match="6 pairs"):
        signed_rank_interval([0.1] * 5)


def test_p_is_that_of_the_paired_t_test() -> None:
    a, b = [100.0, 102.0, 104.0, 106.5, 108.0], [101.0, 102.5, 105.9, 107.0, 109.0]
    (found,) = compare_board([Sides(a, b, Basis.PAIRS)])
    assert found.p_value == pytest.approx(ttest_rel(np.log(a), np.log(b)).pvalue * 0.05 / 0.04)
    assert found.basis_words == "error from 5 pairs of neighbouring runs"
    assert found.interval is not None
    assert found.interval.low > 1 > 1 / found.interval.high


def drifting(random: np.random.Generator, count: int, ratio: float) -> Sides:
    """Return runs A B B A that get 1 % slower from run to run, with a scatter of 2 %."""
    order = [side for number in range(count) for side in ("ab" if number % 2 == 0 else "ba")]
    values = 100 * np.exp(-0.01 * np.arange(2 * count) + 0.02 * random.standard_normal(2 * count))
    a, b = ([value for value, one in zip(values, order, strict=True) if one == side] for side in "ab")
    return Sides(a, [ratio * value for value in b], Basis.PAIRS)


def test_pairs_see_through_a_drift_that_hides_the_difference_from_runs() -> None:
    random = np.random.default_rng(37)
    sides = [drifting(random, 10, 0.95) for _ in range(200)]

    def share(found: list[Comparison]) -> float:
        return float(np.mean([bool(one.is_discovery) for one in found]))

    assert share([compare_board([one])[0] for one in sides]) >= 0.9
    assert share([compare(one.a, one.b) for one in sides]) <= 0.3
    equal = [compare_board([drifting(random, 10, 1.0)])[0] for _ in range(400)]
    assert share(equal) <= 0.06


def test_words_of_pairs_name_the_direction() -> None:
    (found,) = compare_board([Sides([100.0] * 6, [120.0, 121, 119, 120, 122, 118], Basis.PAIRS)])
    assert found.verdict is Verdict.HIGHER
    assert found.words.startswith("B 1")
