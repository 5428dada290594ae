"""Forecast of a run's load time from earlier measurements there."""

from dataclasses import replace

import pytest

from iotide_server.results.forecast.pace import PastCell, PlannedLoad, idle_sample_seconds, load_seconds
from iotide_server.results.forecast.service import two_digits
from iotide_wire.units import MIB


def wanted(
    moved: float = 0.0, *, sha: str = "new", nodes: int = 1, share: float = 1.0, seconds: float = 0.0
) -> PlannedLoad:
    return PlannedLoad(sha, nodes, 1, moved, share, seconds)


def past(sha: str, moved: float, seconds: float, nodes: int = 1) -> PastCell:
    return PastCell(sha, nodes, 1, moved, seconds)


def test_the_same_cell_takes_as_long_as_before_whatever_the_rate() -> None:
    cells = [past("other", 1.0, 9.0), past("new", 32 * MIB, 0.06), past("new", 32 * MIB, 5.0)]
    assert load_seconds(wanted(32 * MIB, seconds=2.0), cells, 1e9) == 0.06


def test_as_many_nodes_as_before_are_needed_for_the_same_cell() -> None:
    assert load_seconds(wanted(200.0, nodes=2), [past("new", 100.0, 7.0)], 100.0) == 2.0 + (7.0 - 1.0)


def test_one_program_does_not_take_as_long_as_programs_on_each_node() -> None:
    own, one = past("other", 100.0, 5.0, nodes=2), replace(past("other", 100.0, 9.0, nodes=2), is_one_program=True)
    asked = replace(wanted(200.0, nodes=2), is_one_program=True)
    for cells in ([own, one], [one, own]):
        assert load_seconds(asked, cells, None) == 9.0 * 2
        assert load_seconds(replace(asked, is_one_program=False), cells, None) == 5.0 * 2


def test_another_size_takes_its_bytes_at_the_rate_plus_the_overhead_of_the_newest_cell() -> None:
    assert load_seconds(wanted(1000.0), [past("other", 100.0, 1.5)], 100.0) == 10.0 + 0.5
    assert load_seconds(wanted(1000.0), [past("other", 100.0, 0.5)], 100.0) == 10.0
    assert load_seconds(wanted(1000.0, share=0.5), [past("other", 200.0, 1.5)], 100.0) == 10.0 + 0.5


def test_a_run_time_in_the_options_is_the_time_of_a_new_cell() -> None:
    assert load_seconds(wanted(1000.0, seconds=30.0), [past("other", 100.0, 1.0)], 100.0) == 30.0


def test_work_without_a_rate_takes_as_long_per_byte_as_before() -> None:
    assert load_seconds(wanted(400.0), [past("other", 100.0, 2.0)], None) == 8.0
    assert load_seconds(wanted(), [past("other", 0.0, 2.0)], None) == 2.0


def test_nothing_measured_is_unknown() -> None:
    assert load_seconds(wanted(400.0), [], None) is None
    assert load_seconds(wanted(400.0), [], 100.0) == 4.0


@pytest.mark.parametrize(("exact", "shown"), [(3.98, 4.0), (22.4, 22.0), (1234.0, 1200.0), (0.0163, 0.016), (0.0, 0.0)])
def test_an_estimate_has_two_digits(exact: float, shown: float) -> None:
    assert two_digits(exact) == shown


@pytest.mark.parametrize(
    ("busy_seconds", "gap_ratio", "gap_seconds", "was_loaded", "expected"),
    [
        (20.0, 0.1, 0.2, False, 0.0),
        (20.0, 0.1, 0.2, True, 5.0),
        (130.0, 0.1, 0.2, False, 10.0),
        (130.0, 0.05, 1.0, True, 6.0),
        (130.0, 0.1, 1.0, True, 0.0),
    ],
)
def test_idle_samples_take_five_seconds_a_minute_less_what_longer_gaps_give(
    busy_seconds: float, gap_ratio: float, gap_seconds: float, *, was_loaded: bool, expected: float
) -> None:
    assert idle_sample_seconds(busy_seconds, gap_ratio, gap_seconds, was_loaded=was_loaded) == pytest.approx(expected)
