"""The points of several series in one answer, and as files."""

import csv
from collections.abc import Callable
from datetime import timedelta
from io import BytesIO

import pytest
from arro3.io import read_parquet
from factories.announced import NOW
from factories.histories import history
from factories.measured import Measured
from factories.people import Person
from fastapi.testclient import TestClient
from httpx2 import Response

from iotide_server.accounts.models import Role
from iotide_server.kit.db import Database

MEDIANS = [100.5, 101.25, 99.75, 102.0, 98.0, 100.0]

Get = Callable[..., Response]


@pytest.fixture
def series_ids(database: Database) -> list[int]:
    with database.transaction() as session:
        first = history(Measured(session, NOW, name="first"), MEDIANS)
        second = history(Measured(session, NOW, name="second"), MEDIANS[:2])
        return [first.id, second.id]


@pytest.fixture
def get(client: TestClient, admin: Person) -> Get:
    return lambda **params: client.get("/api/v1/points", params=params, headers=admin.headers)


def test_points_of_several_series_come_in_the_order_that_was_asked_for_and_each_once(
    get: Get, series_ids: list[int], client: TestClient, admin: Person
) -> None:
    first, second = series_ids
    answer = get(series_id=[second, first, second]).json()
    alone = [client.get(f"/api/v1/series/{key}/points", headers=admin.headers).json() for key in (second, first)]
    assert answer == alone


def test_a_span_and_a_number_of_points_hold_for_each_series(get: Get, series_ids: list[int]) -> None:
    first, second = get(series_id=series_ids, points=5, **{"from": (NOW + timedelta(hours=1)).isoformat()}).json()
    assert (len(first["at"]), first["left_out"]) == (5, 0)
    assert len(second["at"]) == 1


def test_as_csv_each_point_is_a_line_with_what_it_belongs_to(get: Get, series_ids: list[int]) -> None:
    answer = get(series_id=series_ids, format="csv")
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="points.csv"'
    lines = list(csv.DictReader(answer.text.splitlines()))
    assert [float(line["median"]) for line in lines] == [*MEDIANS, *MEDIANS[:2]]
    assert {line["series_id"] for line in lines} == {str(key) for key in series_ids}
    assert lines[0]["at"].endswith("+00:00")


def test_as_parquet_the_columns_keep_their_types_and_every_value(get: Get, series_ids: list[int]) -> None:
    answer = get(series_id=series_ids, format="parquet")
    assert answer.headers["content-type"] == "application/vnd.apache.parquet"
    table = read_parquet(BytesIO(answer.content)).read_all()
    assert table.column("median").to_pylist() == [*MEDIANS, *MEDIANS[:2]]
    assert str(table.schema.field("at").type) == 'arro3.core.DataType<Timestamp(µs, "UTC")>\n'
    assert table.column("n").to_pylist()[0] == 4


@pytest.mark.parametrize(
    ("params", "status", "field"),
    [
        ({}, 422, "series_id"),
        ({"series_id": [0]}, 422, "series_id[0]"),
        ({"series_id": list(range(1, 66))}, 422, "series_id"),
        ({"series_id": [2**62]}, 404, "series_id"),
        ({"series_id": [1], "format": "xls"}, 422, "format"),
    ],
)
def test_an_invalid_request_is_refused_with_its_field(
    get: Get, params: dict[str, object], status: int, field: str
) -> None:
    answer = get(**params)
    assert (answer.status_code, answer.json()["error"]["field"]) == (status, field)


def test_series_of_clusters_that_one_may_not_see_are_not_there(
    client: TestClient, series_ids: list[int], database: Database, make_person: Callable[..., Person]
) -> None:
    with database.transaction() as session:
        elsewhere = Measured(session, NOW, name="elsewhere").cluster.id
    stranger = make_person("eve", Role.ADMIN, elsewhere)
    answer = client.get("/api/v1/points", params={"series_id": series_ids}, headers=stranger.headers)
    assert answer.status_code == 404
