import numpy as np
import pytest

from iotide_server.statistics.withdrawal import Reported, review


def noisy(*parts: tuple[int, float], spread: float = 0.05) -> list[float]:
    """Return that many values around each level."""
    level = np.concatenate([np.full(count, height) for count, height in parts])
    values: list[float] = (level * (1 + spread * np.random.default_rng(5).standard_normal(len(level)))).tolist()
    return values


def test_a_reported_change_stays_as_long_as_its_own_segments_differ() -> None:
    values = noisy((30, 100.0), (12, 95.0))
    (reviewed,) = review(values, [], [Reported(30, is_up=False)])
    assert reviewed.change is not None
    assert reviewed.over_index is None
    assert (reviewed.change.runs_before, reviewed.change.runs_after) == (30, 12)
    assert 0.0 < reviewed.change.p_value <= 0.05


def test_a_reported_change_is_withdrawn_if_its_segments_no_longer_differ_or_it_turned_round() -> None:
    (alike,) = review(noisy((60, 100.0)), [], [Reported(30, is_up=False)])
    assert alike.change is None
    (turned,) = review(noisy((30, 100.0), (12, 80.0)), [], [Reported(30, is_up=True)])
    assert turned.change is None


@pytest.mark.parametrize("place", [0, 4, 56, 60])
def test_a_change_with_less_than_five_runs_on_a_side_is_withdrawn(place: int) -> None:
    values = noisy((place, 100.0), (60 - place, 50.0))
    assert review(values, [], [Reported(place, is_up=False)])[0].change is None


def test_a_shift_that_came_and_ended_is_over_with_both_ends() -> None:
    values = noisy((60, 100.0), (7, 80.0), (60, 100.0))
    (reviewed,) = review(values, [], [Reported(60, is_up=False)])
    assert reviewed.over_index == 67
    assert reviewed.change is not None
    assert reviewed.change.runs_after == 7
    assert reviewed.change.shift_ratio == pytest.approx(-0.2, abs=0.06)


def test_both_ends_of_a_reported_regime_stay() -> None:
    values = noisy((60, 100.0), (8, 80.0), (60, 100.0))
    both = review(values, [], [Reported(60, is_up=False), Reported(68, is_up=True)])
    assert [(one.change is not None, one.over_index) for one in both] == [(True, None), (True, None)]


def test_the_weakest_change_is_settled_first_and_joins_the_segments_of_the_others() -> None:
    values = noisy((40, 100.0), (40, 80.0))
    moved, real = review(values, [], [Reported(20, is_up=False), Reported(40, is_up=False)])
    assert moved.change is None
    assert real.change is not None
    assert real.change.runs_before == 40


def test_a_change_at_the_place_of_a_found_one_is_withdrawn() -> None:
    values = noisy((40, 100.0), (40, 80.0))
    twice = review(values, [], [Reported(40, is_up=False), Reported(40, is_up=False)])
    assert [one.change is None for one in twice] == [False, True]
    assert review(values, [40], [Reported(40, is_up=False)])[0].change is None


def test_both_ends_of_a_shift_that_is_over_remain_ends_of_segments() -> None:
    values = noisy((49, 100.0), (6, 30.0), (85, 100.0), (12, 30.0))
    drop, returned = review(values, [], [Reported(49, is_up=False), Reported(55, is_up=True)])
    assert (drop.change is not None, drop.over_index) == (True, None)
    assert (returned.change is not None, returned.over_index) == (True, 140)


def test_scatter_elsewhere_in_the_series_says_nothing_about_a_change() -> None:
    wandering = (100 + np.cumsum(np.random.default_rng(3).normal(0, 20, 60))).tolist()
    values = [*noisy((20, 100.0), (12, 94.0)), *wandering]
    assert review(values, [32], [Reported(20, is_up=False)])[0].change is not None
