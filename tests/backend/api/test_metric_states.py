"""States of the series of one metric, over series that were analysed as they grew."""

from datetime import timedelta
from typing import Any

import pytest
from factories.announced import NOW
from factories.histories import history, levels
from factories.measured import Measured
from factories.people import Person, person
from fastapi.testclient import TestClient
from sqlalchemy import update

from iotide_server.accounts.models import Role
from iotide_server.kit.db import Database
from iotide_server.overview import metric_states
from iotide_server.results.models import Series
from iotide_server.trends.changes.analysis import analyse_series


def grown(database: Database, parts: dict[str, list[list[float]]], *, until_days: int = 1) -> dict[str, int]:
    """Return the series by operation, each analysed after each part; the newest points are that many days old."""
    with database.transaction() as session:
        longest = max(sum(map(len, medians)) for medians in parts.values())
        measured = Measured(session, NOW - timedelta(days=longest + until_days - 1), name="blade")
        found: dict[str, int] = {}
        for operation, medians in parts.items():
            day = longest - sum(map(len, medians))
            for part in medians:
                series = history(measured, part, first_day=day, operation=operation)
                day += len(part)
                analyse_series(session, series.id)
            found[operation] = series.id
        return found


def shown(client: TestClient, person: Person, **wanted: str | int) -> dict[str, Any]:
    answer = client.get("/api/v1/board/series", params=wanted, headers=person.headers)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_series_are_listed_worst_first_with_size_and_start(
    client: TestClient, admin: Person, database: Database
) -> None:
    slower, much_slower = levels((30, 100.0), (8, 90.0)), levels((30, 100.0), (8, 80.0))
    ids = grown(
        database,
        {
            "steady": [levels((40, 100.0))],
            "short": [levels((3, 100.0))],
            "slower": [slower, levels((2, 90.0))],
            "slowest": [much_slower, levels((2, 80.0))],
        },
    )
    board = shown(client, admin)
    listed = [(one["series"]["id"], one["state"]) for one in board["series"]]
    assert listed == [
        (ids["slowest"], "slower"),
        (ids["slower"], "slower"),
        (ids["steady"], "in_control"),
        (ids["short"], "no_baseline"),
    ]
    worst = board["series"][0]
    assert worst["words"] == "20.0 % lower than before"
    assert worst["shift_ratio"] == pytest.approx(-0.2, abs=0.01)
    assert worst["since"] == (NOW - timedelta(days=10)).isoformat().replace("+00:00", "Z")


def test_a_silent_series_is_stale_with_its_last_day(client: TestClient, admin: Person, database: Database) -> None:
    grown(database, {"write": [levels((20, 100.0))]}, until_days=9)
    (one,) = shown(client, admin)["series"]
    assert one["state"] == "stale"
    assert one["words"].endswith("usually measured every day")


def test_the_measured_workload_and_its_primary_metric_are_chosen(
    client: TestClient, admin: Person, database: Database
) -> None:
    grown(database, {"write": [levels((3, 100.0))]})
    board = shown(client, admin)
    metric = board["series"][0]["series"]["metric"]
    assert (board["workload"], board["metric"]) == ("dd", metric)
    assert board["measured"][0]["workload"] == "dd"
    assert board["measured"][0]["metrics"][0]["metric"] == metric
    unknown = shown(client, admin, metric="no_such")
    assert (unknown["workload"], unknown["metric"], unknown["series"]) == ("dd", "no_such", [])


def test_the_workload_and_metric_of_the_worst_series_are_chosen_even_if_another_series_is_longer(
    client: TestClient, admin: Person, database: Database
) -> None:
    slower = [levels((30, 100.0), (8, 80.0)), levels((2, 80.0))]
    ids = grown(database, {"steady": [levels((60, 100.0))], "slower": slower})
    with database.transaction() as session:
        renamed = {"workload": "fio", "metric": "latency"}
        session.execute(update(Series).where(Series.id == ids["slower"]).values(renamed))
        calm = Measured(session, NOW - timedelta(days=20), name="calm")
        analyse_series(session, history(calm, levels((20, 100.0))).id)
    board = shown(client, admin)
    assert (board["workload"], board["metric"], board["series"][0]["series"]["id"]) == ("fio", "latency", ids["slower"])
    assert shown(client, admin, workload="fio")["metric"] == "latency"
    assert shown(client, admin, cluster_id=calm.cluster.id)["workload"] == "dd"


def test_without_points_nothing_is_chosen(client: TestClient, admin: Person) -> None:
    board = shown(client, admin)
    assert board == {"workload": None, "metric": None, "measured": [], "series": [], "is_cut": False}


def test_only_series_of_visible_clusters_are_listed(client: TestClient, database: Database) -> None:
    grown(database, {"write": [levels((3, 100.0))]})
    with database.transaction() as session:
        elsewhere = Measured(session, NOW, name="elsewhere").cluster.id
        viewer = person(session, "vera", Role.VIEWER, elsewhere, now=NOW)
    board = shown(client, viewer)
    assert (board["measured"], board["series"]) == ([], [])


def test_only_the_newest_of_too_many_series_are_listed_and_the_answer_says_it(
    client: TestClient, admin: Person, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = grown(database, {"a": [levels((3, 100.0))], "b": [levels((3, 100.0))]})
    assert shown(client, admin)["is_cut"] is False
    monkeypatch.setattr(metric_states, "MOST_SERIES", 1)
    board = shown(client, admin)
    assert ([one["series"]["id"] for one in board["series"]], board["is_cut"]) == ([ids["b"]], True)
