"""Promised power is what comparisons of simulated campaigns really show: the short form of `./dev bench repeats`."""

import pytest
from repeats import Promise, points_apart

from iotide_server.statistics.boards import PRACTICAL_RATIO
from iotide_server.statistics.looks import at_look
from iotide_server.statistics.summary import ENOUGH_RUNS
from iotide_wire import power
from iotide_wire.power import smallest_difference

SEED = 20261129


@pytest.mark.parametrize(
    ("scatter", "repeats", "numbers", "campaigns"),
    [(0.06, 4, 1, 1000), (0.01, 10, 1, 1000), (0.2, 6, 1, 1000), (0.06, 4, 4, 400), (0.1, 6, 12, 150)],
)
def test_real_power_is_near_the_promise(scatter: float, repeats: int, numbers: int, campaigns: int) -> None:
    fall = 1 - (smallest_difference(scatter, repeats, numbers) or 0.0)
    of_chance = 2 * 100 * (0.8 * 0.2 / campaigns) ** 0.5
    for ratio in (fall, 1 / fall):
        promise = Promise(scatter, repeats, numbers, ratio)
        assert abs(points_apart(promise, SEED, campaigns)) < 3 + of_chance


def test_the_promise_has_the_limits_of_the_verdict() -> None:
    assert power.FEWEST_REPEATS == ENOUGH_RUNS
    assert power._PRACTICAL_RATIO == PRACTICAL_RATIO
    assert at_look(power._FALSE_RATIO, 1) == pytest.approx(0.05)
