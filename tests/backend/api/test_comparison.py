import pytest
from factories.announced import NOW
from factories.measured import Measured, finish, sample
from factories.people import Person
from fastapi.testclient import TestClient

from iotide_server.kit.db import Database, Json
from iotide_server.trends.points.service import recompute_points

A = [100.0, 101.0, 99.0, 100.5, 98.5]


def campaign(measured: Measured, cells: dict[int, list[float]]) -> int:
    """Return the id of a campaign with a cell for each block size and a run for each of its values."""
    made = measured.campaign()
    for size, values in cells.items():
        cell = measured.cell(made, block_size_bytes=size)
        for minutes, value in enumerate(values):
            measured.deliver(cell, finish(NOW, sample(value, operation="write")), minutes=minutes)
        recompute_points(measured.session, cell.id)
    return made.id


@pytest.fixture
def measured_twice(database: Database) -> tuple[int, int]:
    """Two campaigns of the same two cells; the second campaign is 20 % faster in one of them."""
    with database.transaction() as session:
        measured = Measured(session, NOW)
        return (
            campaign(measured, {512: A, 1024: A}),
            campaign(measured, {512: [1.2 * value for value in A], 1024: A[::-1]}),
        )


def comparison(client: TestClient, person: Person, a: int, b: int, **cells: int) -> Json:
    answer = client.get("/api/v1/comparison", params={"a": a, "b": b, **cells}, headers=person.headers)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def test_two_campaigns_are_compared_cell_by_cell_with_words_runs_and_interval(
    client: TestClient, admin: Person, measured_twice: tuple[int, int]
) -> None:
    answer = comparison(client, admin, *measured_twice)
    faster, same = answer["pairs"]
    assert (faster["is_alike"], faster["differences"], answer["only_a"], answer["only_b"]) == (True, [], [], [])
    (metric,) = faster["metrics"]
    assert (metric["metric"], metric["labels"], metric["n_a"], metric["n_b"]) == (
        "write_rate",
        {"operation": "write"},
        5,
        5,
    )
    assert metric["verdict"] == "higher"
    assert metric["words"].startswith("B 1")
    assert metric["low"] < metric["ratio"] < metric["high"]
    assert metric["ratio"] == pytest.approx(1.2, rel=0.01)
    assert (metric["is_discovery"], metric["values_a"]) == (True, A)
    assert same["metrics"][0]["verdict"] == "equal"


def test_named_cells_are_compared_and_differences_come_first(
    client: TestClient, admin: Person, measured_twice: tuple[int, int]
) -> None:
    answer = comparison(client, admin, *measured_twice, a_cell=1, b_cell=2)
    (pair,) = answer["pairs"]
    assert pair["differences"] == [{"name": "options.block_size_bytes", "a": 512, "b": 1024}]
    assert (pair["is_alike"], pair["a"]["ordinal"], pair["b"]["ordinal"]) == (False, 1, 2)


def test_two_modes_are_both_shown_without_a_ratio(client: TestClient, admin: Person, database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        ids = campaign(measured, {512: A}), campaign(measured, {512: [50.0, 51.0, 50.5, 400.0, 401.0, 400.5]})
    (metric,) = comparison(client, admin, *ids)["pairs"][0]["metrics"]
    assert (metric["verdict"], metric["ratio"], metric["median_ratio"]) == ("two_modes", None, None)
    assert metric["modes_a"] is None
    assert metric["modes_b"] == {"low": 50.5, "low_runs": 3, "high": 400.5, "high_runs": 3}


def test_cells_without_a_counterpart_are_named(client: TestClient, admin: Person, database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        ids = campaign(measured, {512: A, 1024: A}), campaign(measured, {512: A[:1]})
    answer = comparison(client, admin, *ids)
    assert (len(answer["pairs"]), answer["only_a"], answer["only_b"]) == (1, [2], [])
    (metric,) = answer["pairs"][0]["metrics"]
    assert (metric["verdict"], metric["ratio"], metric["p_value"]) == ("one_run", None, None)


@pytest.mark.parametrize(
    ("asked", "status", "code", "field"),
    [
        ({"b": 999}, 404, "campaign_not_found", None),
        ({"a_cell": 9}, 404, "cell_not_found", "a_cell"),
        ({"b_cell": 9}, 404, "cell_not_found", "b_cell"),
        ({"a": 0}, 422, "invalid_input", "a"),
    ],
)
def test_an_invalid_comparison_is_refused_by_name(
    client: TestClient,
    admin: Person,
    measured_twice: tuple[int, int],
    asked: dict[str, int],
    status: int,
    code: str,
    field: str | None,
) -> None:
    a, b = measured_twice
    answer = client.get("/api/v1/comparison", params={"a": a, "b": b} | asked, headers=admin.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, code)
    assert field in {None, error["field"]}


def test_campaigns_without_results_are_marked(client: TestClient, admin: Person, database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        ids = measured.campaign("one").id, measured.campaign("two").id
    answer = client.get("/api/v1/comparison", params={"a": ids[0], "b": ids[1]}, headers=admin.headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "nothing_alike")
