"""Start of a prepared load: how long it waits for the start signal, and when it begins."""

import time
from collections.abc import Callable
from pathlib import Path

from agent.order_rig import Rig, python, step

from iotide_agent.runner import processes
from iotide_agent.runner.life import LATE_START_SECONDS


def test_the_start_is_waited_for_so_much_longer_as_another_node_of_the_gang_may_be_held_back(
    make_rig: Callable[..., Rig],
) -> None:
    rig = make_rig(time_limit_seconds=1.0, others_wait_seconds=60.0)
    rig.start()
    rig.until_phase("ready")
    time.sleep(1.5)
    rig.go([step("true")])
    assert rig.until_ended()["outcome"] == "finished"


def test_a_start_that_never_comes_is_not_waited_for_for_ever(make_rig: Callable[..., Rig]) -> None:
    rig = make_rig(time_limit_seconds=0.2, others_wait_seconds=0.2)
    rig.start()
    ending = rig.until_ended()
    assert (ending["outcome"], ending["code"]) == ("declined", "go_never_came")


def test_the_go_time_is_kept(rig: Rig) -> None:
    rig.start()
    rig.until_phase("ready")
    go_at, go_at_epoch_seconds = processes.boottime() + 0.4, time.time() + 0.4
    rig.go([step("true")], at=go_at)
    ending = rig.until_ended()
    assert 0 <= ending["steps"][0]["started_at_epoch_seconds"] - go_at_epoch_seconds < 0.2


def test_caches_are_emptied_ahead_of_the_go_time_and_neither_that_nor_the_wait_is_in_the_curves(
    make_rig: Callable[..., Rig], tmp_path: Path
) -> None:
    dropped = tmp_path / "dropped"
    note = f"import time; open({str(dropped)!r}, 'w').write(str(time.clock_gettime(time.CLOCK_BOOTTIME)))"
    rig = make_rig(drop_caches=True, drop_command=python(note))
    rig.start()
    rig.until_phase("ready")
    go_at = processes.boottime() + 1.2
    rig.go([step("sleep", "0.3", before="drop")], at=go_at)
    ending = rig.until_ended()
    assert ending["steps"][0]["before_done"] == "drop"
    assert float(dropped.read_text()) < go_at
    assert ending["started_at_boottime_seconds"] >= go_at
    assert len((rig.directory / "curve.jsonl").read_text().splitlines()) == 1


def test_a_cancel_before_the_start_time_is_noticed(rig: Rig) -> None:
    rig.start()
    rig.until_phase("ready")
    rig.go([step("true")], at=processes.boottime() + 60.0)
    rig.until_phase("running")
    rig.cancel()
    ending = rig.until_ended()
    assert (ending["outcome"], ending["steps"], ending["started_at_epoch_seconds"]) == ("cancelled", [], None)


def test_a_start_that_a_jumped_clock_set_far_ahead_is_declined_at_once(rig: Rig) -> None:
    rig.start()
    rig.until_phase("ready")
    rig.go([step("true")], at=processes.boottime() + 3600.0)
    ending = rig.until_ended()
    assert (ending["outcome"], ending["code"]) == ("declined", "go_too_late")


def test_a_start_that_a_gang_agreed_on_long_ago_is_declined(rig: Rig) -> None:
    rig.start()
    rig.until_phase("ready")
    rig.go([step("true")], at=processes.boottime() - LATE_START_SECONDS - 1.0)
    ending = rig.until_ended()
    assert (ending["outcome"], ending["code"], ending["steps"]) == ("declined", "go_missed", [])
