import pytest

from iotide_server.statistics.outliers import outlier_bounds


def test_fewer_than_four_runs_have_no_outlier() -> None:
    assert outlier_bounds([1.0, 1.0, 900.0]) is None


@pytest.mark.parametrize(("value", "is_held"), [(135.0, True), (136.0, False), (84.0, False)])
def test_five_deviations_from_the_median_are_the_bound(value: float, *, is_held: bool) -> None:
    bounds = outlier_bounds([100.0, 105.0, 110.0, 115.0, 120.0])  # the deviations 0, 5, 5, 10, 10 have the median 5
    assert bounds is not None
    assert (bounds.low, bounds.median, bounds.high) == (85.0, 110.0, 135.0)
    assert bounds.hold(value) is is_held


def test_runs_that_are_all_alike_may_differ_by_three_percent() -> None:
    bounds = outlier_bounds([100.0, 100.0, 100.0, 100.0, 102.0])
    assert bounds is not None
    assert bounds.hold(102.9)
    assert not bounds.hold(103.1)


def test_one_far_run_does_not_hide_itself_by_its_own_distance() -> None:
    bounds = outlier_bounds([100.0, 101.0, 99.0, 100.5, 1e9])
    assert bounds is not None
    assert not bounds.hold(1e9)
