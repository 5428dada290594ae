"""Flags that may explain a change of level."""

from iotide_server.trends.changes.reasons import FlaggedRuns, change_reasons


def runs(run_count: int, **flag_runs: int) -> FlaggedRuns:
    found = FlaggedRuns()
    found.add(run_count, flag_runs)
    return found


def test_flags_that_most_runs_gained_or_lost_may_explain_a_change() -> None:
    before, after = runs(20, CACHE_DROP=20, ZEROES=20), runs(20, DEGRADED=10, FOREIGN_LOAD=9, ZEROES=20)
    assert change_reasons(before, after) == ["storage busy with itself", "no longer: read warm"]


def test_symptoms_and_flags_of_the_plan_explain_nothing() -> None:
    assert change_reasons(runs(20), runs(20, OUTLIER=20, PEER_ODD=20, DURATION=20, ENV_CHANGED=20)) == []


def test_a_side_without_points_has_no_flags() -> None:
    assert change_reasons(runs(0), runs(4, STEADY=4)) == ["not steady"]
