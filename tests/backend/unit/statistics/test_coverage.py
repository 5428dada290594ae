"""Intervals of 95 % hold the true value as often as they claim."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from iotide_server.statistics.comparison import compare

COMPARISONS = 2000
LEAST_COVERAGE = 0.94
RATIO = 1.1

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]


def normal(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
    return 100 * (1 + 0.03 * random.standard_normal(runs))


def with_outliers(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """One run in ten lost up to half of its rate to something else."""
    return normal(random, runs) * np.where(random.random(runs) < 0.1, random.uniform(0.5, 1.0, runs), 1.0)


def with_cache(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """One run in four was served by a cache."""
    return normal(random, runs) * np.where(random.random(runs) < 0.25, 4.0, 1.0)


@pytest.mark.parametrize("draw", [normal, with_outliers, with_cache])
def test_the_shown_intervals_hold_the_ratio_as_often_as_claimed(draw: Draw) -> None:
    random = np.random.default_rng(20261123)
    shown = held = 0
    for number in range(COMPARISONS):
        runs = 4 + number % 7
        found = compare(list(draw(random, runs)), list(RATIO * draw(random, runs)))
        if found.interval is not None:
            shown += 1
            held += found.interval.low <= RATIO <= found.interval.high
    assert shown > COMPARISONS / 4
    assert held / shown >= LEAST_COVERAGE


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_below_four_runs_no_interval_is_shown(runs: int) -> None:
    random = np.random.default_rng(runs)
    found = compare(list(normal(random, runs)), list(normal(random, 10)))
    assert (found.interval, found.ratio, found.p_value) == (None, None, None)
