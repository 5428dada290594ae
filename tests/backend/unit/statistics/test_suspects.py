import pytest

from iotide_server.statistics.outliers import suspect

STEADY = [100.0, 101.0, 99.0, 100.0, 100.5]


@pytest.mark.parametrize(
    ("newest", "is_higher"),
    [([90.0, 100.0, 90.0], False), ([100.0, 110.0, 111.0], True), ([110.0, 90.0, 91.0], False)],
)
def test_two_of_three_runs_on_one_side_are_suspect(newest: list[float], *, is_higher: bool) -> None:
    found = suspect(STEADY + newest)
    assert found is not None
    assert (found.centre, found.is_higher) == (100.0, is_higher)


@pytest.mark.parametrize(
    "newest",
    [[90.0, 100.0, 100.0], [90.0, 100.0, 110.0], [97.5, 97.5, 97.5], [100.0, 100.0, 100.0]],
    ids=["one run", "one on each side", "within 3 %", "as ever"],
)
def test_one_run_both_sides_or_a_small_shift_are_not(newest: list[float]) -> None:
    assert suspect(STEADY + newest) is None


def test_below_eight_runs_nothing_is_suspect() -> None:
    assert suspect([*STEADY[:4], 50.0, 50.0, 50.0]) is None
    assert suspect([*STEADY, 50.0, 50.0, 50.0]) is not None


def test_bounds_are_wider_for_scattered_runs() -> None:
    scattered = [100.0, 105.0, 95.0, 110.0, 90.0]
    assert suspect([*scattered, 85.0, 85.0, 85.0]) is None
    assert suspect([*scattered, 75.0, 75.0, 75.0]) is not None
