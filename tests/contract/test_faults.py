"""One fault of each kind in the middle of a run; `./dev test-faults` has them at every moment."""

import pytest
from faults import Moment, Victim, live_through
from rig import Rig


@pytest.mark.parametrize("victim", [victim for victim in Victim if victim is not Victim.RUNNER])
def test_a_run_finishes_once_though_a_part_was_killed(rig: Rig, victim: Victim) -> None:
    aftermath = live_through(rig, victim, Moment.RUNNING_EARLY, delay_seconds=1.0)
    assert aftermath.run["state"] == "finished"
    assert aftermath.load_starts == 1


def test_a_run_with_a_killed_runner_fails_with_a_reason_and_leaves_nothing(rig: Rig) -> None:
    aftermath = live_through(rig, Victim.RUNNER, Moment.RUNNING_EARLY, delay_seconds=1.0)
    assert aftermath.run["state"] == "failed"
    assert "runner" in aftermath.run["reason"]
