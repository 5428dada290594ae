from math import exp
from random import Random

import pytest

from iotide_server.statistics.outliers import outlier_bounds


def test_fewer_than_four_runs_have_no_outlier() -> None:
    assert outlier_bounds([1.0, 1.0, 900.0]) is None


@pytest.mark.parametrize(("value", "is_held"), [(247.0, True), (248.0, False), (0.0, True)])
def test_the_bound_of_five_runs_is_their_number_of_deviations(value: float, *, is_held: bool) -> None:
    bounds = outlier_bounds([100.0, 105.0, 110.0, 115.0, 120.0])  # the deviations 0, 5, 5, 10, 10 have the median 5
    assert bounds is not None
    assert (bounds.low, bounds.median, bounds.high) == (0.0, 110.0, 247.5)
    assert bounds.hold(value) is is_held


@pytest.mark.parametrize("run_count", [4, 5, 7, 10, 13, 18, 28])
@pytest.mark.parametrize("scatter", [0.02, 0.06, 0.1])
def test_one_ordinary_cell_in_a_hundred_has_an_outlier(run_count: int, scatter: float) -> None:
    random = Random(31 * run_count)  # noqa: S311 - noise, no secret
    cells = 4000
    found = 0
    for _ in range(cells):
        values = [100 * exp(scatter * random.gauss()) for _ in range(run_count)]
        bounds = outlier_bounds(values)
        found += bounds is not None and not all(map(bounds.hold, values))
    assert found / cells == pytest.approx(0.01, abs=0.005)


@pytest.mark.parametrize(("run_count", "value_count"), [(4, 10), (5, 100), (10, 30), (30, 100)])
def test_values_that_are_judged_together_share_that_rate(run_count: int, value_count: int) -> None:
    random = Random(run_count)  # noqa: S311 - noise, no secret
    cells = 2000 if value_count < 100 else 600
    found = 0
    for _ in range(cells):
        sets = [[random.gauss(100, 5) for _ in range(run_count)] for _ in range(value_count)]
        bounds = [(outlier_bounds(values, value_count), values) for values in sets]
        found += not all(one is not None and all(map(one.hold, values)) for one, values in bounds)
    assert found / cells <= 0.02


def test_a_halved_run_of_four_steady_ones_is_found() -> None:
    bounds = outlier_bounds([100.0, 101.0, 99.0, 50.0])
    assert bounds is not None
    assert not bounds.hold(50.0)
    assert all(map(bounds.hold, (100.0, 101.0, 99.0)))


def test_runs_that_are_all_alike_may_differ_by_three_percent() -> None:
    bounds = outlier_bounds([100.0, 100.0, 100.0, 100.0, 102.0])
    assert bounds is not None
    assert bounds.hold(102.9)
    assert not bounds.hold(103.1)


def test_one_far_run_does_not_hide_itself_by_its_own_distance() -> None:
    bounds = outlier_bounds([100.0, 101.0, 99.0, 100.5, 1e9])
    assert bounds is not None
    assert not bounds.hold(1e9)
