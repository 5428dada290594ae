import numpy as np
import pytest
from numpy.typing import NDArray

from iotide_server.statistics.changepoints import analyse
from iotide_server.statistics.course import Course, DriftShape, FittedDrift

RUNS = 200
TIMES = np.linspace(0, 1, RUNS)


def noisy(level: NDArray[np.float64], noise: float = 0.03, seed: int = 1) -> list[float]:
    return list(100 * level * (1 + noise * np.random.default_rng(seed).standard_normal(len(level))))


def drift_of(values: list[float]) -> FittedDrift:
    found = analyse(values)
    assert (found.course, found.changes) == (Course.DRIFT, ())
    assert found.drift is not None
    return found.drift


def test_ageing_is_a_curve_with_its_loss_and_no_row_of_steps() -> None:
    level = 1 - 0.2 * np.expm1(-4 * TIMES) / np.expm1(-4)
    drift = drift_of(noisy(level))
    assert drift.shape is DriftShape.CURVE
    assert drift.shift_ratio == pytest.approx(-0.2, abs=0.04)
    assert (drift.low, drift.high) == (None, None)
    assert (drift.start, drift.end) == pytest.approx((100, 80), rel=0.04)


def test_a_season_is_a_wave_that_follows_the_values() -> None:
    level = 1 + 0.1 * np.sin(2 * np.pi * 1.5 * TIMES)
    drift = drift_of(noisy(level))
    assert drift.shape is DriftShape.WAVE
    runs, values = zip(*drift.path, strict=True)
    assert (runs[0], runs[-1]) == (0, RUNS - 1)
    assert len(runs) <= 41
    assert list(values) == pytest.approx(list(100 * level[list(runs)]), rel=0.03)


def test_a_straight_line_stays_a_line_with_two_ends_and_an_interval() -> None:
    drift = drift_of(noisy(np.linspace(1, 0.8, RUNS)))
    assert drift.shape is DriftShape.LINE
    assert drift.path == ((0, drift.start), (RUNS - 1, drift.end))
    assert drift.low is not None


@pytest.mark.parametrize("place", [10, 60, 100, 190])
def test_a_step_is_no_curve_wherever_it_is(place: int) -> None:
    level = np.where(np.arange(RUNS) < place, 1.0, 0.85)
    found = analyse(noisy(level))
    assert found.course is Course.CHANGED
    assert [abs(change.index - place) <= 1 for change in found.changes] == [True]


@pytest.mark.parametrize("kind", ["ageing", "season"])
def test_few_steps_are_invented_where_rates_change_slowly(kind: str) -> None:
    random = np.random.default_rng(8)
    invented = 0
    for _ in range(30):
        rate, phase, periods = random.uniform(2, 6), random.random(), random.uniform(0.5, 2)
        ageing = 1 - 0.2 * np.expm1(-rate * TIMES) / np.expm1(-rate)
        level = ageing if kind == "ageing" else 1 + 0.1 * np.sin(2 * np.pi * (periods * TIMES + phase))
        invented += len(analyse(noisy(level, noise=0.05, seed=int(random.integers(1 << 30)))).changes)
    assert invented <= 9


def test_steady_series_are_rarely_curves() -> None:
    found = [analyse(noisy(np.ones(RUNS), 0.05, seed)) for seed in range(50)]
    assert sum(each.course is Course.DRIFT for each in found) <= 1


def test_short_series_are_judged_at_any_length() -> None:
    values = noisy(np.linspace(1, 1.02, 30))
    assert all(analyse(values[:count]).course is Course.STEADY for count in range(14, 31))


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_the_unit_changes_no_curve(factor: float) -> None:
    values = noisy(1 + 0.1 * np.sin(5 * TIMES))
    one, other = drift_of(values), drift_of([factor * value for value in values])
    assert other.shape is one.shape
    assert other.end == pytest.approx(factor * one.end)
