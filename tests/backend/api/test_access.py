"""Who may call what: every route against everyone, then my cluster's things against the roles in it."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from factories.announced import NOW, hello
from factories.clusters import make_cluster, make_node, node_token
from factories.people import Person, person
from factories.routes import DeclaredRoute, declared_routes
from fastapi.testclient import TestClient
from pydantic import SecretStr

from iotide_server.accounts.models import Role
from iotide_server.accounts.rules import HasRole, Public, SignedIn, SignedInOrReading
from iotide_server.clusters.rules import IsNode
from iotide_server.kit.db import Database
from iotide_server.main import API, create_app
from iotide_server.settings import Settings

NOWHERE = SecretStr("postgresql://nowhere/none")
Headers = dict[str, str] | dict[bytes, bytes]
ROUTES = declared_routes(create_app(Settings(database_url=NOWHERE, redis_url=SecretStr("redis://nowhere"))))
PUBLIC = {
    f"GET {API}/alive",
    f"GET {API}/health",
    f"GET {API}/ready",
    f"GET {API}/session/ways",
    f"GET {API}/session/provider",
    f"GET {API}/session/provider/callback",
    f"POST {API}/session",
    f"POST {API}/session/link",
    f"POST {API}/agent/enroll",
}


def routes_with(*kinds: type) -> list[DeclaredRoute]:
    return [route for route in ROUTES if any(isinstance(rule, kinds) for rule in route.rules)]


def call(client: TestClient, route: DeclaredRoute, headers: Headers) -> tuple[int, str | None]:
    body: dict[str, Any] | None = {} if route.method in {"POST", "PUT", "PATCH"} else None
    response = client.request(route.method, route.url(), json=body, headers=headers)
    code = response.json()["error"]["code"] if response.status_code >= 400 else None
    return response.status_code, code


def answers(
    client: TestClient, routes: Iterable[DeclaredRoute], headers: Headers
) -> dict[tuple[int, str | None], list[str]]:
    """The routes by what they answer."""
    by_answer: defaultdict[tuple[int, str | None], list[str]] = defaultdict(list)
    for route in routes:
        by_answer[call(client, route, headers)].append(str(route))
    return dict(by_answer)


def test_every_route_declares_one_rule() -> None:
    without = [str(route) for route in ROUTES if len(route.rules) != 1]
    assert without == []
    assert len(ROUTES) > 50, "the routes were found"


def test_what_is_public_is_meant_to_be() -> None:
    assert {str(route) for route in routes_with(Public)} == PUBLIC


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer iot_invented"},
        {"Authorization": "Bearer ion_invented"},
        {b"Authorization": b"Bearer \xff\x00"},
        {"Authorization": "Basic YWRhOmFkYQ=="},
        {"Cookie": "iotide_session=invented"},
    ],
    ids=["nobody", "API token", "node token", "odd token", "basic", "cookie"],
)
def test_nobody_gets_in_without_proof(client: TestClient, headers: Headers) -> None:
    assert set(answers(client, routes_with(SignedIn, SignedInOrReading, HasRole), headers)) == {
        (401, "not_authenticated")
    }
    assert set(answers(client, routes_with(IsNode), headers)) <= {(401, "not_authenticated"), (403, "not_allowed")}


def test_a_node_token_opens_no_person_s_route(client: TestClient, database: Database) -> None:
    with database.transaction() as session:
        make_node(session, make_cluster(session))
    headers = {"Authorization": f"Bearer {node_token('n1')}"}
    assert set(answers(client, routes_with(SignedIn, SignedInOrReading, HasRole), headers)) == {
        (401, "not_authenticated")
    }


def test_an_administrator_s_token_opens_no_agent_s_route(client: TestClient, admin: Person) -> None:
    assert set(answers(client, routes_with(IsNode), admin.headers)) == {(403, "not_allowed")}


@pytest.mark.parametrize("role", Role)
def test_a_role_opens_what_wants_no_more(client: TestClient, make_person: Callable[..., Person], role: Role) -> None:
    headers = make_person("grace", role).headers
    too_high = [route for route in routes_with(HasRole) if rank(route) > role.rank]
    assert set(answers(client, too_high, headers)) <= {(403, "not_allowed")}
    within = [route for route in routes_with(HasRole) if rank(route) <= role.rank]
    for_persons_alone = (403, "person_wanted")  # the caller proves itself by a token
    within_answers = set(answers(client, within, headers)) - {for_persons_alone}
    assert {status for status, _ in within_answers} <= {200, 201, 204, 404, 409, 422}


def test_a_person_without_roles_sees_nothing(client: TestClient, database: Database) -> None:
    with database.transaction() as session:
        nobody = person(session, "grace", now=NOW)
    assert set(answers(client, routes_with(HasRole), nobody.headers)) == {(403, "not_allowed")}


def rank(route: DeclaredRoute) -> int:
    (rule,) = route.rules
    return rule.role.rank if isinstance(rule, HasRole) else -1


def test_a_retired_node_s_token_opens_nothing(client: TestClient, database: Database, admin: Person) -> None:
    with database.transaction() as session:
        node_id = make_node(session, make_cluster(session)).id
    headers = {"Authorization": f"Bearer {node_token('n1')}"}
    said = hello(previous="instance-1").model_dump(mode="json")
    assert client.post(f"{API}/agent/hello", json=said, headers=headers).status_code == 200
    assert client.delete(f"{API}/nodes/{node_id}", headers=admin.headers).status_code == 204
    assert client.post(f"{API}/agent/hello", json=said, headers=headers).status_code == 401


class Things:
    """A cluster with one of each thing, and people with every role inside and outside."""

    def __init__(self, client: TestClient, database: Database, make_person: Callable[..., Person]) -> None:
        self.client = client
        with database.transaction() as session:
            cluster, other = make_cluster(session), make_cluster(session, "lake")
            node = make_node(session, cluster)
            self.ids = {"cluster_id": cluster.id, "node_id": node.id}
        self.people = {role.value: make_person(f"{role}-here", role, cluster.id) for role in Role}
        self.people["elsewhere"] = make_person("admin-elsewhere", Role.ADMIN, other.id)
        target = {"cluster_id": cluster.id, "name": "t1", "path": "/scratch", "scope": "node", "nodes": [node.id]}
        made = self.call("operator", "POST", "/targets", target)
        assert made[0] == 201, made
        self.ids["target_id"] = made[1]["id"]
        made = self.call("admin", "POST", f"/clusters/{cluster.id}/join-tokens", {})
        self.ids["token_id"] = made[1]["id"]

    def call(self, who: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:  # noqa: ANN401 - JSON
        url = API + path.format(**self.ids)
        response = self.client.request(method, url, json=body, headers=self.people[who].headers)
        return response.status_code, response.json() if response.content else None


@pytest.fixture
def things(client: TestClient, database: Database, make_person: Callable[..., Person]) -> Things:
    return Things(client, database, make_person)


TARGET = {"cluster_id": 0, "name": "t2", "path": "/scratch", "scope": "node", "nodes": [0]}
DRAIN = {"reason": "its disk is replaced"}
MATRIX = [
    (Role.VIEWER, "GET", "/clusters/{cluster_id}", None),
    (Role.VIEWER, "GET", "/nodes/{node_id}", None),
    (Role.VIEWER, "GET", "/targets/{target_id}", None),
    (Role.OPERATOR, "POST", "/targets", TARGET),
    (Role.OPERATOR, "PATCH", "/targets/{target_id}", {"reserve_bytes": 1}),
    (Role.OPERATOR, "DELETE", "/targets/{target_id}", None),
    (Role.VIEWER, "GET", "/clusters/{cluster_id}/queue", None),
    (Role.VIEWER, "GET", "/clusters/{cluster_id}/peers", None),
    (Role.OPERATOR, "PUT", "/clusters/{cluster_id}/drain", DRAIN),
    (Role.OPERATOR, "DELETE", "/clusters/{cluster_id}/drain", None),
    (Role.OPERATOR, "PUT", "/nodes/{node_id}/drain", DRAIN),
    (Role.OPERATOR, "DELETE", "/nodes/{node_id}/drain", None),
    (Role.OPERATOR, "PUT", "/targets/{target_id}/drain", DRAIN),
    (Role.OPERATOR, "DELETE", "/targets/{target_id}/drain", None),
    (Role.ADMIN, "PATCH", "/clusters/{cluster_id}", {"description": "d"}),
    (Role.ADMIN, "GET", "/clusters/{cluster_id}/join-tokens", None),
    (Role.ADMIN, "POST", "/clusters/{cluster_id}/join-tokens", {}),
    (Role.ADMIN, "DELETE", "/join-tokens/{token_id}", None),
    (Role.ADMIN, "PATCH", "/nodes/{node_id}", {"slots": 2}),
    (Role.ADMIN, "GET", "/clusters/{cluster_id}/pending-nodes", None),
    (Role.ADMIN, "POST", "/nodes/{node_id}/rotate", None),
    (Role.ADMIN, "POST", "/nodes/{node_id}/join-token", {}),
    (Role.ADMIN, "GET", "/nodes/{node_id}/revocation", None),
    (Role.ADMIN, "POST", "/nodes/{node_id}/revoke", None),
    (Role.ADMIN, "DELETE", "/nodes/{node_id}", None),
]


@pytest.mark.parametrize(("wanted", "method", "path", "body"), MATRIX, ids=[f"{row[1]} {row[2]}" for row in MATRIX])
def test_a_cluster_s_things_want_a_role_in_that_cluster(
    things: Things, wanted: Role, method: str, path: str, body: dict[str, Any] | None
) -> None:
    if body is TARGET:
        body = {**TARGET, "cluster_id": things.ids["cluster_id"], "nodes": [things.ids["node_id"]]}
    assert things.call("elsewhere", method, path, body)[0] == 404, "an administrator of another cluster sees nothing"
    for role in Role:
        if role.rank < wanted.rank:
            assert things.call(role, method, path, body)[0] == 403, role
    assert things.call(wanted, method, path, body)[0] in {200, 201, 204}


@pytest.mark.parametrize("path", ["/clusters", "/nodes", "/targets"])
def test_lists_hold_only_what_the_caller_may_see(things: Things, path: str) -> None:
    assert len(things.call("viewer", "GET", path)[1]["items"]) == 1
    elsewhere = things.call("elsewhere", "GET", path)[1]["items"]
    assert [item["name"] for item in elsewhere] == (["lake"] if path == "/clusters" else [])


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/clusters"), ("GET", "/users"), ("POST", "/users"), ("PUT", "/drain"), ("DELETE", "/drain")],
)
def test_what_concerns_all_clusters_wants_an_administrator_of_all(things: Things, method: str, path: str) -> None:
    bodies: dict[str, dict[str, Any]] = {"/users": {"name": "x", "roles": []}, "/drain": DRAIN}
    body = None if method in {"GET", "DELETE"} else bodies.get(path, {"name": "x"})
    assert things.call("admin", method, path, body)[0] == 403
