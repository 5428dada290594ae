from datetime import UTC, datetime

from iotide_server.results.values import RunValue
from iotide_server.trends.outliers import Measure, outlier_flags
from iotide_wire.units import Unit

BEGAN_AT = datetime(2026, 11, 21, 10, tzinfo=UTC)
MEASURES = {
    1: Measure("datagrams_lost", "Datagrams lost", Unit.COUNT),
    2: Measure("duration", "Duration", Unit.SECONDS),
}
PRIMARY = {"datagrams_lost"}


def numbers(*values: float, series_id: int = 1, **labels: int) -> list[RunValue]:
    """Of a run each."""
    return [
        RunValue(1, series_id, labels, run_id, run_id, None, BEGAN_AT, frozenset(), value)
        for run_id, value in enumerate(values, start=1)
    ]


def test_a_run_is_marked_where_all_others_say_zero() -> None:
    found = outlier_flags(numbers(0, 0, 0, 0, 3), MEASURES, PRIMARY)
    assert list(found) == [5]
    [flag] = found[5]
    assert "Datagrams lost" in flag.measured


def test_runs_that_all_say_zero_are_not_marked() -> None:
    assert outlier_flags(numbers(0, 0, 0, 0), MEASURES, PRIMARY) == {}


def test_only_a_number_that_stands_for_the_run_makes_it_an_outlier() -> None:
    assert outlier_flags(numbers(1, 1, 1, 1, 9, series_id=2), MEASURES, PRIMARY) == {}
    assert list(outlier_flags(numbers(1, 1, 1, 1, 9, series_id=2), MEASURES, {"duration"})) == [5]


def test_one_of_several_writers_makes_no_outlier_of_a_run_whose_total_is_like_the_others() -> None:
    of_writer, of_all = numbers(5, 5, 5, 5, 9, writer=1), numbers(9, 9, 9, 9, 9)
    assert outlier_flags([*of_writer, *of_all], MEASURES, PRIMARY) == {}
    assert list(outlier_flags(of_writer, MEASURES, PRIMARY)) == [5]


def test_a_limit_is_not_below_zero() -> None:
    found = outlier_flags(numbers(3.62e-3, 516e-6, 100e-6, 900e-6, 516e-6, series_id=2), MEASURES, {"duration"})
    [flag] = found[1]
    assert flag.limit == "0 s to 2.44 ms: the median 516 us of 5 runs -+ 5 MAD"
