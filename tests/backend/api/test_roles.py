"""Plans for a workload that sends from one node to another."""

from collections.abc import Callable
from typing import Any

import pytest
from factories.people import Person
from factories.ready_cluster import ReadyCluster
from fastapi.testclient import TestClient
from sqlalchemy import text

from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database

CAMPAIGNS = "/api/v1/campaigns"
STREAM = {"duration_seconds": 1, "file_size_bytes": "32 MiB"}
THERE = {"sender": "n1", "receiver": "n2"}


@pytest.fixture
def plan(database: Database, clock: Clock) -> Callable[..., dict[str, Any]]:
    """Return a plan of streams between two nodes of one machine; only the second has the target."""
    with database.transaction() as session:
        ready = ReadyCluster(session, clock(), node_count=2)
        for node in ready.nodes:
            node.facts = node.facts | {"data.address": "127.0.0.1"}
        session.execute(text("DELETE FROM target_mount WHERE node_id = :id"), {"id": ready.nodes[0].id})

    def stream(roles: object = THERE, **changes: object) -> dict[str, Any]:
        choice = {"workload": "stream", "options": STREAM, "roles": roles}
        return ready.plan(workloads=[choice], **changes)

    return stream


def change(database: Database, statement: str) -> None:
    with database.transaction() as session:
        session.execute(text(statement))


def test_a_pair_is_one_run_and_only_the_receiver_needs_the_target(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]]
) -> None:
    preview = client.post(f"{CAMPAIGNS}/preview", json=plan(), headers=admin.headers).json()
    [cell] = preview["cells"]
    assert (cell["node_names"], cell["sender_name"], cell["target_names"]) == (["n1", "n2"], "n1", ["scratch"])
    campaign = client.post(CAMPAIGNS, json=plan(repeats=1), headers=admin.headers).json()
    assert campaign["plan"]["workloads"][0]["roles"] == [THERE]
    [run] = client.get("/api/v1/runs", params={"campaign_id": campaign["id"]}, headers=admin.headers).json()["items"]
    assert run["node_names"] == ["n1", "n2"]


def test_a_receiver_without_the_target_is_named(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]]
) -> None:
    back = {"sender": "n2", "receiver": "n1"}
    answer = client.post(CAMPAIGNS, json=plan(back), headers=admin.headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "target_not_on_node")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ("UPDATE node SET boot_id = 'boot-other' WHERE name = 'n1'", "n2 receives only at 127.0.0.1, where n1 cannot"),
        ("UPDATE node SET facts = facts - 'data.address'", "n2 has no address at which it receives"),
    ],
)
def test_a_receiver_that_its_sender_cannot_reach_is_refused_with_the_remedy(
    client: TestClient,
    admin: Person,
    plan: Callable[..., dict[str, Any]],
    database: Database,
    changed: str,
    says: str,
) -> None:
    change(database, changed)
    answer = client.post(CAMPAIGNS, json=plan(), headers=admin.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["field"]) == (409, "receiver_unreachable", "workloads[0].roles")
    assert says in error["message"]
    assert "data_address in agent.toml of n2" in error["remedy"]


def test_a_receiver_at_an_address_of_its_network_is_reached_from_another_machine(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]], database: Database
) -> None:
    change(database, "UPDATE node SET boot_id = name || '-boot', facts = facts || '{\"data.address\": \"10.1.0.7\"}'")
    assert client.post(CAMPAIGNS, json=plan(), headers=admin.headers).status_code == 201


def test_a_workload_that_runs_on_each_node_separately_has_no_roles(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]]
) -> None:
    choice = {"workload": "dd", "options": {"file_size_bytes": "1 GiB"}, "roles": THERE}
    answer = client.post(CAMPAIGNS, json=plan() | {"workloads": [choice]}, headers=admin.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["field"]) == (422, "roles_not_offered", "workloads[0].roles")


def test_the_catalogue_marks_workloads_with_a_sender_and_a_receiver(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]]
) -> None:
    plan()
    items = client.get("/api/v1/workloads", params={"limit": 100}, headers=admin.headers).json()["items"]
    roles = {item["name"]: item["step_roles"] for item in items}
    assert roles["stream"] == ["sender", "receiver"]
    assert [name for name, found in roles.items() if found] == ["stream"]
