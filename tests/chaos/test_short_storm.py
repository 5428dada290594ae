"""Thirty runs on four nodes through the short faults; `test_storm.py` has all of them and takes an hour."""

from collections import Counter
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


@pytest.mark.faults
@pytest.mark.timeout(400)
def test_nothing_runs_twice_and_nothing_is_lost_in_a_short_storm(tally: Counter[str]) -> None:
    # A separate server: a killed part is restarted with growing delays.
    with running_stack() as stack:
        aftermath = weather_the_storm(stack, Path(stack.directory) / "storm", WEATHER, "short")
    assert aftermath.verdict.found == (), "\n".join(aftermath.log)
    assert aftermath.struck.keys() == set(FAULTS)
    tally["short storm runs"] += aftermath.verdict.runs
