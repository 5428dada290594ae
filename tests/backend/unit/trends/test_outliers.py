from datetime import UTC, datetime

from iotide_server.results.values import RunValue
from iotide_server.trends.outliers import Measure, outlier_flags
from iotide_wire.units import Unit

BEGAN_AT = datetime(2026, 11, 21, 10, tzinfo=UTC)
MEASURES = {1: Measure("Datagrams lost", Unit.COUNT)}


def numbers(*values: float) -> list[RunValue]:
    """Of a run each."""
    return [
        RunValue(1, 1, {}, run_id, run_id, None, BEGAN_AT, frozenset(), value)
        for run_id, value in enumerate(values, start=1)
    ]


def test_a_run_is_marked_where_all_others_say_zero() -> None:
    found = outlier_flags(numbers(0, 0, 0, 0, 3), MEASURES)
    assert list(found) == [5]
    [flag] = found[5]
    assert "Datagrams lost" in flag.measured


def test_runs_that_all_say_zero_are_not_marked() -> None:
    assert outlier_flags(numbers(0, 0, 0, 0), MEASURES) == {}
