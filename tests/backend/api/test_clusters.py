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
