"""A short storm: `./dev test-faults` has the whole one, with the faults that take long or need root."""

from pathlib import Path

import pytest
from rig import running_stack
from storm.driver import Weather, weather_the_storm

FAULTS = (
    "redis emptied",
    "redis killed",
    "api killed",
    "schedulers killed",
    "agents killed",
    "postgres stopped immediately",
    "wake-ups replayed",
    "run cancelled",
)
WEATHER = Weather(nodes=4, shared_targets=2, runs=30, faults=FAULTS, pause_seconds=(0.5, 2.0), is_a_clock_ahead=False)


@pytest.mark.timeout(400)
def test_nothing_runs_twice_and_nothing_is_lost_in_a_short_storm() -> None:
    # A server of its own: a part that was killed is started again ever more slowly.
    with running_stack() as stack:
        aftermath = weather_the_storm(stack, Path(stack.directory) / "storm", WEATHER, "short")
    assert aftermath.verdict.found == (), "\n".join(aftermath.log)
    assert aftermath.struck.keys() == set(FAULTS)
