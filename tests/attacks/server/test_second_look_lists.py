"""Large plans, flags and many events of one operator: lists stay small for every reader."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import pytest
from factories.announced import NOW
from factories.clock import MovedClock
from factories.histories import history, levels
from factories.measured import Measured, finish, sample
from factories.people import Person
from factories.plans import plan
from factories.ready_cluster import ReadyCluster
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import text

from iotide_server.accounts.models import Role
from iotide_server.campaigns.plain import LISTED_PLAN_BYTES, MOST_PLAN_BYTES
from iotide_server.kit.db import Database
from iotide_server.trends.changes.analysis import analyse_series
from iotide_server.trends.events import repository as event_repository
from iotide_server.trends.events.repository import MOST_NEAR
from iotide_server.trends.models import Event, EventEffect

API: Final = "/api/v1"


@pytest.fixture
def ready(database: Database, clock: MovedClock) -> None:
    with database.transaction() as session:
        ReadyCluster(session, clock())


def of_size(kind: str, size_bytes: int) -> tuple[str, dict[str, Any]]:
    """Return a path and a body with a plan that is some bytes larger."""
    count = size_bytes // 800
    blocks = [512 * number for number in range(1, 101)]
    chosen = {"workload": "dd", "options": {"file_size_bytes": "1 MiB"}, "sweep": {"block_size_bytes": blocks}}
    wanted = plan(workloads=[chosen] * min(100, count), note="n" * max(0, size_bytes - 100 * 800))
    calendar = {"cron": "30 2 * * *", "time_zone": "UTC"}
    body = {"templates": {"name": "a", "plan": wanted}, "schedules": {"name": "a", "plan": wanted, **calendar}}
    return f"{API}/{kind}", body.get(kind, wanted)


def without_previous(shown: dict[str, Any]) -> dict[str, Any]:
    """Leave out the previous campaign, which only the page of a campaign shows."""
    return {name: value for name, value in shown.items() if name != "previous_campaign_id"}


@pytest.mark.parametrize("kind", ["templates", "schedules", "campaigns"])
@pytest.mark.usefixtures("ready")
def test_a_list_has_no_large_plans(client: TestClient, admin: Person, kind: str) -> None:
    path, body = of_size(kind, 2 * LISTED_PLAN_BYTES)
    made = client.post(path, json=body, headers=admin.headers)
    assert made.status_code == 201, made.text
    assert len(made.json()["plan"]["workloads"]) > 10
    (listed,) = client.get(path, headers=admin.headers).json()["items"]
    assert listed.pop("plan") is None
    alone = client.get(f"{path}/{listed['id']}", headers=admin.headers).json()
    assert alone.pop("plan") == made.json()["plan"]
    assert without_previous(alone) == listed


@pytest.mark.parametrize("kind", ["templates", "schedules", "campaigns"])
@pytest.mark.usefixtures("ready")
def test_a_small_plan_is_in_lists_as_before(client: TestClient, admin: Person, kind: str) -> None:
    path, body = of_size(kind, 2_000)
    made = client.post(path, json=body, headers=admin.headers).json()
    assert client.get(path, headers=admin.headers).json()["items"] == [without_previous(made)]


@pytest.mark.parametrize("kind", ["templates", "schedules", "campaigns", "campaigns/preview"])
@pytest.mark.usefixtures("ready")
def test_a_plan_over_its_size_is_rejected_with_a_message(client: TestClient, admin: Person, kind: str) -> None:
    path, body = of_size(kind, 2_000)
    wanted = body.get("plan", body)
    wanted["workloads"][0]["options"]["job_file"] = "x" * MOST_PLAN_BYTES
    answer = client.post(path, json=body, headers=admin.headers)
    assert answer.status_code == 422, answer.text
    error = answer.json()["error"]
    assert error["field"] == ("workloads" if wanted is body else "plan.workloads")
    assert "at most 262,144 are allowed" in error["message"]


def test_events_near_a_change_are_the_newest_and_a_count(client: TestClient, admin: Person, database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        series = history(measured, levels((30, 100.0), (8, 80.0)))
        session.flush()
        analyse_series(session, series.id)
        history(measured, levels((2, 80.0)), first_day=38)
        session.flush()
        for minute in range(MOST_NEAR + 5):
            at = NOW + timedelta(days=29, minutes=minute)
            event = Event(cluster_id=series.cluster_id, kind="manual", since=at, at=at, text=f"event {minute}")
            event.node_ids = event.target_ids = []
            session.add(event)
        session.flush()
        analyse_series(session, series.id)
    (named,) = client.get(f"{API}/changes", headers=admin.headers).json()["items"]
    assert [event["text"] for event in named["events"]] == [f"event {minute}" for minute in range(5, MOST_NEAR + 5)]
    assert named["events_more"] == 5


def test_a_series_is_judged_by_its_newest_events_alone(
    client: TestClient, admin: Person, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_repository, "MOST_JUDGED", 3)
    with database.transaction() as session:
        series = history(Measured(session, NOW), levels((12, 100.0)))
        for day in range(5):
            at = NOW + timedelta(days=day, hours=1)
            event = Event(cluster_id=series.cluster_id, kind="manual", since=at, at=at, text=f"event {day}")
            event.node_ids = event.target_ids = []
            session.add(event)
        session.flush()
        analyse_series(session, series.id)
        assert session.query(EventEffect).count() == 3
    answer = client.get(f"{API}/series/{series.id}/analysis", headers=admin.headers).json()
    assert [effect["event"]["text"] for effect in answer["events"]] == ["event 2", "event 3", "event 4"]


def test_flags_of_a_reading_are_bounded_as_those_of_a_result(
    client: TestClient, database: Database, make_person: Callable[..., Person]
) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        measured.deliver(measured.cell(), finish(NOW, sample(100.0)))
        cluster_id = measured.cluster.id
    with database.transaction() as session:
        run = session.execute(text("SELECT run_id, order_id, workload_revision FROM reading")).one()
    grace = make_person("grace", Role.OPERATOR, cluster_id)
    large = {"code": "STEADY", "effect": "marked", "measured": "x" * 950, "limit": "y" * 950}

    def read_again(count: int) -> Response:
        flags = [{**large, "measured": f"{number} {'x' * 950}"} for number in range(count)]
        samples = [{"metric": "write_rate", "value": 1.0, "labels": {"operation": "write"}, "target_id": None}]
        orders = [{"order_id": run.order_id, "samples": samples, "flags": flags}]
        body = {"workload_revision": run.workload_revision, "parser_version": "0.3.1", "orders": orders}
        return client.post(f"{API}/runs/{run.run_id}/readings", json=body, headers=grace.headers)

    answer = read_again(100)
    assert answer.status_code == 422, answer.text
    assert answer.json()["error"]["field"] == "orders[0].flags"
    assert read_again(10).status_code < 300
