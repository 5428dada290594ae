from collections.abc import Callable
from datetime import timedelta

import pytest
from factories.announced import NOW, hello, workload
from factories.clock import MovedClock
from factories.clusters import make_cluster, make_node, node_token
from factories.people import Person
from fastapi.testclient import TestClient
from sqlalchemy import update

from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.models import JoinToken, Node
from iotide_server.kit.db import Database, Json
from iotide_server.workloads import service as workloads
from iotide_wire.nodes import ClockReading

API = "/api/v1"
AGENT = {"Authorization": f"Bearer {node_token('n1')}"}


@pytest.fixture
def node(database: Database) -> Node:
    with database.transaction() as session:
        made = make_node(session, make_cluster(session))
        workloads.announce(
            session, made, [workload("copy"), workload("seek", available=False, unavailable_because="no")]
        )
        return made


@pytest.fixture
def get(client: TestClient, admin: Person) -> Callable[[str], Json]:
    def fetch(path: str) -> Json:
        response = client.get(f"{API}{path}", headers=admin.headers)
        assert response.status_code == 200, response.text
        body: Json = response.json()
        return body

    return fetch


def test_a_node_shows_the_report_of_its_agent(get: Callable[[str], Json], node: Node) -> None:
    shown = get(f"/nodes/{node.id}")
    assert (shown["name"], shown["state"], shown["slots"]) == ("n1", "online", 1)
    assert shown["approved_directories"] == ["/scratch"]
    assert [mount["mount_point"] for mount in shown["mounts"]] == ["/", "/scratch"]
    assert [(row["name"], row["available"]) for row in shown["workloads"]] == [("copy", True), ("seek", False)]
    assert shown["active_orders"] == []
    assert shown == get("/nodes")["items"][0]


def test_nodes_are_filtered_by_state_and_cluster(
    get: Callable[[str], Json], clock: MovedClock, database: Database
) -> None:
    with database.transaction() as session:
        make_node(session, make_cluster(session), "n1")
        other = make_node(session, make_cluster(session, "lake"), "n2", said=hello("instance-n2"))
    clock.move(60)
    with database.transaction() as session:
        make_node(session, make_cluster(session, "sea"), "n3", said=hello("instance-n3"), now=clock.now)

    def named(query: str) -> list[str]:
        return [found["name"] for found in get(f"/nodes?{query}")["items"]]

    assert named("") == ["n3", "n2", "n1"]
    assert named("state=online") == ["n3"]
    assert named("state=silent") == ["n2", "n1"]
    assert named(f"state=silent&cluster_id={other.cluster_id}") == ["n2"]
    assert named("state=retired") == []


def test_lists_come_page_by_page(get: Callable[[str], Json], database: Database) -> None:
    with database.transaction() as session:
        cluster = make_cluster(session)
        for number in range(5):
            make_node(session, cluster, f"n{number}", said=hello(f"instance-n{number}"))

    def page(cursor: str | None) -> tuple[list[str], str | None]:
        body = get(f"/nodes?limit=2&cursor={cursor}" if cursor else "/nodes?limit=2")
        return [found["name"] for found in body["items"]], body["next_cursor"]

    first, cursor = page(None)
    second, cursor = page(cursor)
    assert [first, second, page(cursor)] == [["n4", "n3"], ["n2", "n1"], (["n0"], None)]


def test_the_list_of_a_cluster_shows_each_node_as_its_own_page_does(
    client: TestClient, admin: Person, get: Callable[[str], Json], database: Database, clock: MovedClock
) -> None:
    with database.transaction() as session:
        cluster = make_cluster(session)
        names, facts = ("n1", "n2", "n3", "n4", "n5"), {"cpu.count": 8, "os.name": "x"}
        nodes = {
            name: make_node(session, cluster, name, said=hello(f"instance-{name}").model_copy(update={"facts": facts}))
            for name in names
        }
        make_node(session, make_cluster(session, "lake"), "m1", said=hello("instance-lake"))
        agents.heartbeat(
            session,
            nodes["n2"].id,
            "instance-n2",
            clock(),
            clock=ClockReading(offset_seconds=5.0, uncertainty_seconds=0.1),
        )
        nodes["n3"].revoked_at = nodes["n3"].created_at
        nodes["n4"].problem = "its agent answers no offer"
    clock.move(20)
    with database.transaction() as session:
        agents.heartbeat(session, nodes["n1"].id, "instance-n1", clock())
    clock.move(20)
    client.delete(f"{API}/nodes/{nodes['n5'].id}", headers=admin.headers)
    client.put(f"{API}/nodes/{nodes['n4'].id}/drain", json={"reason": "its disk"}, headers=admin.headers)

    lines = get(f"/clusters/{cluster.id}/nodes")["items"]

    assert [line["name"] for line in lines] == ["n4", "n3", "n2", "n1"]
    assert [line["state"] for line in lines] == ["silent", "revoked", "silent", "online"]
    assert [line["clock_is_off"] for line in lines] == [False, False, True, False]
    for line in lines:
        page = get(f"/nodes/{line['id']}")
        assert page["facts"] == facts
        assert line.pop("facts") == {"cpu.count": 8}
        assert line.pop("clock_is_off") == bool(page["clock"] and page["clock"]["is_off"])
        assert line.items() <= page.items()
    first = get(f"/clusters/{cluster.id}/nodes?limit=3")
    rest = get(f"/clusters/{cluster.id}/nodes?limit=3&cursor={first['next_cursor']}")
    assert [line["name"] for line in rest["items"]] == ["n1"]


def test_slots_and_role_are_changed(client: TestClient, admin: Person, node: Node) -> None:
    changed = client.patch(f"{API}/nodes/{node.id}", json={"slots": 4, "role": "storage"}, headers=admin.headers)
    assert (changed.json()["slots"], changed.json()["role"]) == (4, "storage")
    kept = client.patch(f"{API}/nodes/{node.id}", json={"slots": None}, headers=admin.headers).json()
    assert (kept["slots"], kept["role"]) == (4, "storage")


@pytest.mark.parametrize("slots", [0, -1, 1001, "many", 1.5])
def test_a_number_of_slots_that_cannot_be_is_refused(
    client: TestClient, admin: Person, node: Node, slots: object
) -> None:
    response = client.patch(f"{API}/nodes/{node.id}", json={"slots": slots}, headers=admin.headers)
    assert response.status_code == 422
    assert response.json()["error"]["field"] == "slots"


def test_fewer_slots_than_runs_on_the_node_are_refused(
    client: TestClient, admin: Person, node: Node, database: Database
) -> None:
    with database.transaction() as session:
        leased = session.get_one(Node, node.id)
        leased.slots, leased.shared_leases = 3, 2
    response = client.patch(f"{API}/nodes/{node.id}", json={"slots": 1}, headers=admin.headers)
    assert (response.status_code, response.json()["error"]["code"]) == (409, "slots_in_use")


def test_a_retired_node_is_not_found_and_its_name_is_free(client: TestClient, admin: Person, node: Node) -> None:
    url = f"{API}/nodes/{node.id}"
    assert client.delete(url, headers=admin.headers).status_code == 204
    assert client.get(url, headers=admin.headers).json()["state"] == "retired"
    assert client.delete(url, headers=admin.headers).status_code == 404
    assert client.patch(url, json={"slots": 2}, headers=admin.headers).status_code == 404


def test_a_join_token_s_command_enrolls_a_node(client: TestClient, admin: Person, database: Database) -> None:
    with database.transaction() as session:
        cluster_id = make_cluster(session).id
    url = f"{API}/clusters/{cluster_id}/join-tokens"
    made = client.post(
        url, json={"uses": 2, "expires_in_seconds": 600, "needs_approval": False}, headers=admin.headers
    ).json()
    assert made["command"] == f"echo {made['token']} | iotide-agent enroll --server http://127.0.0.1:8470"
    assert made["expires_at"] == (NOW + timedelta(seconds=600)).isoformat().replace("+00:00", "Z")
    request = {"join_token": made["token"], "node_name": "n7", "role": "compute", "agent_version": "1"}
    reply = client.post(f"{API}/agent/enroll", json=request | {"wire_version": 1}).json()
    said = hello().model_dump(mode="json")
    agent = {"Authorization": f"Bearer {reply['node_token']}"}
    assert client.post(f"{API}/agent/hello", json=said, headers=agent).status_code == 200
    (left,) = client.get(url, headers=admin.headers).json()["items"]
    assert (left["uses_left"], left["made_by"]) == (1, made["made_by"])
    assert "token" not in left
    again = client.post(f"{API}/nodes/{reply['node_id']}/join-token", json={}, headers=admin.headers).json()
    with database.transaction() as session:
        session.execute(update(JoinToken).where(JoinToken.id == made["id"]).values(owner_id=None))
    items = client.get(url, headers=admin.headers).json()["items"]
    listed = [(one["id"], one["node_id"], one["made_by"]) for one in items]
    assert listed == [(again["id"], reply["node_id"], "ada"), (made["id"], None, None)], "its creator may be deleted"


def test_a_revoked_join_token_enrolls_no_node(client: TestClient, admin: Person, database: Database) -> None:
    with database.transaction() as session:
        cluster_id = make_cluster(session).id
    made = client.post(f"{API}/clusters/{cluster_id}/join-tokens", json={}, headers=admin.headers).json()
    assert client.delete(f"{API}/join-tokens/{made['id']}", headers=admin.headers).status_code == 204
    request = {"join_token": made["token"], "node_name": "n7", "role": "compute", "agent_version": "1"}
    refused = client.post(f"{API}/agent/enroll", json=request | {"wire_version": 1})
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "join_token_refused")
    assert made["token"] not in refused.text


def test_the_catalogue_shows_which_nodes_have_what(get: Callable[[str], Json], node: Node) -> None:
    seek, copy = get("/workloads")["items"]
    assert (copy["name"], copy["nodes"][0]["node_ids"], copy["nodes"][0]["available"]) == ("copy", [node.id], True)
    assert seek["nodes"][0]["unavailable_because"] == "no"
    assert copy["options_schema"]["properties"]["file_size_bytes"]["x-unit"] == "bytes"
    assert copy["metrics"][0]["unit"] == "bytes_per_second"
    assert get(f"/workloads?cluster_id={node.cluster_id + 1}")["items"] == []
