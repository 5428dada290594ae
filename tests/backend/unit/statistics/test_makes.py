import pytest

from iotide_server.statistics.boards import Basis
from iotide_server.statistics.comparison import Sides, Verdict, compare_board
from iotide_server.statistics.makes import make_means


def test_each_make_counts_as_the_mean_of_its_runs() -> None:
    assert make_means([2, 2, 5, 5, 5], [100, 102, 97, 99, 101]) == [101, 99]
    assert make_means([], []) == make_means([None, None], [1, 2]) == make_means([2, None], [1, 2]) == []


def test_two_makes_on_each_side_have_the_interval_of_the_t_test() -> None:
    """ln(101 / 99) = 0.0200007 and ln(121 / 119) = 0.0166671, whose half squares are the variances.

    Pooled: 0.000169455 with 2 degrees of freedom, t = 4.30265; factor 1 / 2 + 1 / 2.
    So ln B - ln A = 0.182337 +- 4.30265 * 0.0130175 = 0.182337 +- 0.0560097.
    """
    [found] = compare_board([Sides([101, 99], [121, 119], Basis.MAKES)])
    assert found.interval is not None
    assert (found.ratio, found.interval.low, found.interval.high) == pytest.approx(
        (1.20002, 1.13465, 1.26915), rel=1e-5
    )
    assert (found.verdict, found.basis_words) == (Verdict.HIGHER, "error from the means of 2 makes")


def test_runs_of_one_make_each_are_judged_with_the_reservation() -> None:
    [found] = compare_board([Sides([100, 101, 99, 100.5], [120, 121, 119, 120.5], Basis.ONE_MAKE)])
    assert found.verdict is Verdict.HIGHER
    assert found.basis_words == "error from the scatter of runs on one make each: the make may be the cause"
