from collections.abc import Callable
from typing import Any

import pytest
from factories.clock import MovedClock
from factories.people import Person
from factories.ready_cluster import ReadyCluster
from fastapi.testclient import TestClient
from sqlalchemy import text

from iotide_server.accounts.models import Role
from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database
from iotide_server.schedules.firing import fire_due

SCHEDULES = "/api/v1/schedules"
NIGHTLY = {"cron": "30 2 * * *", "time_zone": "Europe/Zurich"}


@pytest.fixture
def ready(database: Database, clock: Clock) -> ReadyCluster:
    with database.transaction() as session:
        return ReadyCluster(session, clock())


@pytest.fixture
def given(ready: ReadyCluster) -> Callable[..., dict[str, Any]]:
    """Return a schedule with these changes."""

    def make(**changes: object) -> dict[str, Any]:
        return {"name": "every-night", "plan": ready.plan(), **NIGHTLY, **changes}

    return make


@pytest.fixture
def made(client: TestClient, admin: Person, given: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    answer = client.post(SCHEDULES, json=given(), headers=admin.headers)
    assert answer.status_code == 201, answer.text
    schedule: dict[str, Any] = answer.json()
    return schedule


def test_a_schedule_shows_its_next_five_firings(made: dict[str, Any]) -> None:
    assert (made["state"], made["words"], made["owner"], made["cluster_name"]) == (
        "active",
        "At 02:30 every day",
        "ada",
        "blade",
    )
    assert [firing["planned_at"] for firing in made["next_firings"]] == [
        f"2026-11-{day}T01:30:00Z" for day in range(22, 27)
    ]
    assert made["last_firing"] is None


@pytest.mark.parametrize(
    ("calendar", "firings"),
    [
        ({"cron": "30 2 * * *"}, ["2026-11-22T01:30:00Z", "2026-11-23T01:30:00Z", "2026-11-24T01:30:00Z"]),
        (
            {"monthly": "first sunday at 02:30"},
            ["2026-12-06T01:30:00Z", "2027-01-03T01:30:00Z", "2027-02-07T01:30:00Z"],
        ),
        ({"cron": "30 2 * * *", "ends_at": "2026-11-22T10:00:00+01:00"}, ["2026-11-22T01:30:00Z"]),
        ({"cron": "30 2 * * *", "max_firings": 1}, ["2026-11-22T01:30:00Z"]),
    ],
)
def test_a_calendar_is_previewed_before_anything_is_stored(
    client: TestClient, admin: Person, calendar: dict[str, Any], firings: list[str]
) -> None:
    body = {"time_zone": "Europe/Zurich", **calendar}
    answer = client.post(f"{SCHEDULES}/preview", json=body, headers=admin.headers)
    assert answer.status_code == 200, answer.text
    assert answer.json()["firings"][:3] == firings
    assert len(answer.json()["firings"]) == (5 if len(firings) == 3 else 1)


@pytest.mark.parametrize(
    ("changes", "status", "code", "field"),
    [
        ({"cron": "30 2 * *"}, 422, "cron_refused", "cron"),
        ({"cron": None, "monthly": "some day"}, 422, "monthly_refused", "monthly"),
        ({"monthly": "first sunday at 02:30"}, 422, "calendar_unclear", "cron"),
        ({"time_zone": "Europe/Bern"}, 422, "time_zone_unknown", "time_zone"),
        ({"time_zone": None}, 422, "invalid_input", "time_zone"),
        ({"ends_at": "2026-11-21T12:00:00Z"}, 422, "never_fires", "ends_at"),
        ({"ends_at": "2026-11-30T12:00:00"}, 422, "invalid_input", "ends_at"),
        ({"random_offset": "a while"}, 422, "invalid_input", "random_offset"),
        ({"max_firings": 0}, 422, "invalid_input", "max_firings"),
        ({"missed": "twice"}, 422, "invalid_input", "missed"),
        ({"repeat": "daily"}, 422, "invalid_input", "repeat"),
    ],
)
def test_an_invalid_calendar_is_refused_with_its_field(
    client: TestClient,
    admin: Person,
    given: Callable[..., dict[str, Any]],
    changes: dict[str, Any],
    status: int,
    code: str,
    field: str,
) -> None:
    answer = client.post(SCHEDULES, json=given(**changes), headers=admin.headers)
    assert answer.status_code == status
    assert (answer.json()["error"]["code"], answer.json()["error"]["field"]) == (code, field)
    assert answer.json()["error"]["remedy"]


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"nodes": ["n9"]}, "node_not_found", "plan.nodes[0]"),
        ({"targets": ["scratch", "scratch"]}, "repeated_entry", "plan.targets[1]"),
        ({"note": "\0"}, "invalid_input", "plan.note"),
        ({"workloads": [{"workload": "dd", "options": {"x": "\0"}}]}, "invalid_input", "plan.workloads[0].options.x"),
        ({"window": {"from": "22:00", "until": "22:00", "time_zone": "UTC"}}, "invalid_input", "plan.window"),
        (
            {"window": {"from": "22:00", "until": "22:30", "time_zone": "UTC"}},
            "run_longer_than_window",
            "plan.time_limit_seconds",
        ),
        (
            {"window": {"from": "22:00", "until": "05:00", "time_zone": "Nowhere"}},
            "time_zone_unknown",
            "plan.window.time_zone",
        ),
        ({"window": {"from": "25:00", "until": "05:00", "time_zone": "UTC"}}, "invalid_input", "plan.window.from"),
    ],
)
def test_an_invalid_plan_of_a_schedule_is_refused_with_its_full_path(
    client: TestClient,
    admin: Person,
    ready: ReadyCluster,
    given: Callable[..., dict[str, Any]],
    changes: dict[str, Any],
    code: str,
    field: str,
) -> None:
    answer = client.post(SCHEDULES, json=given(plan=ready.plan(**changes)), headers=admin.headers)
    assert answer.status_code in {404, 409, 422}
    assert (answer.json()["error"]["code"], answer.json()["error"]["field"]) == (code, field)


def test_a_campaign_leads_to_the_schedule_that_made_it_and_back(
    client: TestClient, admin: Person, made: dict[str, Any], database: Database, clock: MovedClock
) -> None:
    clock.move(15.5 * 3600)
    assert fire_due(database, clock())
    shown = client.get(f"{SCHEDULES}/{made['id']}", headers=admin.headers).json()
    firing = shown["last_firing"]
    assert (firing["outcome"], firing["planned_at"], shown["firings_made"]) == ("submitted", "2026-11-22T01:30:00Z", 1)
    campaign = client.get(f"/api/v1/campaigns/{firing['campaign_id']}", headers=admin.headers).json()
    assert (campaign["schedule_id"], campaign["schedule_name"]) == (made["id"], "every-night")
    assert campaign["owner"] == "ada"
    assert client.get(f"{SCHEDULES}/{made['id']}/firings", headers=admin.headers).json()["items"] == [firing]
    by_hand = client.post("/api/v1/campaigns", json=shown["plan"], headers=admin.headers).json()
    assert by_hand["schedule_id"] is None


def test_it_can_be_paused_resumed_run_at_once_and_removed(
    client: TestClient, admin: Person, made: dict[str, Any]
) -> None:
    url = f"{SCHEDULES}/{made['id']}"
    for _ in range(2):
        paused = client.post(f"{url}/pause", headers=admin.headers).json()
        assert (paused["state"], paused["next_firings"]) == ("paused", [])
    firing = client.post(f"{url}/run", headers=admin.headers)
    assert firing.status_code == 201
    assert (firing.json()["outcome"], firing.json()["asked_by"]) == ("submitted", "ada (token test)")
    assert client.get(url, headers=admin.headers).json()["firings_made"] == 0
    for _ in range(2):
        resumed = client.post(f"{url}/resume", headers=admin.headers).json()
        assert (resumed["state"], resumed["next_firings"]) == ("active", made["next_firings"])
    assert client.delete(url, headers=admin.headers).status_code == 204
    assert client.get(SCHEDULES, headers=admin.headers).json()["items"] == []
    assert client.get(url, headers=admin.headers).json()["state"] == "ended"
    for step in ("pause", "resume", "run", "duplicate"):
        assert client.post(f"{url}/{step}", headers=admin.headers).status_code == 404


def test_running_a_schedule_with_a_retired_node_is_refused_and_stores_nothing(
    client: TestClient, admin: Person, made: dict[str, Any], database: Database
) -> None:
    with database.transaction() as session:
        session.execute(text("UPDATE node SET retired_at = now()"))
    answer = client.post(f"{SCHEDULES}/{made['id']}/run", headers=admin.headers)
    assert (answer.status_code, answer.json()["error"]["field"]) == (404, "plan.nodes[0]")
    assert client.get(f"{SCHEDULES}/{made['id']}", headers=admin.headers).json()["last_firing"] is None


def test_a_copy_is_paused_and_has_a_name_of_its_own(client: TestClient, admin: Person, made: dict[str, Any]) -> None:
    url = f"{SCHEDULES}/{made['id']}/duplicate"
    copies = [client.post(url, headers=admin.headers).json() for _ in range(2)]
    assert [(copy["name"], copy["state"]) for copy in copies] == [
        ("every-night-2", "paused"),
        ("every-night-3", "paused"),
    ]
    assert all(copy["plan"] == made["plan"] for copy in copies)


def test_it_can_be_changed_as_a_whole(
    client: TestClient, admin: Person, made: dict[str, Any], given: Callable[..., dict[str, Any]]
) -> None:
    url = f"{SCHEDULES}/{made['id']}"
    body = given(name="weekly", cron=None, monthly="last friday at 22:00", random_offset="30 min", max_firings=3)
    changed = client.put(url, json=body, headers=admin.headers).json()
    assert (changed["name"], changed["cron"], changed["random_offset_seconds"]) == ("weekly", "0 22 * * 5L", 1800.0)
    assert [firing["planned_at"] for firing in changed["next_firings"]] == [
        "2026-11-27T21:00:00Z",
        "2026-12-25T21:00:00Z",
        "2027-01-29T21:00:00Z",
    ]
    client.post(f"{url}/pause", headers=admin.headers)
    assert client.put(url, json=given(), headers=admin.headers).json()["state"] == "paused"


def test_a_name_is_taken_until_its_schedule_is_removed(
    client: TestClient, admin: Person, made: dict[str, Any], given: Callable[..., dict[str, Any]]
) -> None:
    refused = client.post(SCHEDULES, json=given(), headers=admin.headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "schedule_name_taken")
    other = client.post(SCHEDULES, json=given(name="other"), headers=admin.headers).json()
    refused = client.put(f"{SCHEDULES}/{other['id']}", json=given(), headers=admin.headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "schedule_name_taken")
    client.delete(f"{SCHEDULES}/{made['id']}", headers=admin.headers)
    assert client.post(SCHEDULES, json=given(), headers=admin.headers).status_code == 201


def test_each_change_is_in_the_audit_and_the_change_feed(
    client: TestClient, admin: Person, made: dict[str, Any], database: Database
) -> None:
    for step in ("pause", "resume", "run"):
        client.post(f"{SCHEDULES}/{made['id']}/{step}", headers=admin.headers)
    client.delete(f"{SCHEDULES}/{made['id']}", headers=admin.headers)
    with database.transaction() as session:
        statement = text("SELECT action FROM audit_entry WHERE subject_kind = 'schedule' ORDER BY id")
        assert session.scalars(statement).all() == [
            f"schedule_{done}" for done in ("created", "paused", "resumed", "run", "removed")
        ]
        assert session.scalar(text("SELECT count(*) FROM change WHERE kind = 'schedule'")) == 5


def test_others_see_it_and_only_operators_of_its_cluster_change_it(
    client: TestClient,
    admin: Person,
    make_person: Callable[..., Person],
    made: dict[str, Any],
    given: Callable[..., dict[str, Any]],
) -> None:
    url = f"{SCHEDULES}/{made['id']}"
    other = client.post("/api/v1/clusters", json={"name": "other"}, headers=admin.headers).json()
    viewer, stranger = make_person("vera", Role.VIEWER), make_person("otto", Role.OPERATOR, other["id"])
    assert client.get(url, headers=viewer.headers).status_code == 200
    assert client.get(url, headers=stranger.headers).status_code == 404
    assert client.get(SCHEDULES, headers=stranger.headers).json()["items"] == []
    for person, status in ((viewer, 403), (stranger, 404)):
        assert client.put(url, json=given(), headers=person.headers).status_code == status
        assert client.delete(url, headers=person.headers).status_code == status
        for step in ("pause", "resume", "run", "duplicate"):
            assert client.post(f"{url}/{step}", headers=person.headers).status_code == status
