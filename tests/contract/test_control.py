"""Operators' actions with real parts: a drained node, and a node marked as dead whose agent comes back."""

import json
import os
import signal
import subprocess
from typing import Any

import pytest
from bring_up import wait_for
from local_stack import BIN, LocalStack
from rig import FIO_SMALL, NODE, Rig, add_rig

SMALL = {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB", "operations": ["write"]}
LONG_LOAD = {**FIO_SMALL, "rw": "write", "runtime_seconds": 300}


@pytest.fixture(scope="module")
def own(stack: LocalStack) -> Rig:
    """Return a cluster for these tests only; one of its nodes loses its agent."""
    return add_rig(stack, "control")


def iotide(rig: Rig, *arguments: str) -> str:
    """Return the output of the command."""
    environment = {**os.environ, "IOTIDE_URL": rig.stack.url, "IOTIDE_TOKEN": rig.stack.token}
    command = [str(BIN / "iotide"), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def node(rig: Rig) -> dict[str, Any]:
    found: dict[str, Any] = rig.stack.get(f"/nodes/{rig.agent.node_id}")
    return found


def test_a_run_on_a_drained_node_continues_and_the_next_one_waits_until_it_is_resumed(own: Rig) -> None:
    running = own.submit_one("fio", {**FIO_SMALL, "runtime_seconds": 3})
    own.wait_running(running)
    iotide(own, "drain", "node", NODE, "--cluster", "control", "--reason", "its disk is replaced")
    following = own.submit_one("dd", SMALL)
    assert own.wait_ended(running)["state"] == "finished"
    wait_for("an idle node", lambda: node(own)["active_orders"] == [] or None)
    waiting = own.run(following)
    assert (waiting["state"], waiting["attempts_made"]) == ("waiting", 0)
    assert "its disk is replaced" in waiting["waiting_because"]
    assert "its disk is replaced" in iotide(own, "drains")
    iotide(own, "resume", "node", NODE, "--cluster", "control")
    assert own.wait_ended(following)["state"] == "finished"


def test_a_node_that_was_called_dead_too_early_ends_its_load_before_it_gets_another(own: Rig) -> None:
    """The operator was wrong: only the agent had died, and its load continued."""
    before = len(own.loads.starts())
    run_id = own.submit_one("fio", LONG_LOAD)
    own.wait_running(run_id)
    os.kill(own.agent.process.pid, signal.SIGKILL)
    wait_for("silence", lambda: node(own)["state"] == "silent" or None, seconds=60, pause_seconds=0.5)
    assert own.loads.is_any_running()
    said = iotide(own, "node", "dead", NODE, "--cluster", "control", "--yes")
    assert "may run there until" in said
    assert own.run(run_id)["state"] == "waiting"
    assert node(own)["active_orders"] == []

    own.stack.restart_agent(own.agent)
    wait_for("the next attempt", lambda: own.run(run_id)["attempts_made"] == 2 or None, seconds=60)
    own.wait_running(run_id)
    starts = own.loads.starts()[before:]
    assert [start.is_alone for start in starts] == [True, True]
    assert node(own)["problem"] is None
    iotide(own, "campaign", "cancel", str(own.run(run_id)["campaign_id"]))
    own.wait_clean()
    actions = [event["kind"] for event in json.loads(iotide(own, "run", "log", str(run_id), "--json"))["events"]]
    assert "lost" in actions
