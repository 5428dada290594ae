"""Public reading with IOTIDE_PUBLIC_READ: all that viewers see, except people."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from factories.people import Person
from factories.routes import DeclaredRoute, declared_routes
from fastapi import FastAPI
from fastapi.testclient import TestClient

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.rules import AnyPerson, HasRole, SignedInOrReading
from iotide_server.main import API

NEVER = ("users", "audit", "tokens", "channels", "join-tokens", "sessions", "saved-views")


@pytest.fixture
def reader(shared_app: FastAPI, client: TestClient) -> Iterator[TestClient]:
    """Client without credentials on an installation with public reading."""
    shared_app.state.public_read = True
    yield client
    shared_app.state.public_read = False


def is_open(route: DeclaredRoute) -> bool:
    (rule,) = route.rules
    reads = isinstance(rule, SignedInOrReading) or (isinstance(rule, HasRole) and rule.role is Role.VIEWER)
    return reads and route.method == "GET"


def test_an_anonymous_reader_reads_what_viewers_read_and_nothing_else(reader: TestClient, shared_app: FastAPI) -> None:
    routes = [
        route
        for route in declared_routes(shared_app)
        if isinstance(route.rules[0], HasRole | AnyPerson | SignedInOrReading)
    ]
    statuses: dict[bool, set[int]] = {True: set(), False: set()}
    for route in routes:
        if route.url().endswith("/events"):
            continue  # a stream does not end
        body: dict[str, Any] | None = {} if route.method in {"POST", "PUT", "PATCH"} else None
        statuses[is_open(route)].add(reader.request(route.method, route.url(), json=body).status_code)
        assert not (is_open(route) and any(f"/{word}" in route.url() for word in NEVER)), route
    assert statuses[False] == {401}
    assert 200 in statuses[True]
    assert statuses[True] <= {200, 404, 409, 422}


def test_an_anonymous_reader_is_shown_as_a_viewer_of_all_clusters(reader: TestClient) -> None:
    assert reader.get(f"{API}/session").json()["principal"] == {
        "kind": "anonymous",
        "id": None,
        "name": "anonymous",
        "roles": [{"cluster_id": None, "role": "viewer"}],
    }
    assert reader.get(f"{API}/session/ways").json()["is_open_for_reading"] is True


def test_an_ended_session_reads_anonymously_and_a_wrong_token_is_still_rejected(reader: TestClient) -> None:
    cookie = {"Cookie": "iotide_session=ended"}
    assert reader.get(f"{API}/clusters", headers=cookie).status_code == 200
    assert reader.post(f"{API}/clusters", json={"name": "c1"}, headers=cookie).status_code == 401
    assert reader.get(f"{API}/clusters", headers={"Authorization": "Bearer iot_invented"}).status_code == 401


def test_results_do_not_show_who_submitted_them(
    reader: TestClient, admin: Person, plan: Callable[..., dict[str, Any]]
) -> None:
    made = reader.post(f"{API}/campaigns", json=plan(), headers=admin.headers)
    assert made.status_code == 201, made.text
    campaign = f"{API}/campaigns/{made.json()['id']}"
    cluster = made.json()["cluster_id"]
    drain = reader.put(f"{API}/clusters/{cluster}/drain", json={"reason": "disks"}, headers=admin.headers)
    assert drain.json()["by"].startswith("ada")
    assert reader.get(campaign, headers=admin.headers).json()["owner"] == "ada"
    assert reader.get(campaign).json()["owner"] is None
    assert reader.get(f"{API}/clusters/{cluster}").json()["drain"]["by"] is None
    for path in ("/campaigns", "/runs", "/schedules", "/templates", "/alerts", "/clusters"):
        response = reader.get(f"{API}{path}")
        assert response.status_code == 200, path
        assert not re.search(r"\bada\b", response.text), path
    assert reader.get(f"{API}/campaigns", params={"owner": "ada"}).status_code == 401, "a guess is not answered"
    assert reader.get(campaign, headers=admin.headers).json()["owner"] == "ada", "it is forgotten after the request"


def test_anonymous_reading_is_off_by_default(client: TestClient) -> None:
    assert client.get(f"{API}/clusters").status_code == 401
    assert client.get(f"{API}/session").status_code == 401
