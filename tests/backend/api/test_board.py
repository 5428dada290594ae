"""The status board, over series that were analysed as they grew."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from factories.announced import NOW
from factories.histories import history, levels
from factories.measured import Measured
from factories.people import Person
from fastapi.testclient import TestClient
from sqlalchemy import event, text

from iotide_server.accounts.models import Role
from iotide_server.alerts.raising import raise_alerts
from iotide_server.clusters.agents import stuck as clusters_stuck
from iotide_server.clusters.agents.stuck import StuckLoad
from iotide_server.clusters.models import NodeHeartbeat
from iotide_server.kit.db import Database
from iotide_server.overview import judging, service
from iotide_server.trends.changes.analysis import analyse_series


def grown(database: Database, *medians: list[float], name: str = "blade", until_days: int = 1) -> int:
    """Return the id of a series analysed after each part; its newest point is that many days old."""
    with database.transaction() as session:
        day = 0
        measured = Measured(session, NOW - timedelta(days=sum(map(len, medians)) + until_days - 1), name=name)
        for part in medians:
            series = history(measured, part, first_day=day)
            day += len(part)
            analyse_series(session, series.id)
        return series.id


def shown(client: TestClient, person: Person, **wanted: int) -> dict[str, Any]:
    answer = client.get("/api/v1/board", params=wanted, headers=person.headers)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_a_slower_workload_is_shown_with_its_place_start_and_size(
    client: TestClient, admin: Person, database: Database
) -> None:
    series_id = grown(database, levels((30, 100.0), (8, 80.0)), levels((2, 80.0)))
    board = shown(client, admin)
    (cell,) = board["cells"]
    assert (cell["workload"], cell["state"], cell["words"]) == ("dd", "slower", "20.0 % lower than before")
    assert cell["counts"] == [{"state": "slower", "series": 1}]
    assert (cell["worst"]["id"], cell["worst"]["node_names"]) == (series_id, ["node1"])
    assert cell["since"] == (NOW - timedelta(days=10)).isoformat().replace("+00:00", "Z")
    assert cell["shift_ratio"] == pytest.approx(-0.2, abs=0.01)
    assert cell["since_cell_id"] is not None
    (cluster,) = board["clusters"]
    assert (cluster["name"], cluster["targets"], cluster["open_incidents"]) == ("blade", 1, 0)
    assert board["workloads"] == ["dd"]


def test_a_change_before_the_period_counts_until_a_person_expected_it(
    client: TestClient, admin: Person, database: Database
) -> None:
    series_id = grown(database, levels((30, 100.0), (8, 80.0)), levels((2, 80.0)))
    assert [shown(client, admin, days=days)["cells"][0]["state"] for days in (5, 90)] == ["slower", "slower"]
    rule = {"name": "slower", "cluster": "blade", "directions": "both"}
    assert client.post("/api/v1/alert-rules", headers=admin.headers, json=rule).status_code == 201
    with database.transaction() as session:
        session.execute(text("UPDATE change_point SET confirmed_at = now() + interval '1 day'"))
        raise_alerts(session, series_id)
    (cell,) = shown(client, admin, days=5)["cells"]
    assert (cell["state"], cell["open_incidents"]) == ("slower", 1)
    (alert,) = client.get("/api/v1/alerts", headers=admin.headers).json()["items"]
    given = {"cluster": "blade", "text": "smaller stripes", "at": (NOW - timedelta(days=10)).isoformat()}
    happened = client.post("/api/v1/trend-events", json=given, headers=admin.headers).json()["id"]
    expected = {"action": "expect", "event_id": happened, "comment": "as it should be"}
    done = client.post(f"/api/v1/alerts/{alert['id']}/actions", json=expected, headers=admin.headers)
    assert done.status_code == 200, done.text
    assert [cell["state"] for cell in shown(client, admin)["cells"]] == ["in_control"]


def test_too_few_points_are_no_baseline_and_what_was_not_measured_in_the_period_is_left_out(
    client: TestClient, admin: Person, database: Database
) -> None:
    grown(database, levels((3, 100.0)), until_days=20)
    assert [cell["state"] for cell in shown(client, admin)["cells"]] == ["no_baseline"]
    board = shown(client, admin, days=10)
    assert (board["cells"], board["workloads"]) == ([], [])
    assert [cluster["name"] for cluster in board["clusters"]] == ["blade"]


def test_all_steady_series_are_counted_and_the_newest_is_shown(
    client: TestClient, admin: Person, database: Database
) -> None:
    counts = {"a": 3, "b": 5, "c": 20, "d": 20}
    with database.transaction() as session:
        measured = Measured(session, NOW - timedelta(days=20))
        made = {
            name: history(measured, levels((count, 100.0)), first_day=20 - count, operation=name)
            for name, count in counts.items()
        }
        for name in "bcd":
            analyse_series(session, made[name].id)
    (cell,) = shown(client, admin)["cells"]
    assert cell["counts"] == [{"state": "in_control", "series": 2}, {"state": "no_baseline", "series": 2}]
    assert (cell["worst"]["id"], cell["words"]) == (made["d"].id, "no significant change in 20 points")
    assert cell["last_at"] == (NOW - timedelta(days=1)).isoformat().replace("+00:00", "Z")
    with database.transaction() as session:
        session.execute(text("DELETE FROM point WHERE series_id = ANY(:ids)"), {"ids": [made["c"].id, made["d"].id]})
    (cell,) = shown(client, admin)["cells"]
    assert (cell["state"], cell["words"]) == ("no_baseline", "not enough data: 5 of 14 points")


def test_only_the_newest_of_too_many_series_are_evaluated_and_the_report_says_it(
    client: TestClient, admin: Person, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW - timedelta(days=20))
        newest = [history(measured, levels((3, 100.0)), operation=name) for name in ("a", "b", "c")][-1]
    assert shown(client, admin)["is_cut"] is False
    for most, is_cut in ((3, False), (2, True)):
        monkeypatch.setattr(judging, "MOST_SERIES", most)
        board = shown(client, admin)
        (cell,) = board["cells"]
        assert (board["is_cut"], cell["counts"]) == (is_cut, [{"state": "no_baseline", "series": most}])
        assert cell["worst"]["id"] == newest.id


def test_nodes_are_counted_by_what_is_known_of_them(client: TestClient, admin: Person, database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        cell = measured.cell()
        session.add(NodeHeartbeat(node_id=measured.node.id, seen_at=NOW))
        silent = measured.add_node("node2", cell)
        session.add(NodeHeartbeat(node_id=silent.id, seen_at=NOW - timedelta(minutes=5)))
        silent.problem = "its spool is full"
        never_id = measured.add_node("node3", cell).id
        stuck = measured.add_node("node4", cell)
        session.add(NodeHeartbeat(node_id=stuck.id, seen_at=NOW))
        load = StuckLoad(process="dd", since=NOW, order_id=None, run_id=None, targets=())
        clusters_stuck.write(session, stuck, [load])
    client.put(f"/api/v1/nodes/{never_id}/drain", json={"reason": "new disk"}, headers=admin.headers)
    (cluster,) = shown(client, admin)["clusters"]
    counts = {"online": 1, "stuck": 1, "silent": 1, "never_seen": 1, "drained": 1, "passed_over": 1}
    assert cluster["nodes"] == counts


def test_clusters_that_one_may_not_see_are_not_on_the_board(
    client: TestClient, admin: Person, database: Database, make_person: Callable[..., Person]
) -> None:
    grown(database, levels((8, 100.0)))
    with database.transaction() as session:
        elsewhere = Measured(session, NOW, name="elsewhere").cluster.id
    stranger = make_person("eve", Role.VIEWER, elsewhere)
    board = shown(client, stranger)
    assert ([cluster["name"] for cluster in board["clusters"]], board["cells"]) == (["elsewhere"], [])
    assert len(shown(client, admin)["clusters"]) == 2


def test_as_many_questions_are_asked_of_the_database_for_many_series_as_for_one(
    client: TestClient, admin: Person, database: Database
) -> None:
    def asked() -> int:
        statements: list[str] = []

        def note(*given: object) -> None:
            statements.append(str(given[2]))

        event.listen(database.engine, "before_cursor_execute", note)
        shown(client, admin)
        event.remove(database.engine, "before_cursor_execute", note)
        return len(statements)

    grown(database, levels((30, 100.0), (8, 80.0)), levels((2, 80.0)))
    asked()  # the first use of a token costs one statement more
    few = asked()
    for name in ("other", "third"):
        grown(database, levels((30, 100.0), (8, 80.0)), levels((2, 80.0)), name=name)
    assert asked() == few


@pytest.mark.parametrize("days", ["0", "4000", "x"])
def test_a_period_that_is_none_is_refused_with_its_field(client: TestClient, admin: Person, days: str) -> None:
    answer = client.get("/api/v1/board", params={"days": days}, headers=admin.headers)
    assert answer.status_code == 422
    assert answer.json()["error"]["field"] == "days"


def test_a_cell_has_the_small_trend_of_its_worst_series_and_one_line_with_the_nearest_event(
    client: TestClient, admin: Person, database: Database
) -> None:
    given = {"cluster": "blade", "text": "kernel update", "at": (NOW - timedelta(days=10, hours=2)).isoformat()}
    grown(database, levels((30, 100.0), (8, 80.0)), levels((2, 80.0)))
    assert client.post("/api/v1/trend-events", json=given, headers=admin.headers).status_code == 201
    with database.transaction() as session:
        series_id = session.execute(text("SELECT series_id FROM change_point")).scalar_one()
        analyse_series(session, series_id)
    board = shown(client, admin)
    (cell,) = board["cells"]
    began = NOW - timedelta(days=10)
    assert cell["line"] == f"\u221220.0 % since {began:%-d %b}, kernel update"
    trend = cell["trend"]
    assert 20 < len(trend["at_seconds"]) <= 60
    assert [(round(level["start"]), round(level["end"])) for level in trend["levels"]] == [(100, 100), (80, 80)]
    assert trend["changes_seconds"] == [80 * 86_400]
    assert board["until"] == NOW.isoformat().replace("+00:00", "Z")


def test_a_stale_cell_without_points_in_the_period_has_words_and_no_trend(
    client: TestClient, admin: Person, database: Database
) -> None:
    grown(database, levels((30, 100.0)), until_days=20)
    (cell,) = shown(client, admin, days=10)["cells"]
    assert cell["state"] == "stale"
    assert cell["line"] == f"no data since {NOW - timedelta(days=20):%-d %b}"
    assert cell["words"].endswith(": usually measured every day")
    assert cell["trend"] == {"at_seconds": [], "medians": [], "levels": [], "changes_seconds": []}


def test_a_dense_series_has_at_most_sixty_points(client: TestClient, admin: Person, database: Database) -> None:
    grown(database, levels((200, 100.0)))
    (cell,) = shown(client, admin, days=365)["cells"]
    assert 30 <= len(cell["trend"]["at_seconds"]) <= 60


def test_cells_beyond_the_limit_have_no_trend_and_the_worst_has_one(
    client: TestClient, admin: Person, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown(database, levels((30, 100.0)), name="steady")
    grown(database, levels((30, 100.0), (8, 80.0)), levels((2, 80.0)))
    monkeypatch.setattr(service, "MOST_TRENDS", 1)
    drawn = {cell["state"]: bool(cell["trend"]["medians"]) for cell in shown(client, admin)["cells"]}
    assert drawn == {"slower": True, "in_control": False}
