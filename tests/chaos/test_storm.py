"""Three hundred runs through every fault on eight nodes; the loads' log shows violations.

Among them are full disks, an agent's and the server's, for a minute each.
"""

from collections import Counter
from pathlib import Path

import pytest
from rig import running_stack
from storm.driver import SERVER_DISK, Weather, weather_the_storm
from storm.faults import FAULTS

WEATHER = Weather(8, 3, 300, list(FAULTS), pause_seconds=(3.0, 9.0), patience_seconds=600)


@pytest.mark.faults
@pytest.mark.timeout(7200)  # ends what hangs; alone on two cores it takes an hour
def test_nothing_runs_twice_and_nothing_is_lost_in_a_storm(tally: Counter[str], seed: int) -> None:
    with running_stack(SERVER_DISK) as stack:
        aftermath = weather_the_storm(stack, Path(stack.directory) / "storm", WEATHER, str(seed))
    assert aftermath.verdict.found == (), "\n".join(aftermath.log)
    for name, times in aftermath.struck.items():
        tally[f"storm {name}"] += times
    tally["storm runs"] += aftermath.verdict.runs
