"""Comparison with printed tables of critical values."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.statistics.comparison import (
    Verdict,
    _critical_rank,
    _orders,
    compare,
    geometric_mean,
    hodges_lehmann,
)

A = [100.0, 101.0, 99.0, 100.5, 98.5, 100.2]


def times(factor: float, values: list[float] = A) -> list[float]:
    return [factor * value for value in values]


@pytest.mark.parametrize(
    ("a", "b", "critical"),
    # Largest U that is significant at 5 %, two-sided: Hollander, Wolfe and Chicken, table A.5, and other tables of U
    [(4, 4, 0), (4, 5, 1), (5, 5, 2), (5, 6, 3), (6, 6, 5), (7, 7, 8), (8, 8, 13), (10, 10, 23), (20, 20, 127)],
)
def test_the_rank_of_the_interval_is_that_of_printed_tables(a: int, b: int, critical: int) -> None:
    assert _critical_rank(a, b) - 1 == critical
    assert _critical_rank(b, a) - 1 == critical


@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 3), (3, 2), (4, 4), (5, 3)])
def test_the_orders_are_those_that_are_counted_one_by_one(a: int, b: int) -> None:
    counted = np.zeros(a * b + 1)
    for places in combinations(range(a + b), a):
        counted[sum(place - number for number, place in enumerate(places))] += 1
    assert _orders(a, b) == list(counted)
    assert sum(counted) == comb(a + b, a)


def test_beyond_what_can_be_counted_the_rank_goes_on_smoothly() -> None:
    assert abs(_critical_rank(30, 31) - _critical_rank(30, 30)) < 20


@pytest.mark.parametrize(
    ("b", "verdict", "words"),
    [
        (times(1.0), Verdict.EQUAL, "equal within 5 % (0.0 %)"),
        (times(1.03), Verdict.EQUAL, "equal within 5 % (+3.0 %)"),
        ([90.0, 115.0, 95.0, 121.0], Verdict.NO_DIFFERENCE_SHOWN, "not significant: "),
        (times(1.045), Verdict.BELOW_PRACTICAL, "+2.9"),
        (times(1.12), Verdict.HIGHER, "B 10"),
        (times(0.8), Verdict.LOWER, "% lower"),
        (A[:1], Verdict.ONE_RUN, "1 run"),
        (A[:3], Verdict.FEW_RUNS, "3 runs: too few for an interval; 1 more needed"),
        ([20.0, 20.1, 100.0, 100.1, 20.05, 100.2], Verdict.TWO_MODES, "two modes (cache?)"),
    ],
)
def test_the_verdict_follows_from_interval_and_runs(b: list[float], verdict: Verdict, words: str) -> None:
    found = compare(A, b)
    assert found.verdict is verdict
    assert words in found.words


def test_below_four_runs_nothing_but_the_ratio_of_medians_is_given() -> None:
    found = compare(A[:3], times(2.0))
    assert found.median_ratio == pytest.approx(2, rel=0.01)
    assert (found.ratio, found.interval, found.p_value) == (None, None, None)
    assert compare(A[:1], A).median_ratio is None


def test_two_modes_get_no_ratio_but_both_modes_with_their_runs() -> None:
    found = compare([20.0, 20.1, 20.2, 100.0, 100.1, 100.2, 100.3], A)
    assert (found.ratio, found.median_ratio, found.modes_b) == (None, None, None)
    assert found.modes_a is not None
    assert (found.modes_a.low_runs, found.modes_a.high_runs) == (3, 4)


@pytest.mark.parametrize("bad", [[], [float("nan")], [1.0, float("inf")]])
def test_a_value_that_is_no_number_is_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        compare(A, bad)


def test_a_value_of_nothing_has_no_ratio() -> None:
    found = compare([0.0, 0.0, 3.0, 1.0], A)
    assert (found.verdict, found.ratio, found.words) == (Verdict.NO_RATIO, None, "no ratio: a value is 0 or negative")


positive = st.lists(st.floats(1.0, 1000.0), min_size=4, max_size=12)


@given(positive, positive)
def test_a_ratio_lies_in_its_interval_and_turns_round_with_the_sides(a: list[float], b: list[float]) -> None:
    ratio, interval = hodges_lehmann(a, b)
    assert interval.low <= ratio <= interval.high
    back, inverse = hodges_lehmann(b, a)
    assert back == pytest.approx(1 / ratio)
    assert (inverse.low, inverse.high) == pytest.approx((1 / interval.high, 1 / interval.low))


@given(positive, positive, st.floats(0.5, 2.0))
def test_a_ratio_follows_a_change_of_one_side(a: list[float], b: list[float], factor: float) -> None:
    ratio, _ = hodges_lehmann(a, b)
    assert hodges_lehmann(a, times(factor, b))[0] == pytest.approx(factor * ratio)


def test_the_mean_of_ratios_and_that_of_their_inverses_agree() -> None:
    assert geometric_mean([2.0, 0.5]) == pytest.approx(1)
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4)
