"""Alerts over the API."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from factories.announced import NOW
from factories.histories import confirmed_change, history, levels
from factories.measured import Measured
from factories.people import Person
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import text

from iotide_server.accounts.models import Role
from iotide_server.alerts.raising import raise_alerts
from iotide_server.kit.db import Database
from iotide_server.results.models import Series
from iotide_server.trends.models import Event

RULE = {"name": "slower", "cluster": "blade", "target": "scratch", "directions": "both"}


@pytest.fixture
def series(database: Database) -> Series:
    with database.transaction() as session:
        return history(Measured(session, NOW), levels((12, 100.0)))


@pytest.fixture
def cluster_id(series: Series) -> int:
    return series.cluster_id


@pytest.fixture
def rule(client: TestClient, admin: Person, cluster_id: int) -> dict[str, Any]:
    made = client.post("/api/v1/alert-rules", headers=admin.headers, json=RULE)
    assert made.status_code == 201, made.text
    assert made.json()["cluster_id"] == cluster_id
    body: dict[str, Any] = made.json()
    return body


@pytest.fixture
def alert_id(client: TestClient, admin: Person, database: Database, series: Series, rule: dict[str, Any]) -> int:
    """Alert of a series that fell from 100 to 80."""
    assert rule["open_alerts"] == 0
    with database.transaction() as session:
        confirmed_change(session, series, NOW + timedelta(days=5), 100.0, 80.0)
        raise_alerts(session, series.id)
    (listed,) = client.get("/api/v1/alerts?state=untriaged", headers=admin.headers).json()["items"]
    return int(listed["id"])


@pytest.fixture
def act(client: TestClient, admin: Person, alert_id: int) -> Callable[..., Response]:
    def act(action: str, **details: object) -> Response:
        url = f"/api/v1/alerts/{alert_id}/actions"
        return client.post(url, headers=admin.headers, json={"action": action, **details})

    return act


def test_an_alert_shows_the_change_and_its_rule(client: TestClient, admin: Person, alert_id: int) -> None:
    detail = client.get(f"/api/v1/alerts/{alert_id}", headers=admin.headers).json()
    alert = detail["alert"]
    assert (alert["direction"], alert["words"]) == ("worse", "20.0 % lower, worse (8 points after, 20 before)")
    assert (alert["rule"]["name"], alert["series"]["target_names"]) == ("slower", ["scratch"])
    assert alert["moves"] == ["acknowledge", "investigate", "expect", "noise", "wont_fix", "fixed", "comment"]
    assert [(action["who"], action["action"]) for action in detail["actions"]] == [(None, "confirmed")]


def test_a_regression_is_taken_judged_and_accepted_each_step_by_name(
    client: TestClient, admin: Person, act: Callable[..., Response], database: Database, cluster_id: int
) -> None:
    with database.transaction() as session:
        event = Event(
            cluster_id=cluster_id, kind="manual", since=NOW, at=NOW, text="kernel", node_ids=[], target_ids=[]
        )
        session.add(event)
        session.flush()
    taken = act("acknowledge", due_at="2026-12-24T12:00:00Z", comment="mine").json()["alert"]
    assert (taken["state"], taken["owner"], taken["due_at"]) == ("acknowledged", "ada", "2026-12-24T12:00:00Z")
    assert act("investigate").json()["alert"]["state"] == "investigating"
    expected = act("expect", event_id=event.id).json()["alert"]
    assert (expected["state"], expected["event"]["text"]) == ("expected", "kernel")
    detail = act("accept_baseline").json()
    assert detail["alert"]["baseline_at"] is not None
    steps = [(action["who"], action["action"]) for action in detail["actions"]][1:]
    assert [who for who, _ in steps] == ["ada (token test)"] * 4
    assert [name for _, name in steps] == ["acknowledge", "investigate", "expect", "accept_baseline"]
    audited = client.get("/api/v1/audit?limit=4", headers=admin.headers).json()["items"]
    assert [entry["action"] for entry in audited][::-1] == [f"alert_{name}" for _, name in steps]
    assert act("reopen").json()["alert"]["baseline_at"] is None


def test_an_action_that_the_state_does_not_take_is_refused_with_those_that_it_takes(
    act: Callable[..., Response],
) -> None:
    assert act("noise", comment="a test").status_code == 200
    refused = act("acknowledge")
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "alert_move_refused"
    assert refused.json()["error"]["remedy"] == "possible actions: reopen, comment"


@pytest.mark.parametrize(
    ("action", "details", "code"),
    [
        ("expect", {}, "alert_detail_missing"),
        ("comment", {}, "alert_detail_missing"),
        ("noise", {"owner": "ada"}, "alert_detail_unexpected"),
        ("acknowledge", {"owner": "nobody"}, "owner_unknown"),
        ("expect", {"event_id": 999}, "event_not_found"),
    ],
)
def test_an_action_without_what_it_needs_names_the_field(
    act: Callable[..., Response], action: str, details: dict[str, object], code: str
) -> None:
    refused = act(action, **details)
    assert refused.json()["error"]["code"] == code
    assert refused.json()["error"]["field"] in {"event_id", "comment", "owner"}


def test_a_rule_shows_how_many_alerts_depend_on_it_and_closes_them(
    client: TestClient, admin: Person, alert_id: int, rule: dict[str, Any]
) -> None:
    url = f"/api/v1/alert-rules/{rule['id']}"
    assert client.get(url, headers=admin.headers).json()["open_alerts"] == 1
    assert client.delete(url, headers=admin.headers).json() == {"closed_alerts": 1}
    closed = client.get(f"/api/v1/alerts/{alert_id}", headers=admin.headers).json()["alert"]
    assert (closed["state"], closed["closed_because"]) == ("closed", "rule_removed")
    assert client.get(url, headers=admin.headers).status_code == 404
    assert client.get("/api/v1/alert-rules", headers=admin.headers).json()["items"] == []


def test_a_rule_can_be_changed_and_has_a_name_of_its_own(
    client: TestClient, admin: Person, rule: dict[str, Any]
) -> None:
    again = client.post("/api/v1/alert-rules", headers=admin.headers, json=RULE)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "alert_rule_name_taken")
    unknown = client.post("/api/v1/alert-rules", headers=admin.headers, json=RULE | {"channel_ids": [7]})
    assert (unknown.status_code, unknown.json()["error"]["field"]) == (404, "channel_ids[0]")
    url = f"/api/v1/alert-rules/{rule['id']}"
    changed = client.put(url, headers=admin.headers, json=RULE | {"target": None, "least_shift_ratio": 0.1})
    assert (changed.json()["target"], changed.json()["least_shift_ratio"]) == (None, 0.1)


def test_a_muted_series_shows_until_when(client: TestClient, admin: Person, alert_id: int) -> None:
    url = f"/api/v1/alerts/{alert_id}/mute"
    muted = client.put(url, headers=admin.headers, json={"until": "2100-01-01T00:00:00Z"}).json()
    assert muted["alert"]["series"]["muted_until"] == "2100-01-01T00:00:00Z"
    assert client.put(url, headers=admin.headers, json={"until": None}).json()["alert"]["series"]["muted_until"] is None


def test_the_list_is_filtered_and_strangers_see_nothing(
    client: TestClient, admin: Person, alert_id: int, make_person: Callable[..., Person], database: Database
) -> None:
    def ids(query: str, person: Person = admin) -> list[int]:
        found = client.get(f"/api/v1/alerts?{query}", headers=person.headers)
        return [alert["id"] for alert in found.json()["items"]]

    (target_id,) = [target["id"] for target in client.get("/api/v1/targets", headers=admin.headers).json()["items"]]
    assert ids(f"kind=change&target_id={target_id}&state=suspect&state=untriaged") == [alert_id]
    assert ids("owner=ada") == ids("target_id=999") == ids("state=noise") == []
    with database.transaction() as session:
        session.execute(text("INSERT INTO cluster (name) VALUES ('elsewhere')"))
        elsewhere = session.scalars(text("SELECT id FROM cluster WHERE name = 'elsewhere'")).one()
    stranger = make_person("eve", Role.OPERATOR, elsewhere)
    assert ids("", stranger) == []
    assert client.get(f"/api/v1/alerts/{alert_id}", headers=stranger.headers).status_code == 404


def test_confirmation_of_suspects_is_a_policy_of_the_target(
    client: TestClient, admin: Person, rule: dict[str, Any]
) -> None:
    url = f"/api/v1/targets/{rule['target']['id']}"
    assert client.get(url, headers=admin.headers).json()["confirms_suspects"] is False
    changed = client.patch(url, headers=admin.headers, json={"confirms_suspects": True})
    assert changed.json()["confirms_suspects"] is True
    (entry,) = client.get("/api/v1/audit?limit=1", headers=admin.headers).json()["items"]
    assert entry["after"] == {"confirms_suspects": True}
