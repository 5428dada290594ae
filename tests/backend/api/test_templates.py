from typing import Any

import pytest
from factories.people import Person, person
from factories.ready_cluster import ReadyCluster
from fastapi.testclient import TestClient
from sqlalchemy import select

from iotide_server.accounts.models import AuditEntry, Role
from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database

TEMPLATES = "/api/v1/templates"


@pytest.fixture
def ready(database: Database, clock: Clock) -> ReadyCluster:
    with database.transaction() as session:
        return ReadyCluster(session, clock())


@pytest.fixture
def made(client: TestClient, admin: Person, ready: ReadyCluster) -> dict[str, Any]:
    answer = client.post(TEMPLATES, json={"name": "weekly", "plan": ready.plan(repeats=7)}, headers=admin.headers)
    assert answer.status_code == 201, answer.text
    template: dict[str, Any] = answer.json()
    return template


def test_a_template_keeps_its_plan_for_its_cluster(client: TestClient, admin: Person, made: dict[str, Any]) -> None:
    assert (made["name"], made["owner"], made["cluster_name"], made["plan"]["repeats"]) == ("weekly", "ada", "blade", 7)
    listed = client.get(TEMPLATES, params={"cluster_id": made["cluster_id"]}, headers=admin.headers)
    assert listed.json()["items"] == [made]
    elsewhere = client.get(TEMPLATES, params={"cluster_id": made["cluster_id"] + 1}, headers=admin.headers)
    assert elsewhere.json()["items"] == []


def test_a_template_needs_no_node_that_is_there(client: TestClient, admin: Person, ready: ReadyCluster) -> None:
    plan = ready.plan(nodes=["comes-next-week"])
    answer = client.post(TEMPLATES, json={"name": "later", "plan": plan}, headers=admin.headers)
    assert answer.status_code == 201, answer.text


def test_a_template_is_renamed_and_gets_another_plan(
    client: TestClient, admin: Person, made: dict[str, Any], ready: ReadyCluster
) -> None:
    path = f"{TEMPLATES}/{made['id']}"
    renamed = client.patch(path, json={"name": "monthly"}, headers=admin.headers).json()
    assert (renamed["name"], renamed["plan"]) == ("monthly", made["plan"])
    changed = client.patch(path, json={"plan": ready.plan(repeats=5)}, headers=admin.headers).json()
    assert (changed["name"], changed["plan"]["repeats"]) == ("monthly", 5)


def test_a_removed_template_is_not_found(
    client: TestClient, admin: Person, made: dict[str, Any], database: Database
) -> None:
    path = f"{TEMPLATES}/{made['id']}"
    assert client.delete(path, headers=admin.headers).status_code == 204
    assert client.get(path, headers=admin.headers).json()["error"]["code"] == "template_not_found"
    assert client.delete(path, headers=admin.headers).status_code == 404
    with database.transaction() as session:
        of_templates = select(AuditEntry.action).where(AuditEntry.subject_kind == "template").order_by(AuditEntry.id)
        actions = session.scalars(of_templates).all()
    assert actions == ["template_created", "template_removed"]


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        ({"name": "weekly"}, 409, "template_name_taken", "name"),
        ({"name": "a name with blanks"}, 422, "invalid_input", "name"),
        ({"plan": {"cluster": "nowhere"}}, 404, "cluster_not_found", "plan.cluster"),
        ({"plan": {"repeats": 0}}, 422, "invalid_input", "plan.repeats"),
        ({"plan": {"note": "\x00"}}, 422, "invalid_input", "plan.note"),
        ({"remark": "mine"}, 422, "invalid_input", "remark"),
    ],
)
def test_an_invalid_template_is_refused_with_its_field(
    client: TestClient,
    admin: Person,
    made: dict[str, Any],
    ready: ReadyCluster,
    body: dict[str, Any],
    status: int,
    code: str,
    field: str,
) -> None:
    del made
    given = {"name": "other", **body, "plan": ready.plan(**body.get("plan", {}))}
    answer = client.post(TEMPLATES, json=given, headers=admin.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["field"]) == (status, code, field)
    assert error["remedy"]


def test_a_name_that_another_has_is_refused_when_renaming(
    client: TestClient, admin: Person, made: dict[str, Any]
) -> None:
    other = client.post(TEMPLATES, json={"name": "other", "plan": made["plan"]}, headers=admin.headers).json()
    answer = client.patch(f"{TEMPLATES}/{other['id']}", json={"name": "weekly"}, headers=admin.headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "template_name_taken")


def test_a_template_stays_with_its_cluster(
    client: TestClient, admin: Person, made: dict[str, Any], database: Database, clock: Clock
) -> None:
    with database.transaction() as session:
        plan = ReadyCluster(session, clock(), name="sky").plan()
    answer = client.patch(f"{TEMPLATES}/{made['id']}", json={"plan": plan}, headers=admin.headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "template_moves")


def test_a_viewer_may_read_and_others_find_nothing(
    client: TestClient, made: dict[str, Any], database: Database, clock: Clock
) -> None:
    with database.transaction() as session:
        viewer = person(session, "vera", Role.VIEWER, now=clock(), cluster_id=made["cluster_id"])
        stranger = person(
            session,
            "sten",
            Role.OPERATOR,
            now=clock(),
            cluster_id=ReadyCluster(session, clock(), name="sky").cluster.id,
        )
    path = f"{TEMPLATES}/{made['id']}"
    assert client.get(path, headers=viewer.headers).json() == made
    assert client.patch(path, json={"name": "mine"}, headers=viewer.headers).status_code == 403
    assert client.delete(path, headers=viewer.headers).status_code == 403
    assert client.get(path, headers=stranger.headers).status_code == 404
    assert client.delete(path, headers=stranger.headers).status_code == 404
    assert client.get(TEMPLATES, headers=stranger.headers).json()["items"] == []
