"""Promised power: monotone, within its limits, and from the scatter of earlier runs."""

from math import log
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_wire.power import (
    FEWEST_REPEATS,
    MOST_REPEATS,
    POWER,
    RepeatedRuns,
    pooled_scatter,
    power,
    repeats_needed,
    smallest_difference,
)

scatters = st.floats(0.001, 0.5)
repeats = st.integers(FEWEST_REPEATS, 200)
numbers = st.sampled_from([1, 2, 12, 1000])


@given(scatters, repeats, numbers)
def test_the_smallest_difference_is_where_power_reaches_its_promise(scatter: float, runs: int, together: int) -> None:
    found = smallest_difference(scatter, runs, together)
    assert found is not None
    assert 0.05 < found <= 1
    assert power(1 - found, scatter, runs, together) >= POWER or found == 1
    assert power(1 - found + 0.0002, scatter, runs, together) < POWER


@given(scatters, st.floats(0.06, 0.6), numbers)
def test_the_repeats_needed_are_the_fewest(scatter: float, difference: float, together: int) -> None:
    found = repeats_needed(difference, scatter, together)
    if found is None:
        assert power(1 - difference, scatter, MOST_REPEATS, together) < POWER
    else:
        assert power(1 - difference, scatter, found, together) >= POWER
        assert found == FEWEST_REPEATS or power(1 - difference, scatter, found - 1, together) < POWER


@given(scatters, st.integers(FEWEST_REPEATS, 60), numbers)
def test_more_repeats_never_show_less(scatter: float, runs: int, together: int) -> None:
    fewer, more = (smallest_difference(scatter, count, together) for count in (runs, runs + 1))
    assert fewer is not None
    assert more is not None
    assert more <= fewer + 0.002


def test_fewer_than_four_repeats_promise_nothing() -> None:
    assert smallest_difference(0.06, 3) is None
    assert power(0.5, 0.06, 3) == 0


def test_runs_without_scatter_show_what_is_of_practical_size() -> None:
    assert smallest_difference(0.0, 4) == pytest.approx(0.05, abs=0.001)
    assert repeats_needed(0.03, 0.0) is None


@given(st.lists(st.floats(0.5, 2.0), min_size=2, max_size=3, unique=True))
def test_two_and_three_runs_scatter_as_their_logarithms_do(runs: list[float]) -> None:
    low, *middle, high = sorted(runs)
    point = RepeatedRuns(len(runs), middle[0] if middle else (low + high) / 2, low, high, None)
    assert pooled_scatter([point]) == pytest.approx(stdev(map(log, runs)))


def test_points_count_by_their_degrees_of_freedom() -> None:
    points = [
        RepeatedRuns(4, 1.0, 0.9, 1.1, 0.03),
        RepeatedRuns(10, 1.0, 0.9, 1.1, 0.06),
        RepeatedRuns(1, 1.0, 1.0, 1.0, None),
        RepeatedRuns(3, 0.0, 0.0, 1.0, None),
    ]
    assert pooled_scatter(points) == pytest.approx(((3 * 0.03**2 + 9 * 0.06**2) / 12) ** 0.5)
    assert pooled_scatter(points[2:]) is None
