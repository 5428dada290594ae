from factories.people import Person
from fastapi.testclient import TestClient


def test_a_created_cluster_is_listed(client: TestClient, admin: Person) -> None:
    created = client.post("/api/v1/clusters", json={"name": "blade"}, headers=admin.headers)
    assert created.status_code == 201
    listed = client.get("/api/v1/clusters", headers=admin.headers).json()
    assert listed == {"items": [created.json()], "next_cursor": None}


def test_a_cluster_name_is_given_once(client: TestClient, admin: Person) -> None:
    client.post("/api/v1/clusters", json={"name": "blade"}, headers=admin.headers)
    again = client.post("/api/v1/clusters", json={"name": "blade"}, headers=admin.headers)
    assert again.status_code == 409
    assert again.json()["error"]["code"] == "cluster_name_taken"


def test_the_launcher_is_changed_and_stays_if_left_out(client: TestClient, admin: Person) -> None:
    created = client.post("/api/v1/clusters", json={"name": "blade"}, headers=admin.headers).json()
    path = f"/api/v1/clusters/{created['id']}"
    assert created["launcher"] == "direct"
    changed = client.patch(path, json={"launcher": "slurm"}, headers=admin.headers)
    assert (changed.status_code, changed.json()["launcher"]) == (200, "slurm")
    assert client.patch(path, json={"name": "rack"}, headers=admin.headers).json()["launcher"] == "slurm"


def test_a_launcher_that_does_not_exist_is_refused_by_name(client: TestClient, admin: Person) -> None:
    refused = client.post("/api/v1/clusters", json={"name": "blade", "launcher": "sge"}, headers=admin.headers)
    assert refused.status_code == 422
    assert refused.json()["error"]["field"] == "launcher"
