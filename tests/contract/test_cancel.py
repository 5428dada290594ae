"""Cancel, from the click to the empty target."""

import time

from bring_up import wait_for
from rig import FIO_SMALL, Rig

from iotide_server.clusters.agents.heartbeats import WATCHED

LONG_LOAD = {**FIO_SMALL, "rw": "write", "runtime_seconds": 60}
PROMISED_SECONDS = 3.0


def seconds_until_gone(rig: Rig, clicked: float) -> float:
    """Return the seconds from the click until no load process was alive and the target was empty, checked directly."""
    wait_for("the end of the load", lambda: None if rig.loads.is_any_running() else True, pause_seconds=0.02)
    rig.wait_clean()
    return time.monotonic() - clicked


def test_a_running_run_ends_within_three_seconds_and_leaves_nothing(rig: Rig) -> None:
    run_id = rig.submit_one("fio", LONG_LOAD)
    rig.wait_running(run_id)
    clicked = time.monotonic()
    rig.stack.post(f"/runs/{run_id}/cancel", {})
    run = rig.wait_ended(run_id)
    assert run["state"] == "cancelled"
    rig.wait_clean()
    assert time.monotonic() - clicked <= PROMISED_SECONDS


def test_a_load_on_a_node_with_rare_heartbeats_ends_within_three_seconds_of_the_click(rig: Rig) -> None:
    """The server calls the node instead of waiting for its next heartbeat, ten seconds away."""
    run_id = rig.submit_one("fio", {**LONG_LOAD, "runtime_seconds": 120})
    rig.wait_running(run_id)
    started = rig.loads.starts()[-1].epoch_seconds
    rarely = started + WATCHED.total_seconds() + 4
    wait_for("rare beats", lambda: time.time() > rarely or None, pause_seconds=0.5)
    clicked = time.monotonic()
    rig.stack.post(f"/runs/{run_id}/cancel", {})
    assert seconds_until_gone(rig, clicked) <= PROMISED_SECONDS
    assert rig.wait_ended(run_id)["state"] == "cancelled"


def test_the_running_load_of_a_cancelled_campaign_is_gone_within_three_seconds_of_the_click(rig: Rig) -> None:
    campaign_id = rig.submit("fio", LONG_LOAD, repeats=3)
    rig.wait_running(min(run["id"] for run in rig.runs(campaign_id)))
    clicked = time.monotonic()
    rig.stack.post(f"/campaigns/{campaign_id}/cancel", {})
    assert seconds_until_gone(rig, clicked) <= PROMISED_SECONDS
    assert rig.stack.wait_campaign(campaign_id)["counts"]["cancelled"] == 3


def test_a_cancelled_campaign_starts_none_of_its_waiting_runs(rig: Rig) -> None:
    before = len(rig.loads.starts())
    campaign_id = rig.submit("fio", LONG_LOAD, repeats=3)
    first = min(run["id"] for run in rig.runs(campaign_id))
    rig.wait_running(first)
    rig.stack.post(f"/campaigns/{campaign_id}/cancel", {})
    campaign = rig.stack.wait_campaign(campaign_id)
    assert campaign["state"] == "cancelled"
    assert campaign["counts"]["cancelled"] == 3
    rig.wait_clean()
    assert len(rig.loads.starts()) == before + 1


def test_a_cancelled_run_can_be_tried_again(rig: Rig) -> None:
    run_id = rig.submit_one("fio", {**LONG_LOAD, "runtime_seconds": 2})
    rig.wait_running(run_id)
    rig.stack.post(f"/runs/{run_id}/cancel", {})
    assert rig.wait_ended(run_id)["state"] == "cancelled"
    rig.stack.post(f"/runs/{run_id}/retry", {})
    run = rig.wait_ended(run_id)
    assert (run["state"], run["attempts_made"]) == ("finished", 2)


def test_a_load_beyond_its_time_limit_is_ended_on_its_node(rig: Rig) -> None:
    run_id = rig.submit_one("fio", LONG_LOAD, time_limit_seconds=2)
    run = rig.wait_ended(run_id)
    assert (run["state"], run["reason_code"]) == ("failed", "time_limit")
    assert "2 s" in run["reason"]
    rig.wait_clean()
