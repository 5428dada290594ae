from collections.abc import Callable, Sequence
from typing import Any

import pytest
from factories.announced import hello, mount
from factories.clusters import make_cluster, make_node
from factories.people import Person
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import text

from iotide_server.clusters.models import Node
from iotide_server.kit.db import Database, Json

URL = "/api/v1/targets"
MOUNTS = [mount("/", "ext4", "/dev/sda1"), mount("/scratch", "xfs", "/dev/sdb1"), mount("/mnt/nfs", "nfs4", "filer:/a")]


@pytest.fixture
def nodes(database: Database) -> list[Node]:
    with database.transaction() as session:
        cluster = make_cluster(session)
        return [
            make_node(session, cluster, name, said=hello(f"instance-{name}", mounts=MOUNTS, approved=approved))
            for name, approved in [("n1", ["/scratch", "/mnt/nfs"]), ("n2", ["/mnt/nfs/bench"])]
        ]


@pytest.fixture
def plan(nodes: Sequence[Node]) -> Json:
    return {
        "cluster_id": nodes[0].cluster_id,
        "name": "nfs",
        "path": "/mnt/nfs/bench",
        "scope": "shared",
        "nodes": [node.id for node in nodes],
    }


@pytest.fixture
def post(client: TestClient, admin: Person) -> Callable[[Json], Response]:
    return lambda body: client.post(URL, json=body, headers=admin.headers)


def refusal(response: Response) -> tuple[int, str, str | None]:
    error = response.json()["error"]
    return response.status_code, error["code"], error["field"]


def test_a_target_is_backed_by_the_mount_of_each_node(post: Callable[[Json], Response], plan: Json) -> None:
    made = post(plan)
    assert made.status_code == 201
    assert [(row["node_name"], row["fstype"], row["source"], row["problem"]) for row in made.json()["mounts"]] == [
        ("n1", "nfs4", "filer:/a", None),
        ("n2", "nfs4", "filer:/a", None),
    ]


def test_a_node_is_added_to_a_target_by_its_path_only(
    post: Callable[[Json], Response], client: TestClient, admin: Person, plan: Json
) -> None:
    first, second = plan["nodes"]
    made = post(plan | {"nodes": [first]}).json()
    elsewhere = [{"node_id": second, "path": "/mnt/nfs/bench/two"}]
    changed = client.patch(f"{URL}/{made['id']}", json={"elsewhere": elsewhere}, headers=admin.headers)
    assert [(on["node_name"], on["path"]) for on in changed.json()["mounts"]] == [
        ("n1", "/mnt/nfs/bench"),
        ("n2", "/mnt/nfs/bench/two"),
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"path": "/mnt/nfs/bench/../../../etc"}, (422, "path_refused", "path")),
        ({"path": "mnt/nfs/bench"}, (422, "path_refused", "path")),
        ({"path": "/"}, (422, "path_refused", "path")),
        ({"path": "/mnt/nfs/bench\u0000"}, (422, "invalid_input", "path")),
        ({"path": "/scratch"}, (422, "path_not_approved", "path")),
        ({"path": "/mnt/nfs/benchmark"}, (422, "path_not_approved", "path")),
        ({"path": "/etc"}, (422, "path_not_approved", "path")),
        ({"scope": "global"}, (422, "invalid_input", "scope")),
        ({"nodes": []}, (422, "invalid_input", "nodes")),
        ({"reserve_bytes": -1}, (422, "invalid_input", "reserve_bytes")),
        ({"reserve_bytes": 2**63}, (422, "invalid_input", "reserve_bytes")),
        ({"cluster_id": 9_999_999}, (404, "cluster_not_found", "cluster_id")),
    ],
)
def test_a_target_that_cannot_be_is_refused_by_name(
    post: Callable[[Json], Response], client: TestClient, admin: Person, plan: Json, changes: Json, expected: object
) -> None:
    response = post(plan | changes)
    assert refusal(response) == expected
    if response.status_code == 422 and "path" in changes:
        assert response.json()["error"]["remedy"]
    assert client.get(URL, headers=admin.headers).json()["items"] == []


def test_the_refusal_of_a_path_names_the_node_and_where_it_would_do(
    post: Callable[[Json], Response], plan: Json
) -> None:
    error = post(plan | {"path": "/scratch"}).json()["error"]
    assert "n2" in error["message"]
    assert "/mnt/nfs/bench" in error["remedy"]


def test_a_node_of_another_cluster_is_refused(post: Callable[[Json], Response], plan: Json, database: Database) -> None:
    with database.transaction() as session:
        stranger = make_node(session, make_cluster(session, "lake"), "n3", said=hello("instance-n3"))
    response = post(plan | {"nodes": [plan["nodes"][0], stranger.id]})
    assert refusal(response) == (404, "node_not_found", "nodes[1]")


def test_a_name_is_given_once_among_the_living(
    post: Callable[[Json], Response], client: TestClient, admin: Person, plan: Json
) -> None:
    first = post(plan).json()
    assert refusal(post(plan)) == (409, "target_name_taken", "name")
    assert client.delete(f"{URL}/{first['id']}", headers=admin.headers).status_code == 204
    assert post(plan).status_code == 201
    assert len(client.get(URL, headers=admin.headers).json()["items"]) == 1
    (retired,) = client.get(f"{URL}?retired=true", headers=admin.headers).json()["items"]
    assert retired["id"] == first["id"]


def patch(client: TestClient, admin: Person, target_id: int, **changes: Any) -> Response:  # noqa: ANN401 - JSON
    return client.patch(f"{URL}/{target_id}", json=changes, headers=admin.headers)


def test_fields_left_out_of_a_change_stay(
    post: Callable[[Json], Response], client: TestClient, admin: Person, plan: Json
) -> None:
    made = post(plan | {"reserve_bytes": 10}).json()
    assert patch(client, admin, made["id"], name="nfs-2").json()["reserve_bytes"] == 10
    changed = patch(client, admin, made["id"], reserve_bytes=None).json()
    assert (changed["name"], changed["reserve_bytes"], len(changed["mounts"])) == ("nfs-2", None, 2)


def test_nodes_are_put_on_and_taken_off(
    post: Callable[[Json], Response], client: TestClient, admin: Person, plan: Json
) -> None:
    one, two = plan["nodes"]
    made = post(plan | {"nodes": [one]}).json()
    both = patch(client, admin, made["id"], nodes=[one, two]).json()
    assert [row["node_id"] for row in both["mounts"]] == [one, two]
    only = patch(client, admin, made["id"], nodes=[two, two]).json()
    assert [row["node_id"] for row in only["mounts"]] == [two]
    entries = client.get("/api/v1/audit", headers=admin.headers).json()["items"]
    assert [entry["action"] for entry in entries] == ["target_mounted", "target_mounted", "target_created"]


@pytest.fixture
def waiting_run(database: Database, post: Callable[[Json], Response], plan: Json) -> int:
    """Id of a target with a waiting run; the target is only on the first node."""
    target_id: int = post(plan).json()["id"]
    with database.transaction() as session:
        session.execute(
            text(
                "WITH w AS (INSERT INTO workload (name, revision, schema_sha256, title, description, options_schema,"
                " option_defaults, metrics, bytes_needed, bytes_moved, breaks_series, tool)"
                " VALUES ('dd', 1, '', '', '', '{}', '{}', '[]', '{}', '{}', false, 'dd') RETURNING id),"
                " c AS (INSERT INTO campaign (cluster_id, name, plan, request_sha256)"
                " VALUES (:cluster_id, 'c', '{}', '') RETURNING id),"
                " e AS (INSERT INTO cell (campaign_id, ordinal, workload_id, options, options_sha256, bytes_needed,"
                " bytes_moved) SELECT c.id, 0, w.id, '{}', '', 0, 0 FROM c, w RETURNING id, campaign_id),"
                " n AS (INSERT INTO cell_node (cell_id, node_id) SELECT id, :node_id FROM e),"
                " t AS (INSERT INTO cell_target (cell_id, target_id) SELECT id, :target_id FROM e)"
                " INSERT INTO run (campaign_id, cell_id, cluster_id, repeat, exclusive, sort_key, time_limit_seconds,"
                " attempts_allowed) SELECT campaign_id, id, :cluster_id, 0, 'node', 0, 60, 1 FROM e"
            ),
            {"cluster_id": plan["cluster_id"], "node_id": plan["nodes"][0], "target_id": target_id},
        )
    return target_id


def test_a_target_that_runs_need_is_not_retired(
    client: TestClient, admin: Person, database: Database, waiting_run: int
) -> None:
    response = client.delete(f"{URL}/{waiting_run}", headers=admin.headers)
    assert refusal(response) == (409, "target_busy", "target_id")
    with database.transaction() as session:
        session.execute(text("UPDATE run SET state = 'finished'"))
    assert client.delete(f"{URL}/{waiting_run}", headers=admin.headers).status_code == 204


def test_a_node_on_which_runs_need_the_target_stays(
    client: TestClient, admin: Person, plan: Json, waiting_run: int
) -> None:
    one, two = plan["nodes"]
    assert refusal(patch(client, admin, waiting_run, nodes=[two])) == (409, "target_busy", "target_id")
    assert patch(client, admin, waiting_run, nodes=[one]).status_code == 200
