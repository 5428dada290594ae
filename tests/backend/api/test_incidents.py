"""Incidents over the API."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from factories.announced import NOW
from factories.histories import another, confirmed_change, history, levels
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

API = "/api/v1"


@pytest.fixture
def series(database: Database) -> Series:
    with database.transaction() as session:
        return history(Measured(session, NOW), levels((40, 100.0)))


@pytest.fixture
def incident_id(client: TestClient, admin: Person, database: Database, series: Series) -> int:
    """Incident of two series that fell together, without any rule."""
    with database.transaction() as session:
        reads = another(series, session, labels={"operation": "read"}, better="higher")
        for one, after in ((series, 80.0), (reads, 70.0)):
            confirmed_change(session, one, NOW + timedelta(days=5), 100.0, after)
            raise_alerts(session, one.id)
    (found,) = client.get(f"{API}/incidents", headers=admin.headers).json()["items"]
    return int(found["id"])


@pytest.fixture
def event_id(database: Database, series: Series) -> int:
    with database.transaction() as session:
        made = Event(
            cluster_id=series.cluster_id,
            kind="manual",
            since=NOW,
            at=NOW,
            text="firmware 3.1",
            node_ids=[],
            target_ids=[],
        )
        session.add(made)
        session.flush()
        return made.id


@pytest.fixture
def act(client: TestClient, admin: Person, incident_id: int) -> Callable[..., Response]:
    def act(action: str, **details: object) -> Response:
        url = f"{API}/incidents/{incident_id}/actions"
        return client.post(url, headers=admin.headers, json={"action": action, **details})

    return act


def test_an_incident_shows_its_worst_change_its_line_and_its_members(
    client: TestClient, admin: Person, incident_id: int
) -> None:
    detail = client.get(f"{API}/incidents/{incident_id}", headers=admin.headers).json()
    incident = detail["incident"]
    assert incident["words"] == "scratch: dd read and write up to \u221230.0 % since 26 Nov 2026, 2 series"
    assert (incident["kind"], incident["state"], incident["worst_ratio"]) == ("worse", "open", pytest.approx(-0.3))
    assert incident["series"]["labels"] == {"operation": "read"}
    assert incident["change"]["words"].startswith("30.0 % lower, worse")
    assert incident["moves"] == ["acknowledge", "expect", "set_cause", "ignore", "comment"]
    assert [round(one["change"]["shift_ratio"], 2) for one in detail["changes"]] == [-0.3, -0.2]
    assert {one["alert_state"] for one in detail["changes"]} == {"untriaged"}
    assert [(one["action"], one["who"], one["alerts"]) for one in detail["actions"]] == [("confirmed", None, 2)]


def test_acknowledging_assigns_all_its_alerts_and_is_audited_once(
    client: TestClient, admin: Person, act: Callable[..., Response]
) -> None:
    taken = act("acknowledge", comment="mine").json()
    assert (taken["incident"]["state"], taken["incident"]["owner"]) == ("acknowledged", "ada")
    alerts = client.get(f"{API}/alerts", headers=admin.headers).json()["items"]
    assert [(one["state"], one["owner"]) for one in alerts] == [("acknowledged", "ada")] * 2
    by_users = [one for one in taken["actions"] if one["who"] is not None]
    assert [(one["action"], one["comment"], one["alerts"]) for one in by_users] == [("acknowledge", "mine", 2)]
    (entry,) = client.get(f"{API}/audit?limit=1", headers=admin.headers).json()["items"]
    assert (entry["action"], entry["subject_kind"]) == ("incident_acknowledge", "incident")
    assert (entry["before"]["state"], entry["after"]["state"]) == ("open", "acknowledged")


def test_a_cause_set_by_a_user_is_that_of_all_its_alerts(
    client: TestClient, admin: Person, act: Callable[..., Response], event_id: int
) -> None:
    caused = act("set_cause", event_id=event_id).json()["incident"]
    assert (caused["event"]["text"], caused["is_event_set"], caused["state"]) == ("firmware 3.1", True, "open")
    assert "firmware 3.1" in caused["words"]
    alerts = client.get(f"{API}/alerts", headers=admin.headers).json()["items"]
    assert [one["event"]["id"] for one in alerts] == [event_id] * 2
    assert act("expect").json()["incident"]["state"] == "expected"


@pytest.mark.parametrize(("action", "state"), [("expect", "expected"), ("ignore", "ignored")])
def test_a_judged_incident_is_not_open_until_it_is_reopened(
    act: Callable[..., Response], action: str, state: str
) -> None:
    judged = act(action).json()["incident"]
    assert (judged["state"], judged["moves"]) == (state, ["set_cause", "comment", "reopen", "undo"])
    refused = act("acknowledge")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "incident_move_refused")
    assert refused.json()["error"]["remedy"] == "possible actions: set_cause, comment, reopen, undo"
    assert act("reopen").json()["incident"]["state"] == "open"


def test_an_undone_action_leaves_the_incident_as_it_was_before(
    client: TestClient, admin: Person, act: Callable[..., Response], event_id: int
) -> None:
    def shown() -> tuple[Any, ...]:
        alerts = client.get(f"{API}/alerts", headers=admin.headers).json()["items"]
        (incident,) = client.get(f"{API}/incidents", headers=admin.headers).json()["items"]
        of_alerts = [(one["state"], one["owner"], one["event"]) for one in alerts]
        return of_alerts, *(incident[name] for name in ("state", "owner", "event", "is_event_set"))

    for action, details in (
        ("acknowledge", {}),
        ("set_cause", {"event_id": event_id}),
        ("expect", {}),
        ("reopen", {}),
        ("ignore", {}),
    ):
        before = shown()
        assert "undo" in act(action, **details).json()["incident"]["moves"]
        act("comment", comment="a comment between them")
        undone = act("undo").json()
        assert shown() == before
        assert "undo" in {one["action"] for one in undone["actions"]}
        assert act("undo").json()["error"]["code"] == "incident_move_refused"
        act(action, **details)


def test_an_undone_action_leaves_alerts_that_recovered_since(
    client: TestClient, admin: Person, database: Database, act: Callable[..., Response]
) -> None:
    act("acknowledge")
    with database.transaction() as session:
        first = session.scalars(text("SELECT min(id) FROM alert")).one()
        session.execute(text("UPDATE alert SET state = 'recovered' WHERE id = :id"), {"id": first})
    act("undo")
    alerts = client.get(f"{API}/alerts", headers=admin.headers).json()["items"]
    assert {one["id"] == first: one["state"] for one in alerts} == {True: "recovered", False: "untriaged"}


def test_undoing_an_acknowledgement_also_opens_what_joined_since(
    database: Database, series: Series, act: Callable[..., Response]
) -> None:
    act("acknowledge")
    with database.transaction() as session:
        deletes = another(series, session, labels={"operation": "delete"}, better="higher")
        confirmed_change(session, deletes, NOW + timedelta(days=5), 100.0, 60.0)
        raise_alerts(session, deletes.id)
    undone = act("undo").json()
    assert {one["alert_state"] for one in undone["changes"]} == {"untriaged"}
    assert (len(undone["changes"]), undone["incident"]["state"], undone["incident"]["owner"]) == (3, "open", None)


@pytest.mark.parametrize(
    ("action", "details", "code"),
    [
        ("set_cause", {}, "alert_detail_missing"),
        ("comment", {}, "alert_detail_missing"),
        ("undo", {}, "incident_move_refused"),
        ("ignore", {"owner": "ada"}, "alert_detail_unexpected"),
        ("acknowledge", {"event_id": 1}, "alert_detail_unexpected"),
        ("acknowledge", {"owner": "nobody"}, "owner_unknown"),
        ("set_cause", {"event_id": 999}, "event_not_found"),
    ],
)
def test_an_action_without_what_it_needs_changes_nothing(
    client: TestClient,
    admin: Person,
    incident_id: int,
    act: Callable[..., Response],
    action: str,
    details: dict[str, object],
    code: str,
) -> None:
    assert act(action, **details).json()["error"]["code"] == code
    detail = client.get(f"{API}/incidents/{incident_id}", headers=admin.headers).json()
    assert (detail["incident"]["state"], len(detail["actions"])) == ("open", 1)


def test_removing_the_rule_of_its_alerts_leaves_the_incident_open(
    client: TestClient, admin: Person, database: Database, series: Series
) -> None:
    rule = {"name": "slower", "cluster": "blade"}
    made = client.post(f"{API}/alert-rules", headers=admin.headers, json=rule).json()
    with database.transaction() as session:
        confirmed_change(session, series, NOW + timedelta(days=5), 100.0, 80.0)
        raise_alerts(session, series.id)
    assert client.delete(f"{API}/alert-rules/{made['id']}", headers=admin.headers).json() == {"closed_alerts": 1}
    (found,) = client.get(f"{API}/incidents", headers=admin.headers).json()["items"]
    assert found["state"] == "open"
    url = f"{API}/incidents/{found['id']}/actions"
    taken = client.post(url, headers=admin.headers, json={"action": "acknowledge"}).json()
    assert taken["incident"]["state"] == "acknowledged"


def test_the_list_has_open_incidents_first_and_pages_through_all_of_them(
    client: TestClient, admin: Person, database: Database, series: Series
) -> None:
    with database.transaction() as session:
        for day, before, after in ((5, 100.0, 80.0), (15, 80.0, 60.0), (25, 60.0, 50.0)):
            confirmed_change(session, series, NOW + timedelta(days=day), before, after)
        raise_alerts(session, series.id)
        session.execute(text("UPDATE alert SET state = 'recovered' WHERE at = :at"), {"at": NOW + timedelta(days=25)})
        raise_alerts(session, series.id)

    def page(query: str) -> dict[str, Any]:
        found: dict[str, Any] = client.get(f"{API}/incidents?{query}", headers=admin.headers).json()
        return found

    days = [one["at"][5:10] for one in page("")["items"]]
    assert days == ["12-06", "11-26", "12-16"]
    paged: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        found = page(f"limit=1{cursor and f'&cursor={cursor}'}")
        paged += [one["at"][5:10] for one in found["items"]]
        cursor = found["next_cursor"]
    assert paged == days
    assert len(page(f"series_id={series.id}&target_id={series.target_ids[0]}")["items"]) == 3
    assert [one["state"] for one in page("state=ended")["items"]] == ["ended"]
    assert len(page(f"series_id=999999&series_id={series.id}")["items"]) == 3
    assert page("series_id=999999")["items"] == []
    assert page("target_id=999")["items"] == page("owner=ada")["items"] == page("kind=better")["items"] == []


def test_strangers_see_no_incident_and_viewers_may_not_act(
    client: TestClient,
    admin: Person,
    incident_id: int,
    make_person: Callable[..., Person],
    database: Database,
    series: Series,
) -> None:
    with database.transaction() as session:
        session.execute(text("INSERT INTO cluster (name) VALUES ('elsewhere')"))
        elsewhere = session.scalars(text("SELECT id FROM cluster WHERE name = 'elsewhere'")).one()
    stranger = make_person("eve", Role.OPERATOR, elsewhere)
    viewer = make_person("bob", Role.VIEWER, series.cluster_id)
    url = f"{API}/incidents/{incident_id}"
    assert client.get(f"{API}/incidents", headers=stranger.headers).json()["items"] == []
    assert client.get(url, headers=stranger.headers).status_code == 404
    assert client.get(url, headers=viewer.headers).status_code == 200
    for person, status in ((stranger, 404), (viewer, 403)):
        refused = client.post(f"{url}/actions", headers=person.headers, json={"action": "acknowledge"})
        assert refused.status_code == status, refused.text
    assert client.get(url, headers=admin.headers).json()["incident"]["state"] == "open"
