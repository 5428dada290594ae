"""Nodes that only observe: a real agent with curves next to the load's, and its node free for other runs."""

from dataclasses import dataclass
from typing import Any

import pytest
from bring_up import wait_for
from local_stack import LocalStack
from watched_loads import WatchedLoads

LOAD = {"rw": "randwrite", "block_size_bytes": 4096, "file_size_bytes": 4 * 1024**2, "runtime_seconds": 6}
SHORT = {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB", "operations": ["write"]}


@dataclass(frozen=True)
class Watched:
    """A client and a server, each with its own target; the agent of a third node was killed.

    Attributes:
        on_server: loads that ran there.
    """

    on_server: WatchedLoads


@pytest.fixture(scope="module")
def watched(stack: LocalStack) -> Watched:
    cluster_id = stack.add_cluster("watched")
    on_server = WatchedLoads(stack.directory / "watched" / "watched-server")
    for name, environment in (("client", {}), ("server", on_server.environment), ("dead", {})):
        directory = stack.directory / "targets" / f"watched-{name}"
        agent = stack.add_agent(cluster_id, name, [directory], environment)
        stack.add_target(cluster_id, f"of-{name}", directory, [agent.node_id])
    agent.process.kill()
    agent.process.wait()
    return Watched(on_server)


def plan(node: str, workload: str, options: dict[str, Any], **more: object) -> dict[str, Any]:
    return {
        "name": f"{workload}-on-{node}",
        "cluster": "watched",
        "nodes": [node],
        "targets": [f"of-{node}"],
        "workloads": [{"workload": workload, "options": options}],
        "repeats": 1,
        **more,
    }


def run_of(stack: LocalStack, campaign_id: int) -> dict[str, Any]:
    (item,) = stack.get("/runs", campaign_id=campaign_id)["items"]
    run: dict[str, Any] = stack.get(f"/runs/{item['id']}")
    return run


def orders_of(run: dict[str, Any]) -> dict[str, dict[str, Any]]:
    (attempt,) = run["attempts"]
    return {order["role"]: order for order in attempt["orders"]}


def test_a_node_that_observes_has_curves_on_the_run_and_is_free_for_another_run_meanwhile(
    stack: LocalStack, watched: Watched
) -> None:
    campaign_id = stack.post("/campaigns", plan("client", "fio", LOAD, observers=["server"]))["id"]
    wait_for("the observer", lambda: _is_observed(stack, campaign_id))
    other = stack.post("/campaigns", plan("server", "dd", SHORT))["id"]
    assert stack.wait_campaign(other)["state"] == "finished"
    assert run_of(stack, campaign_id)["state"] == "active"

    assert stack.wait_campaign(campaign_id)["state"] == "finished"
    run = wait_for("the observer's end", lambda: _after_its_observer(stack, campaign_id), seconds=60)
    orders = orders_of(run)
    assert (orders["observe"]["node_name"], orders["observe"]["outcome"]) == ("server", "finished")
    assert run["node_names"] == ["client"]
    curves = stack.get(f"/runs/{run['id']}/curves", counter="cpu_user_ratio")["items"]
    assert {curve["order_id"] for curve in curves} == {orders["load"]["id"], orders["observe"]["id"]}
    assert all(len(curve["values"]) >= 5 for curve in curves)
    (said,) = run["observations"]
    assert (said["node_name"], "memory.total_bytes" in said["environment"]) == ("server", True)
    assert [start.arguments[0] for start in watched.on_server.starts()] == ["dd"]

    figure = stack.get(f"/campaigns/{campaign_id}/measurements", counter="cpu_user_ratio")["items"]
    assert [one["labels"] for one in figure[0]["measurements"]] == [{}, {"observer": "server"}]


@pytest.mark.usefixtures("watched")
def test_a_dead_observer_holds_nothing_up(stack: LocalStack) -> None:
    campaign_id = stack.post("/campaigns", plan("client", "dd", SHORT, observers=["dead"]))["id"]
    assert stack.wait_campaign(campaign_id)["state"] == "finished"
    run = run_of(stack, campaign_id)
    assert (orders_of(run)["observe"]["outcome"], run["observations"]) == ("withdrawn", [])
    log = [event["text"] for event in stack.get(f"/runs/{run['id']}/events", limit=200)["items"]]
    assert "dead: withdrawn: the loads ended before the node claimed it" in log


def _is_observed(stack: LocalStack, campaign_id: int) -> bool | None:
    run = run_of(stack, campaign_id)
    return (bool(run["attempts"]) and orders_of(run)["observe"]["started_at"] is not None) or None


def _after_its_observer(stack: LocalStack, campaign_id: int) -> dict[str, Any] | None:
    """Wait for the end of the run's observer: observations arrive in a message before that of the end."""
    run = run_of(stack, campaign_id)
    return run if run["observations"] and orders_of(run)["observe"]["outcome"] is not None else None
