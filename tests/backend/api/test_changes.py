from collections.abc import Callable

import pytest
from factories.announced import NOW
from factories.histories import history, levels
from factories.measured import Measured
from factories.people import Person
from fastapi.testclient import TestClient

from iotide_server.accounts.models import Role
from iotide_server.kit.db import Database
from iotide_server.trends.analysis import analyse_series


def series_id(database: Database, *medians: list[float]) -> int:
    """A series that grew by so many medians at a time, and was analysed after each."""
    with database.transaction() as session:
        measured = Measured(session, NOW)
        day = 0
        for part in medians:
            series = history(measured, part, first_day=day)
            day += len(part)
            session.flush()
            analyse_series(session, series.id)
        return series.id


def test_a_series_that_got_slower_says_since_when_and_by_how_much(
    client: TestClient, admin: Person, database: Database
) -> None:
    found = series_id(database, levels((30, 100.0), (8, 80.0)), levels((1, 80.0)))
    answer = client.get(f"/api/v1/series/{found}/analysis", headers=admin.headers).json()
    assert (answer["course"], answer["words"], answer["n"]) == ("changed", "1 change in 39 points", 39)
    (change,) = answer["changes"]
    assert (change["previous_at"], change["at"]) == ("2026-12-20T10:00:00Z", "2026-12-21T10:00:00Z")
    assert change["words"] == "20.0 % lower, worse: 9 points against 30 before"
    assert (change["n_before"], change["n_after"], change["p_value"] < 0.001) == (30, 9, True)
    assert change["confirmed_at"] is not None
    (named,) = client.get("/api/v1/changes", headers=admin.headers).json()["items"]
    assert named["change"] == change
    assert (named["workload"], named["metric"], named["labels"]) == ("dd", "write_rate", {"operation": "write"})


def test_what_one_analysis_alone_found_is_shown_with_its_series_and_not_listed(
    client: TestClient, admin: Person, database: Database
) -> None:
    found = series_id(database, levels((30, 100.0), (8, 80.0)))
    answer = client.get(f"/api/v1/series/{found}/analysis", headers=admin.headers).json()
    assert [change["confirmed_at"] for change in answer["changes"]] == [None]
    assert client.get("/api/v1/changes", headers=admin.headers).json()["items"] == []


@pytest.mark.parametrize(
    ("medians", "course", "words"),
    [
        (levels((20, 100.0)), "steady", "no change shown in 20 points"),
        (levels((10, 100.0)), "too_short", "10 points: 4 more are needed to tell whether it changed"),
    ],
)
def test_a_series_without_a_change_says_no_more_than_is_known(
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
    found = series_id(database, levels((30, 100.0), (8, 80.0)), levels((1, 80.0)))
    with database.transaction() as session:
        elsewhere = Measured(session, NOW, name="elsewhere").cluster.id
    stranger = make_person("eve", Role.ADMIN, elsewhere)
    assert client.get("/api/v1/changes", headers=stranger.headers).json()["items"] == []
    assert client.get(f"/api/v1/series/{found}/analysis", headers=stranger.headers).status_code == 404
    assert client.get("/api/v1/changes", params={"cluster_id": 999}, headers=admin.headers).json()["items"] == []
