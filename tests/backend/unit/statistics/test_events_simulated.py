"""Events at which nothing happened, in series whose points resemble the ones before."""

import numpy as np
import pytest

from iotide_server.statistics.course import LOOKS_AFTER, Effect
from iotide_server.statistics.events import event_effect
from iotide_server.statistics.ranks import memory

SERIES = 1000
RUNS = 120
PLACE = 100


@pytest.mark.parametrize("lag_1", [0.0, 0.3, 0.5, 0.6])
def test_an_event_that_changed_nothing_shifts_few_series_at_either_look(lag_1: float) -> None:
    random = np.random.default_rng(5)
    noise = random.normal(0, 0.1, (SERIES, RUNS))
    for run in range(1, RUNS):
        noise[:, run] = lag_1 * noise[:, run - 1] + np.sqrt(1 - lag_1**2) * noise[:, run]
    shifted = 0
    for values in 100 * np.exp(noise):
        recalled = memory([values[:PLACE]])
        effects = {event_effect(list(values), PLACE, look, recalled).effect for look in LOOKS_AFTER}
        shifted += Effect.SHIFTED in effects
    assert shifted / SERIES <= 0.02


def test_a_fifth_less_is_found_in_most_series_with_memory() -> None:
    random = np.random.default_rng(5)
    found = 0
    for _ in range(100):
        values = 100 * np.exp(random.normal(0, 0.05, RUNS))
        values[PLACE:] *= 0.8
        found += event_effect(list(values), PLACE, 8, 0.3).effect is Effect.SHIFTED
    assert found >= 90
