from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from iotide_server.statistics.changepoints import analyse
from iotide_server.statistics.course import FEWEST_NOISE_RUNS as FEWEST_RUNS
from iotide_server.statistics.course import Course
from iotide_server.statistics.noise import spread_change

STABLE = 150
"""Series of each kind; one in a hundred may raise a false report."""


def runs(*spreads: tuple[int, float], seed: int = 1) -> NDArray[np.float64]:
    """Return that many runs around 100 with each spread."""
    random = np.random.default_rng(seed)
    around = np.concatenate([np.full(count, spread) for count, spread in spreads])
    return 100 * (1 + around * random.standard_normal(len(around)))


def test_a_noisier_series_shows_since_when_and_how_much() -> None:
    found = spread_change(runs((80, 0.01), (60, 0.04)), [])
    assert found is not None
    assert abs(found.index - 80) <= 5
    assert (found.runs_before, found.runs_after) == (found.index, 140 - found.index)
    assert found.spread_before == pytest.approx(0.01, rel=0.4)
    assert found.spread_after == pytest.approx(0.04, rel=0.4)
    assert found.p_value < 0.005


def test_a_series_that_is_quiet_again_is_reported_by_its_last_change() -> None:
    found = spread_change(runs((60, 0.01), (60, 0.05), (60, 0.01)), [])
    assert found is not None
    assert abs(found.index - 120) <= 5
    assert found.spread_after < found.spread_before


@pytest.mark.parametrize("factor", [1e-9, 1e12, -1.0])
def test_unit_and_sign_change_nothing(factor: float) -> None:
    values = runs((50, 0.01), (50, 0.05))
    one, other = spread_change(values, []), spread_change(factor * values, [])
    assert one is not None
    assert other is not None
    assert (one.index, one.runs_after) == (other.index, other.runs_after)


def test_neither_a_step_nor_a_drift_nor_spikes_are_noise() -> None:
    values = runs((120, 0.01))
    assert analyse(list(values * np.repeat([1.0, 1.5], 60))).noise is None
    drifting = analyse(list(values * np.linspace(1, 1.4, 120)))
    assert (drifting.course, drifting.noise) == (Course.DRIFT, None)
    values[::17] *= 1.5
    assert spread_change(values, []) is None


@pytest.mark.parametrize(
    "values",
    [np.full(100, 5.0), np.zeros(100), runs((60, 0.001), (60, 0.005)), runs((FEWEST_RUNS, 0.01), (14, 0.5)), [1.0]],
    ids=["all alike", "nothing", "too little to mind", "too few", "one"],
)
def test_too_little_data_gives_no_verdict(values: list[float]) -> None:
    assert spread_change(np.asarray(values), []) is None


def test_it_comes_with_the_analysis_and_counts_from_the_first_run_of_all() -> None:
    found = analyse(list(runs((1500, 0.01), (600, 0.04))))
    assert found.noise is not None
    assert abs(found.noise.index - 1500) <= 10


def remembering(random: np.random.Generator, memory: float) -> NDArray[np.float64]:
    values = random.standard_normal(200)
    for number in range(1, 200):
        values[number] = memory * values[number - 1] + np.sqrt(1 - memory**2) * values[number]
    return values


def test_few_steady_series_are_called_noisier() -> None:
    random = np.random.default_rng(20261123)
    kinds: list[Callable[[], NDArray[np.float64]]] = [
        lambda: remembering(random, 0.0),
        lambda: remembering(random, 0.6),
        lambda: random.standard_t(3, 200) / np.sqrt(3),
        lambda: random.choice([0.0, 7.0], size=200) + random.standard_normal(200),
    ]
    for kind in kinds:
        found = (spread_change(100 * (1 + 0.03 * kind()), []) for _ in range(STABLE))
        assert sum(one is not None and one.spread_after > one.spread_before for one in found) <= STABLE / 50
