"""Enrolment of a host and its change to another wire version, over HTTP."""

from typing import Any

import pytest
from factories.announced import hello
from factories.clusters import make_cluster, make_node, node_token
from factories.people import Person
from fastapi.testclient import TestClient

from iotide_server.kit.db import Database
from iotide_wire.versions import SPOKEN_VERSIONS, WIRE_VERSION

API = "/api/v1"


@pytest.fixture
def cluster_id(database: Database) -> int:
    with database.transaction() as session:
        return make_cluster(session).id


@pytest.fixture
def enrolled(client: TestClient, admin: Person, cluster_id: int) -> dict[str, Any]:
    """A pending node."""
    url = f"{API}/clusters/{cluster_id}/join-tokens"
    made = client.post(url, json={"uses": 5}, headers=admin.headers).json()
    request = {"join_token": made["token"], "node_name": "n7", "role": "compute", "agent_version": "1"}
    reply: dict[str, Any] = client.post(f"{API}/agent/enroll", json=request | {"wire_version": WIRE_VERSION}).json()
    return reply


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def said(version: int = WIRE_VERSION) -> dict[str, Any]:
    return hello().model_dump(mode="json", exclude={"clock"}) | {"wire_version": version}


def test_a_pending_node_may_only_ask_and_works_once_approved(
    client: TestClient, admin: Person, cluster_id: int, enrolled: dict[str, Any]
) -> None:
    agent = bearer(enrolled["node_token"])
    refused = client.post(f"{API}/agent/hello", json=said(), headers=agent)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "node_pending")
    standing = client.get(f"{API}/agent/standing", headers=agent).json()
    assert standing["pending_until"] == enrolled["pending_until"]
    heartbeat = {
        "agent_instance": "instance-1",
        "boot_id": "boot-1234",
        "sent_at": hello().sent_at.isoformat(),
        "orders": [],
    }
    for path, body in (("/beat", heartbeat), ("/rotation", {"agent_instance": "instance-1"})):
        answer = client.post(f"{API}/agent{path}", json=body, headers=agent)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "node_pending")

    url = f"{API}/clusters/{cluster_id}/pending-nodes"
    (waits,) = client.get(url, headers=admin.headers).json()["items"]
    assert (waits["name"], waits["fingerprint"]) == ("n7", standing["fingerprint"])
    assert standing["fingerprint"] in refused.json()["error"]["remedy"]
    assert client.get(f"{API}/nodes", headers=admin.headers).json()["items"] == []
    answer = client.post(f"{url}/approve", json={"pending_ids": [waits["id"]]}, headers=admin.headers)
    assert answer.status_code == 204
    assert client.post(f"{API}/agent/hello", json=said(), headers=agent).status_code == 200
    (node,) = client.get(f"{API}/nodes", headers=admin.headers).json()["items"]
    assert (node["id"], node["name"], node["agent_standing"]) == (enrolled["node_id"], "n7", "current")


def test_a_host_that_was_refused_is_unknown(
    client: TestClient, admin: Person, cluster_id: int, enrolled: dict[str, Any]
) -> None:
    url = f"{API}/clusters/{cluster_id}/pending-nodes/refuse"
    choice = {"pending_ids": [enrolled["node_id"]]}
    assert client.post(url, json=choice, headers=admin.headers).status_code == 204
    answer = client.post(f"{API}/agent/hello", json=said(), headers=bearer(enrolled["node_token"]))
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "not_authenticated")
    again = client.post(url, json=choice, headers=admin.headers)
    assert (again.status_code, again.json()["error"]["code"]) == (404, "pending_node_not_found")


@pytest.fixture
def node_id(database: Database, cluster_id: int) -> int:
    del cluster_id
    with database.transaction() as session:
        return make_node(session, make_cluster(session, "lake")).id


@pytest.mark.parametrize(
    ("version", "status", "standing"),
    [
        (WIRE_VERSION, 200, "current"),
        (SPOKEN_VERSIONS.start, 200, "behind"),
        (SPOKEN_VERSIONS.start - 1, 409, "too_old"),
        (WIRE_VERSION + 1, 409, "too_new"),
    ],
)
def test_the_wire_version_of_each_agent_is_shown_also_of_one_that_is_not_understood(
    client: TestClient, admin: Person, node_id: int, version: int, status: int, standing: str
) -> None:
    answer = client.post(f"{API}/agent/hello", json=said(version), headers=bearer(node_token("n1")))
    assert answer.status_code == status, answer.text
    shown = client.get(f"{API}/nodes/{node_id}", headers=admin.headers).json()
    assert (shown["wire_version"], shown["agent_standing"]) == (version, standing)


def test_an_agent_of_the_previous_version_receives_nothing_it_would_reject(client: TestClient, node_id: int) -> None:
    del node_id
    agent = bearer(node_token("n1"))
    heartbeat = {"agent_instance": "instance-n1", "boot_id": hello().boot_id, "sent_at": hello().sent_at.isoformat()}

    def answered(version: int) -> set[str]:
        instance = hello().agent_instance
        assert client.post(f"{API}/agent/hello", json=said(version), headers=agent).status_code == 200
        body = heartbeat | {"orders": [], "agent_instance": instance}
        return set(client.post(f"{API}/agent/beat", json=body, headers=agent).json())

    assert answered(WIRE_VERSION) - answered(SPOKEN_VERSIONS.start) == {"rotation_wanted"}


def test_a_clock_is_shown_with_its_uncertainty_and_a_warning_beyond_a_second(
    client: TestClient, admin: Person, node_id: int
) -> None:
    agent = bearer(node_token("n1"))
    heartbeat = {"agent_instance": hello().agent_instance, "boot_id": hello().boot_id, "orders": []}
    heartbeat["sent_at"] = hello().sent_at.isoformat()
    for offset, uncertainty, is_off in ((-0.25, 0.01, False), (1.5, 0.6, False), (-1.5, 0.01, True)):
        clock = {"offset_seconds": offset, "uncertainty_seconds": uncertainty}
        assert client.post(f"{API}/agent/beat", json=heartbeat | {"clock": clock}, headers=agent).status_code == 200
        shown = client.get(f"{API}/nodes/{node_id}", headers=admin.headers).json()["clock"]
        assert shown == {**clock, "is_off": is_off}
