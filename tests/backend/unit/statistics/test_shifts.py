"""Changes of level, and changes that reverse them."""

from itertools import pairwise

import pytest

from iotide_server.statistics.shifts import Direction, Shift, trace


def levels(*values: float) -> list[Shift]:
    """Return the changes between these levels."""
    return [Shift(before, after) for before, after in pairwise(values)]


def directions(*values: float, better: str = "higher") -> list[str]:
    return [found.direction.value for found in trace(levels(*values), better)]


def test_a_drop_that_is_taken_back_ends_with_the_change_that_took_it_back() -> None:
    drop, recovery = trace(levels(100, 82, 101), "higher")
    assert (drop.direction, drop.recovered_by) == (Direction.WORSE, 1)
    assert (recovery.direction, recovery.away_since) == (Direction.RECOVERED, 0)


def test_a_latency_that_rose_and_fell_again_recovers_too() -> None:
    assert directions(10, 20, 10.1, better="lower") == ["worse", "recovered"]


def test_a_step_half_of_the_way_back_is_not_better_and_ends_nothing() -> None:
    drop, half = trace(levels(100, 60, 80), "higher")
    assert drop.recovered_by is None
    assert (half.direction, half.away_since) == (Direction.RECOVERED, 0)


def test_steps_down_end_with_the_one_step_that_leads_back_to_the_first_level() -> None:
    first, second, back = trace(levels(100, 80, 60, 100), "higher")
    assert (first.recovered_by, second.recovered_by) == (2, 2)
    assert back.direction is Direction.RECOVERED


def test_a_second_drop_may_recover_while_the_first_lasts() -> None:
    first, second, back = trace(levels(100, 80, 60, 80), "higher")
    assert (first.recovered_by, second.recovered_by) == (None, 2)
    assert (back.direction, back.away_since) == (Direction.RECOVERED, 0)


def test_a_level_beyond_the_healthy_one_is_better() -> None:
    drop, rise = trace(levels(100, 80, 120), "higher")
    assert drop.recovered_by == 1
    assert (rise.direction, rise.away_since) == (Direction.BETTER, 0)


def test_a_rise_that_takes_nothing_back_is_better_and_its_loss_is_worse() -> None:
    assert directions(100, 120, 100) == ["better", "worse"]


def test_a_drop_that_was_accepted_is_the_healthy_level_so_that_a_later_rise_is_better() -> None:
    drop, rise = trace(levels(100, 80, 100), "higher", accepted={0})
    assert (drop.recovered_by, rise.direction, rise.away_since) == (None, Direction.BETTER, None)


def test_a_metric_without_a_better_way_never_recovers() -> None:
    assert directions(100, 80, 100, better="neither") == ["neither", "neither"]


@pytest.mark.parametrize("after", [97.1, 100, 102.9])
def test_within_three_percent_of_the_healthy_level_is_recovered(after: float) -> None:
    assert directions(100, 80, after) == ["worse", "recovered"]


def test_a_second_fall_after_a_recovery_is_a_change_of_its_own() -> None:
    assert [found.recovered_by for found in trace(levels(100, 80, 100, 80, 100), "higher")] == [1, None, 3, None]
