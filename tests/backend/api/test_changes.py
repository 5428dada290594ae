from collections.abc import Callable
from datetime import timedelta

import pytest
from factories.announced import NOW
from factories.histories import history, levels
from factories.measured import Measured, finish, sample
from factories.people import Person
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import text

from iotide_server.accounts.models import Role
from iotide_server.kit.db import Database
from iotide_server.results.models import Series
from iotide_server.trends.changes.analysis import analyse_series
from iotide_server.trends.models import Event, EventEffect
from iotide_server.trends.points.service import recompute_points


def series_id(database: Database, *medians: list[float]) -> int:
    """Id of a series analysed after each group of medians."""
    with database.transaction() as session:
        measured = Measured(session, NOW)
        day = 0
        for part in medians:
            series = history(measured, part, first_day=day)
            day += len(part)
            session.flush()
            analyse_series(session, series.id)
        return series.id


def test_a_slower_series_shows_since_when_and_by_how_much(
    client: TestClient, admin: Person, database: Database
) -> None:
    found = series_id(database, levels((30, 100.0), (8, 80.0)), levels((2, 80.0)))
    answer = client.get(f"/api/v1/series/{found}/analysis", headers=admin.headers).json()
    assert (answer["course"], answer["words"], answer["n"]) == ("changed", "1 change in 40 points", 40)
    (change,) = answer["changes"]
    assert (change["previous_at"], change["at"]) == ("2026-12-20T10:00:00Z", "2026-12-21T10:00:00Z")
    assert change["words"] == "20.0 % lower, worse (10 points after, 30 before)"
    assert (change["n_before"], change["n_after"], change["p_value"] < 0.001) == (30, 10, True)
    assert change["confirmed_at"] is not None
    (named,) = client.get("/api/v1/changes", headers=admin.headers).json()["items"]
    assert (named["change"], named["events"]) == (change, [])
    assert (named["series"]["id"], named["series"]["node_names"]) == (found, ["node1"])


def test_a_change_found_by_a_single_analysis_is_shown_with_its_series_and_not_listed(
    client: TestClient, admin: Person, database: Database
) -> None:
    found = series_id(database, levels((30, 100.0), (8, 80.0)))
    answer = client.get(f"/api/v1/series/{found}/analysis", headers=admin.headers).json()
    assert [change["confirmed_at"] for change in answer["changes"]] == [None]
    assert client.get("/api/v1/changes", headers=admin.headers).json()["items"] == []
    listed = client.get("/api/v1/changes", params={"with_unconfirmed": True}, headers=admin.headers).json()["items"]
    assert [named["change"] for named in listed] == answer["changes"]


def test_changes_are_listed_by_direction_with_the_events_within_three_points_of_them(
    client: TestClient, admin: Person, database: Database
) -> None:
    found = series_id(database, levels((30, 100.0), (8, 80.0)), levels((2, 80.0)))
    noon = NOW + timedelta(hours=2)
    with database.transaction() as session:
        cluster_id = session.get_one(Series, found).cluster_id
        for text_, day in (("long before", 25), ("just before", 26), ("just after", 32), ("long after", 33)):
            at = noon + timedelta(days=day)
            event = Event(cluster_id=cluster_id, kind="manual", since=at, at=at, text=text_, node_ids=[], target_ids=[])
            session.add(event)
            session.flush()
            session.add(EventEffect(event_id=event.id, series_id=found))

    def listed(**wanted: str) -> list[list[str]]:
        items = client.get("/api/v1/changes", params=wanted, headers=admin.headers).json()["items"]
        return [[event["text"] for event in named["events"]] for named in items]

    near = [["just before", "just after"]]
    assert listed(direction="worse") == near
    assert listed(direction="better") == []
    assert listed(workload="dd") == near
    assert listed(workload="fio") == []


def test_an_event_has_the_number_of_the_change_at_the_same_points_and_else_names_its_own_points(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        series = history(Measured(session, NOW), [*levels((40, 100.0), (10, 80.0)), *levels((10, 76.0))])
        for day in (40, 39):
            at = NOW + timedelta(days=day, hours=-1)
            event = Event(cluster_id=series.cluster_id, kind="manual", since=at, at=at, text=str(day))
            event.node_ids, event.target_ids = [], []
            session.add(event)
        session.flush()
        analyse_series(session, series.id)
        found = series.id
    answer = client.get(f"/api/v1/series/{found}/analysis", headers=admin.headers).json()
    change = answer["changes"][0]
    effects = {effect["event"]["text"]: effect for effect in answer["events"]}
    same, near = effects["40"], effects["39"]
    assert change["n_after"] > 8
    assert (same["change_id"], same["shift_ratio"], same["p_value"], same["n_after"]) == (
        change["id"],
        change["shift_ratio"],
        change["p_value"],
        change["n_after"],
    )
    assert (near["change_id"], near["n_after"], near["n_before"]) == (None, 8, 20)
    assert near["words"].endswith("worse (8 points after, 20 before)")


def test_a_drop_that_recovered_is_one_line_with_its_start_and_end_and_nothing_is_called_better(
    client: TestClient, admin: Person, database: Database
) -> None:
    found = series_id(database, levels((30, 100.0), (20, 80.0), (10, 100.0)), levels((2, 100.0)))
    answer = client.get(f"/api/v1/series/{found}/analysis", headers=admin.headers).json()
    drop, rise = answer["changes"]
    assert answer["words"] == "1 change in 62 points"
    assert (drop["direction"], drop["ended_at"], drop["recovered_by"]) == ("worse", rise["at"], rise["id"])
    words = "20.0 % lower from 21 Dec 2026 to 10 Jan 2027, recovered (20 points after, 30 before)"
    assert drop["words"] == words
    assert rise["direction"] == "recovered"
    assert "back at the level before 21 Dec 2026" in rise["words"]

    def listed(**wanted: str | bool) -> list[int]:
        items = client.get("/api/v1/changes", params=wanted, headers=admin.headers).json()["items"]
        return [named["change"]["id"] for named in items]

    assert listed() == [drop["id"]]
    assert listed(direction="worse") == [drop["id"]]
    assert listed(direction="better") == []
    assert listed(with_unconfirmed=True) == [drop["id"]]


def test_a_drift_is_a_line_from_its_start_to_its_end(client: TestClient, admin: Person, database: Database) -> None:
    falling = [13_127 - (13_127 - 9_101) * number / 178 for number in range(179)]
    found = series_id(
        database, [value * wiggle / 100 for value, wiggle in zip(falling, levels((179, 100.0)), strict=True)]
    )
    answer = client.get(f"/api/v1/series/{found}/analysis", headers=admin.headers).json()
    drift = answer["drift"]
    assert (drift["start"], drift["end"]) == pytest.approx((13_127, 9_101), rel=0.01)
    assert drift["shift_ratio"] == pytest.approx(drift["end"] / drift["start"] - 1)
    assert drift["low"] < -0.3067 < drift["high"]
    assert answer["words"] == "gradual decline, \u221230.7 % since 21 Nov 2026 (179 points), no single start date"
    assert (drift["start_at"], drift["end_at"]) == ("2026-11-21T10:00:00Z", "2027-05-18T10:00:00Z")


@pytest.mark.parametrize(
    ("medians", "course", "words"),
    [
        (levels((20, 100.0)), "steady", "no significant change in 20 points; noise: 30 points needed"),
        (levels((10, 100.0)), "too_short", "not enough data: 10 of 14 points"),
    ],
)
def test_a_series_without_a_change_claims_only_what_is_known(
    client: TestClient, admin: Person, database: Database, medians: list[float], course: str, words: str
) -> None:
    found = series_id(database, medians)
    answer = client.get(f"/api/v1/series/{found}/analysis", headers=admin.headers).json()
    assert (answer["course"], answer["words"], answer["changes"]) == (course, words, [])


def test_before_its_first_analysis_a_series_has_no_course(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        found = history(Measured(session, NOW), levels((3, 1.0))).id
    answer = client.get(f"/api/v1/series/{found}/analysis", headers=admin.headers).json()
    assert (answer["course"], answer["words"], answer["analysed_at"]) == (None, "not analysed yet", None)


def test_changes_of_clusters_that_one_may_not_see_are_neither_listed_nor_shown(
    client: TestClient, admin: Person, database: Database, make_person: Callable[..., Person]
) -> None:
    found = series_id(database, levels((30, 100.0), (8, 80.0)), levels((2, 80.0)))
    with database.transaction() as session:
        elsewhere = Measured(session, NOW, name="elsewhere").cluster.id
    stranger = make_person("eve", Role.ADMIN, elsewhere)
    assert client.get("/api/v1/changes", headers=stranger.headers).json()["items"] == []
    assert client.get(f"/api/v1/series/{found}/analysis", headers=stranger.headers).status_code == 404
    assert client.get("/api/v1/changes", params={"cluster_id": 999}, headers=admin.headers).json()["items"] == []


def add_event(client: TestClient, person: Person, **changes: object) -> Response:
    given = {"cluster": "blade", "text": "RAID set 2 rebuilt", "nodes": ["node1"], "at": "2026-11-21T09:00:00Z"}
    return client.post("/api/v1/trend-events", json=given | changes, headers=person.headers)


def test_an_event_added_by_a_person_is_listed_evaluated_on_its_series_and_can_be_removed(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW - timedelta(days=40))
        found = history(measured, levels((20, 100.0), (8, 80.0))).id
    at = (NOW - timedelta(days=20, hours=1)).isoformat()
    event = add_event(client, admin, at=at).json()
    assert (event["kind"], event["told_by"], event["text"]) == (
        "manual",
        "ada (token test)",
        "RAID set 2 rebuilt",
    )
    (listed,) = client.get("/api/v1/trend-events", headers=admin.headers).json()["items"]
    assert listed == event
    with database.transaction() as session:
        wanted = text("SELECT count(*) FROM work WHERE kind = 'analysis' AND key = :key")
        assert session.scalar(wanted, {"key": found}) == 1
        analyse_series(session, found)
    answer = client.get(f"/api/v1/series/{found}/analysis", headers=admin.headers).json()
    (effect,) = answer["events"]
    assert effect["event"] == event
    assert (effect["effect"], effect["n_before"], effect["n_after"]) == ("shifted", 20, 8)
    assert effect["words"] == "20.0 % lower; see the change of 1 Nov 2026"
    (change,) = answer["changes"]
    assert (effect["change_id"], effect["shift_ratio"]) == (change["id"], change["shift_ratio"])

    path = f"/api/v1/trend-events/{event['id']}"
    assert client.delete(path, headers=admin.headers).status_code == 204
    assert client.delete(path, headers=admin.headers).json()["error"]["code"] == "event_not_found"
    answer = client.get(f"/api/v1/series/{found}/analysis", headers=admin.headers).json()
    assert answer["events"] == []


def test_events_that_runs_saw_cannot_be_removed(client: TestClient, admin: Person, database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        for minutes, kernel in enumerate(["6.1.0-30", "6.1.0-35"]):
            cell = measured.cell()
            measured.deliver(cell, finish(NOW, sample(1.0), environment={"kernel": kernel}), minutes=minutes)
            recompute_points(session, cell.id)
    (event,) = client.get("/api/v1/trend-events", headers=admin.headers).json()["items"]
    assert event["text"] == "kernel: 6.1.0-30 -> 6.1.0-35"
    refused = client.delete(f"/api/v1/trend-events/{event['id']}", headers=admin.headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "event_seen")


@pytest.mark.parametrize(
    ("changes", "status", "code", "field"),
    [
        ({"cluster": "nowhere"}, 404, "cluster_not_found", "cluster"),
        ({"nodes": ["node9"]}, 404, "node_not_found", "nodes[0]"),
        ({"targets": ["nfs9"]}, 404, "target_not_found", "targets[0]"),
        ({"at": "2027-01-01T00:00:00Z"}, 422, "invalid_input", "at"),
        ({"text": ""}, 422, "invalid_input", "text"),
    ],
)
def test_an_event_that_cannot_be_is_refused_by_name(
    client: TestClient,
    admin: Person,
    database: Database,
    changes: dict[str, object],
    status: int,
    code: str,
    field: str,
) -> None:
    with database.transaction() as session:
        Measured(session, NOW)
    refused = add_event(client, admin, **changes)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["field"]) == (status, code, field)


def test_a_viewer_cannot_add_events(client: TestClient, database: Database, make_person: Callable[..., Person]) -> None:
    with database.transaction() as session:
        Measured(session, NOW)
    assert add_event(client, make_person("vera", Role.VIEWER)).status_code == 403


def test_a_long_series_is_shown_by_fewer_points_and_by_a_part_of_it(
    client: TestClient, admin: Person, database: Database
) -> None:
    found = series_id(database, levels((30, 100.0), (1, 40.0), (29, 100.0)))

    def points(**wanted: str | int) -> Response:
        return client.get(f"/api/v1/series/{found}/points", params=wanted, headers=admin.headers)

    few = points(points=10).json()
    assert (len(few["at"]), few["left_out"]) == (10, 50)
    assert min(few["median"]) < 41
    assert (few["n"], few["low"]) == ([4] * 10, few["median"])
    part = points(**{"from": "2026-12-01T10:00:00Z", "to": "2026-12-05T10:00:00Z"}).json()
    assert (part["at"][0], part["at"][-1], len(part["at"])) == ("2026-12-01T10:00:00Z", "2026-12-05T10:00:00Z", 5)
    assert part["left_out"] == 0
    assert points(limit=40).json()["left_out"] == 20
    refused = points(**{"from": "2026-12-05T10:00:00Z", "to": "2026-12-01T10:00:00Z"})
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "to")
    assert points(points=4).status_code == 422


def test_events_are_listed_of_a_node_and_of_a_target_with_those_of_the_whole_cluster(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        cell = measured.cell()
        measured.deliver(cell, finish(NOW, sample(1.0, operation="write")))
        node_id, target_id = measured.node.id, measured.target.id
        run_id = session.scalars(text("SELECT max(id) FROM run")).one()
        other_id = measured.add_node("node2", cell).id
        seen = {"cluster_id": measured.cluster.id, "kind": "environment", "since": NOW, "at": NOW, "target_ids": []}
        session.add(Event(**seen, text="seen on node1", node_ids=[node_id], run_id=run_id))
        session.add(Event(**seen, text="seen on node2", node_ids=[other_id]))
    places: list[dict[str, list[str]]] = [
        {"nodes": [], "targets": []},
        {"nodes": [], "targets": ["scratch"]},
        {"nodes": ["node1"]},
    ]
    for place in places:
        said = f"of {place}"
        assert add_event(client, admin, text=said, **{"targets": [], **place}).status_code == 201

    def texts(**wanted: int) -> set[str]:
        items = client.get("/api/v1/trend-events", params=wanted, headers=admin.headers).json()["items"]
        return {item["text"] for item in items}

    everywhere, of_target = "of {'nodes': [], 'targets': []}", "of {'nodes': [], 'targets': ['scratch']}"
    assert texts(node_id=node_id) == {everywhere, "of {'nodes': ['node1']}", "seen on node1"}
    assert texts(node_id=other_id) == {everywhere, "seen on node2"}
    assert texts(target_id=target_id) == {everywhere, of_target, "seen on node1"}
    assert texts(target_id=999) == set()
