"""Drains, priorities, the queue and the declaration that a node is dead, over the API."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from factories.clock import MovedClock
from factories.people import Person
from factories.ready_cluster import ReadyCluster
from fastapi.testclient import TestClient

from iotide_server.accounts.models import Role
from iotide_server.clusters.agents import records as agents
from iotide_server.kit.db import Database
from iotide_server.scheduling.queues import NodeQueues
from iotide_server.scheduling.starting import start_runs

API = "/api/v1"
REASON = {"reason": "its disk is replaced"}


@dataclass
class Ready:
    """Two nodes with targets, and an API client."""

    client: TestClient
    database: Database
    clock: MovedClock
    admin: Person
    cluster_id: int
    node_ids: list[int]
    target_id: int
    plan: Callable[..., dict[str, Any]]

    def call(self, method: str, path: str, body: object = None, *, who: Person | None = None, status: int = 200) -> Any:  # noqa: ANN401 - JSON
        answer = self.client.request(method, f"{API}{path}", json=body, headers=(who or self.admin).headers)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    def submit(self, **changes: object) -> dict[str, Any]:
        campaign: dict[str, Any] = self.call("POST", "/campaigns", self.plan(**changes), status=201)
        return campaign

    def start(self) -> int:
        """Return the number of orders that a pass offers."""
        return sum(len(batch) for batch in start_runs(self.database, NodeQueues(), self.clock()))

    def fall_silent(self) -> None:
        """Move the clock by an hour; only the second node sends a heartbeat."""
        self.clock.move(3600)
        with self.database.transaction() as session:
            agents.heartbeat(session, self.node_ids[1], "instance-n2", self.clock())


@pytest.fixture
def ready(client: TestClient, database: Database, clock: MovedClock, admin: Person) -> Ready:
    with database.transaction() as session:
        made = ReadyCluster(session, clock(), node_count=2)
        node_ids = [node.id for node in made.nodes]
    return Ready(client, database, clock, admin, made.cluster.id, node_ids, made.target.id, made.plan)


@pytest.mark.parametrize("kind", ["node", "target", "cluster"])
def test_a_drain_is_shown_with_user_reason_and_end(ready: Ready, kind: str) -> None:
    subject_id = {"node": ready.node_ids[0], "target": ready.target_id, "cluster": ready.cluster_id}[kind]
    path = f"/{kind}s/{subject_id}"
    until = (ready.clock() + timedelta(hours=2)).isoformat().replace("+00:00", "Z")
    assert ready.call("GET", path)["drain"] is None
    drained = ready.call("PUT", f"{path}/drain", REASON | {"until": until})
    assert (drained["kind"], drained["subject_id"], drained["cluster_id"]) == (kind, subject_id, ready.cluster_id)
    assert (drained["reason"], drained["by"], drained["until"]) == ("its disk is replaced", "ada (token test)", until)
    assert ready.call("GET", path)["drain"] == drained
    (listed,) = [one for one in ready.call("GET", f"/{kind}s")["items"] if one["id"] == subject_id]
    assert listed["drain"] == drained
    (named,) = ready.call("GET", "/drains")
    assert named == drained | {"name": {"node": "n1", "target": "scratch", "cluster": "blade"}[kind]}
    ready.call("DELETE", f"{path}/drain", status=204)
    ready.call("DELETE", f"{path}/drain", status=204)
    assert ready.call("GET", path)["drain"] is None


def test_everything_is_drained_and_resumed_and_everybody_sees_it(
    ready: Ready, make_person: Callable[..., Person]
) -> None:
    viewer = make_person("vera", Role.VIEWER, ready.cluster_id)
    ready.submit()
    ready.call("PUT", "/drain", REASON)
    assert [one["name"] for one in ready.call("GET", "/drains", who=viewer)] == ["everything"]
    assert ready.start() == 0
    ready.call("DELETE", "/drain", status=204)
    assert ready.call("GET", "/drains", who=viewer) == []
    assert ready.start() == 2


def test_drains_of_other_clusters_are_not_seen(ready: Ready, make_person: Callable[..., Person]) -> None:
    elsewhere = make_person("eve", Role.ADMIN, ready.call("POST", "/clusters", {"name": "lake"}, status=201)["id"])
    ready.call("PUT", f"/nodes/{ready.node_ids[0]}/drain", REASON)
    assert ready.call("GET", "/drains", who=elsewhere) == []
    assert len(ready.call("GET", f"/drains?cluster_id={ready.cluster_id}")) == 1
    assert ready.call("GET", f"/drains?cluster_id={ready.cluster_id + 999}") == []


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({}, "reason", "invalid_input"),
        ({"reason": "   "}, "reason", "invalid_input"),
        (REASON | {"until": "2026-11-21T10:00:00Z"}, "until", "drain_end_passed"),
        (REASON | {"until": "2026-12-01T10:00:00"}, "until", "invalid_input"),
    ],
)
def test_a_drain_without_reason_or_with_an_end_that_cannot_be_is_refused(
    ready: Ready, body: dict[str, Any], field: str, code: str
) -> None:
    error = ready.call("PUT", f"/nodes/{ready.node_ids[0]}/drain", body, status=422)["error"]
    assert (error["field"], error["code"]) == (field, code)
    assert error["remedy"]


def test_a_retired_node_is_not_drained(ready: Ready) -> None:
    path = f"/nodes/{ready.node_ids[0]}"
    ready.call("PUT", f"{path}/drain", REASON)
    ready.call("DELETE", path, status=204)
    assert ready.call("GET", path)["drain"] is None
    assert ready.call("PUT", f"{path}/drain", REASON, status=404)["error"]["code"] == "node_not_found"


def test_the_queue_shows_who_is_served_first_and_why_each_waits(ready: Ready) -> None:
    first = ready.submit(nodes=["n1"], repeats=1)
    ready.clock.move(10)
    urgent = ready.submit(nodes=["n1"], repeats=1, name="urgent")
    ready.call("PUT", f"/nodes/{ready.node_ids[0]}/drain", REASON)
    queue = ready.call("GET", f"/clusters/{ready.cluster_id}/queue")
    assert (queue["waiting"], [run["campaign_id"] for run in queue["runs"]]) == (2, [first["id"], urgent["id"]])
    because = "Node n1 is drained by ada (token test) until it is resumed: its disk is replaced"
    assert queue["runs"][0]["waiting_because"] == because
    assert queue["runs"][1]["waiting_because"] == f"{because}; 1 run ahead"

    changed = ready.call("PATCH", f"/campaigns/{urgent['id']}", {"priority": 5})
    assert changed["plan"]["priority"] == 5
    (run,) = ready.call("GET", f"/clusters/{ready.cluster_id}/queue?limit=1")["runs"]
    shown = (run["campaign_name"], run["owner"], run["priority"], run["node_names"], run["target_names"])
    assert shown == ("urgent", "ada", 5, ["n1"], ["scratch"])

    alone = ready.call("GET", f"/clusters/{ready.cluster_id}/queue?campaign_id={first['id']}")
    assert (alone["waiting"], [run["campaign_id"] for run in alone["runs"]]) == (1, [first["id"]])


@pytest.mark.parametrize("priority", [-1, 10, 1.5, "high", None])
def test_a_priority_that_cannot_be_is_refused(ready: Ready, priority: object) -> None:
    campaign = ready.submit()
    error = ready.call("PATCH", f"/campaigns/{campaign['id']}", {"priority": priority}, status=422)["error"]
    assert error["field"] == "priority"


def test_the_priority_of_a_campaign_that_has_ended_stays(ready: Ready) -> None:
    campaign = ready.submit()
    ready.call("POST", f"/campaigns/{campaign['id']}/cancel")
    error = ready.call("PATCH", f"/campaigns/{campaign['id']}", {"priority": 1}, status=409)["error"]
    assert error["code"] == "campaign_ended"


def test_declaring_a_silent_node_dead_does_what_its_preview_showed(ready: Ready) -> None:
    path = f"/nodes/{ready.node_ids[0]}/dead"
    ready.submit(nodes=["n1"], repeats=1)
    assert ready.start() == 1
    error = ready.call("GET", path, status=409)["error"]
    assert error["code"] == "node_not_silent"
    assert "drain one that is online" in error["remedy"]
    ready.fall_silent()
    statement = ready.call("GET", path)
    (run,) = statement["runs"]
    assert (statement["node_name"], run["becomes"], run["orders"][0]["end"]) == ("n1", "waiting", "withdrawn")
    refused = ready.call("POST", path, {"statement_sha256": "0" * 64}, status=409)["error"]
    assert refused["code"] == "death_differs"
    node = ready.call("POST", path, {"statement_sha256": statement["statement_sha256"]})
    assert (node["state"], node["active_orders"]) == ("silent", [])
    assert "ada (token test) declared n1 dead" in node["problem"]
    assert ready.call("GET", f"/runs/{run['run_id']}")["state"] == "waiting"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/nodes/{node}/dead", None),
        ("POST", "/nodes/{node}/dead", {"statement_sha256": "0" * 64}),
        ("PATCH", "/campaigns/{campaign}", {"priority": 1}),
    ],
)
def test_only_an_operator_of_the_very_cluster_does_it(
    ready: Ready, make_person: Callable[..., Person], method: str, path: str, body: object
) -> None:
    lake = ready.call("POST", "/clusters", {"name": "lake"}, status=201)["id"]
    address = path.format(node=ready.node_ids[0], campaign=ready.submit()["id"])
    ready.fall_silent()
    ready.call(method, address, body, who=make_person("vera", Role.VIEWER, ready.cluster_id), status=403)
    ready.call(method, address, body, who=make_person("eve", Role.OPERATOR, lake), status=404)
    allowed = ready.client.request(
        method,
        f"{API}{address}",
        json=body,
        headers=make_person("oda", Role.OPERATOR, ready.cluster_id).headers,
    )
    assert allowed.status_code in {200, 409}
