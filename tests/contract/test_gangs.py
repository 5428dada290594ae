"""Several nodes at once: real agents start their loads together on one shared target."""

from typing import Any

import pytest
from bring_up import wait_for
from local_stack import LocalStack
from watched_loads import WatchedLoads

NODES = ("a", "b", "c")
LOAD = {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB", "operations": ["write"]}


@pytest.fixture(scope="module")
def loads(stack: LocalStack) -> dict[str, WatchedLoads]:
    """Return three nodes that share one target, and the loads of each."""
    cluster_id = stack.add_cluster("gang")
    shared = stack.directory / "targets" / "gang"
    watched = {name: WatchedLoads(stack.directory / "watched" / f"gang-{name}") for name in NODES}
    agents = [stack.add_agent(cluster_id, name, [shared], watched[name].environment) for name in NODES]
    body = {"cluster_id": cluster_id, "name": "nfs", "path": str(shared), "scope": "shared"}
    stack.post("/targets", {**body, "nodes": [agent.node_id for agent in agents]})
    return watched


def plan(**changes: object) -> dict[str, Any]:
    return {
        "name": "together",
        "cluster": "gang",
        "nodes": list(NODES),
        "targets": ["nfs"],
        "workloads": [{"workload": "dd", "options": LOAD}],
        "repeats": 1,
        **changes,
    }


def ended(stack: LocalStack, campaign_id: int) -> list[dict[str, Any]]:
    assert stack.wait_campaign(campaign_id)["state"] == "finished"
    items = stack.get("/runs", campaign_id=campaign_id)["items"]
    return [stack.get(f"/runs/{item['id']}") for item in sorted(items, key=lambda item: item["id"])]


def test_more_and_more_nodes_load_together_each_from_the_same_moment_on(
    stack: LocalStack, loads: dict[str, WatchedLoads]
) -> None:
    campaign_id = stack.post("/campaigns", plan(nodes_at_once=[1, 2, 3]))["id"]
    runs = ended(stack, campaign_id)
    attempts = [run["attempts"][-1] for run in runs]
    assert [[order["node_name"] for order in attempt["orders"]] for attempt in attempts] == [
        ["a"],
        ["a", "b"],
        ["a", "b", "c"],
    ]
    assert attempts[0]["start_skew_seconds"] is None
    assert all(attempt["start_skew_seconds"] < 1.0 for attempt in attempts[1:])
    assert [len(loads[name].starts()) for name in NODES] == [3, 2, 1]
    assert all(attempt["go_at"] is not None for attempt in attempts)

    figure = stack.get(f"/campaigns/{campaign_id}/measurements", metric="throughput")["items"]
    together = [
        {str(one["labels"].get("nodes", "each")): one["median"] for one in cell["measurements"]} for cell in figure
    ]
    assert [set(cell) for cell in together] == [{"each"}, {"each", "all"}, {"each", "all"}]


def test_cancelling_a_gang_ends_the_load_on_each_of_its_nodes(
    stack: LocalStack, loads: dict[str, WatchedLoads]
) -> None:
    endless = {"rw": "randwrite", "block_size_bytes": 4096, "file_size_bytes": 4 * 1024**2, "runtime_seconds": 300}
    fio = [{"workload": "fio", "options": endless}]
    campaign_id = stack.post("/campaigns", plan(name="cut", nodes_at_once=True, workloads=fio))["id"]
    (item,) = stack.get("/runs", campaign_id=campaign_id)["items"]
    wait_for("loads on all nodes", lambda: all(one.is_any_running() for one in loads.values()) or None)
    stack.post(f"/runs/{item['id']}/cancel", {})
    run = wait_for("the end", lambda: _ended_run(stack, item["id"]), seconds=60)
    assert run["state"] == "cancelled"
    assert not any(one.is_any_running() for one in loads.values())


def _ended_run(stack: LocalStack, run_id: int) -> dict[str, Any] | None:
    run: dict[str, Any] = stack.get(f"/runs/{run_id}")
    return run if run["ended_at"] else None
