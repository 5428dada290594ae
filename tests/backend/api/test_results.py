import hashlib
from collections.abc import Callable
from datetime import timedelta

import pytest
from factories.announced import NOW
from factories.measured import Measured, finish, sample
from factories.people import Person
from fastapi.testclient import TestClient
from sqlalchemy import select

from iotide_server.accounts.models import Role
from iotide_server.kit.db import Database, Json
from iotide_server.results.ingest import service
from iotide_server.runs.models import Order, Run
from iotide_server.trends.points.service import recompute_points
from iotide_wire.messages import CurvePiece

OUTPUT = b"1024+0 records in\n"


@pytest.fixture
def run(database: Database) -> Run:
    """A finished run with two numbers, a curve and raw output, and its points."""
    with database.transaction() as session:
        measured = Measured(session, NOW)
        cell = measured.cell(file_size_bytes=2048)
        run = measured.run(cell)
        order = measured.order(run)
        service.store_artefact(session, order, "write.stdout", hashlib.sha256(OUTPUT).hexdigest(), OUTPUT)
        piece = CurvePiece(counter="write", started_at=NOW, step_seconds=1.0, values=(1.0, 3.0, 5.0))
        late = piece.model_copy(update={"started_at": NOW + timedelta(seconds=5)})
        result = finish(NOW, sample(100.0, operation="write"), sample(0.5, "wait"))
        service.ingest(session, order, result.model_copy(update={"curves": (piece, late)}), NOW)
        measured.end(run, order)
        recompute_points(session, cell.id)
        return run


@pytest.fixture
def get(client: TestClient, admin: Person) -> Callable[..., Json]:
    def get(path: str, **query: str | int) -> Json:
        response = client.get(f"/api/v1{path}", params=query, headers=admin.headers)
        assert response.status_code == 200, response.text
        answer: Json = response.json()
        return answer

    return get


def test_series_are_listed_with_names_and_newest_point(run: Run, get: Callable[..., Json]) -> None:
    (series,) = get("/series", metric="write_rate")["items"]
    assert series["node_names"] == ["node1"]
    assert series["target_names"] == ["scratch"]
    assert series["options"] == {"file_size_bytes": 2048}
    assert (series["unit"], series["better"], series["labels"]) == (
        "bytes_per_second",
        "higher",
        {"operation": "write"},
    )
    assert (series["point_count"], series["last_value"], series["last_at"]) == (1, 100.0, "2026-11-21T10:00:00Z")
    assert get(f"/series/{series['id']}") == series
    assert series["cluster_id"] == run.cluster_id


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({}, 2),
        ({"workload": "dd"}, 2),
        ({"workload": "fio"}, 0),
        ({"metric": "wait"}, 1),
        ({"node_id": 999}, 0),
        ({"target_id": 999}, 0),
        ({"cluster_id": 999}, 0),
    ],
)
@pytest.mark.usefixtures("run")
def test_series_are_filtered(get: Callable[..., Json], query: dict[str, str | int], count: int) -> None:
    assert len(get("/series", **query)["items"]) == count


@pytest.mark.usefixtures("run")
def test_series_are_listed_page_by_page(get: Callable[..., Json]) -> None:
    first = get("/series", limit=1)
    second = get("/series", limit=1, cursor=first["next_cursor"])
    assert second["next_cursor"] is None
    assert first["items"] + second["items"] == get("/series")["items"]
    assert [len(page["items"]) for page in (first, second)] == [1, 1]


def test_points_come_column_by_column(run: Run, get: Callable[..., Json]) -> None:
    (series,) = get("/series", metric="wait")["items"]
    points = get(f"/series/{series['id']}/points")
    assert points.pop("series") == series
    assert points == {
        "left_out": 0,
        "at": ["2026-11-21T10:00:00Z"],
        "median": [0.5],
        "low": [0.5],
        "high": [0.5],
        "n": [1],
        "variation_ratio": [None],
        "robust_spread_ratio": [None],
        "cell_id": [run.cell_id],
        "campaign_id": [run.campaign_id],
        "flags": [[]],
        "usual_flags": [[]],
        "gaps": [],
        "gap_missing_days": 3,
        "failures": [],
    }


def test_samples_of_a_run_describe_themselves(run: Run, get: Callable[..., Json]) -> None:
    wait, rate = get("/samples", run_id=run.id)["items"]
    assert (rate["metric"], rate["value"], rate["unit"], rate["labels"]) == (
        "write_rate",
        100.0,
        "bytes_per_second",
        {"operation": "write"},
    )
    assert get("/samples", series_id=wait["series_id"])["items"] == [wait]


def test_curves_keep_their_gaps_and_are_thinned(run: Run, get: Callable[..., Json]) -> None:
    (whole,) = get(f"/runs/{run.id}/curves")["items"]
    assert whole["values"] == [1.0, 3.0, 5.0, None, None, 1.0, 3.0, 5.0]
    (thinned,) = get(f"/runs/{run.id}/curves", max_points=4)["items"]
    assert (thinned["step_seconds"], thinned["values"]) == (2.0, [2.0, 5.0, 1.0, 4.0])
    assert (thinned["lows"], thinned["highs"]) == ([1.0, 5.0, 1.0, 3.0], [3.0, 5.0, 1.0, 5.0])
    assert (whole["lows"], whole["highs"]) == (None, None)


def test_the_curves_of_some_counters_are_read_without_the_others(
    run: Run, get: Callable[..., Json], database: Database
) -> None:
    with database.transaction() as session:
        order = session.scalars(select(Order).where(Order.run_id == run.id)).one()
        load1 = CurvePiece(counter="load1", started_at=NOW, step_seconds=1.0, values=(7.0,))
        service.store_curves(session, order.id, [load1])
    assert get(f"/runs/{run.id}/counters")["items"] == ["load1", "write"]
    (curve,) = get(f"/runs/{run.id}/curves", counter="load1")["items"]
    assert (curve["counter"], curve["values"]) == ("load1", [7.0])
    assert get(f"/runs/{run.id}/curves", counter="disk_busy_ratio")["items"] == []


def test_a_campaign_lists_what_its_figure_can_show(run: Run, get: Callable[..., Json]) -> None:
    measures = get(f"/campaigns/{run.campaign_id}/measures")
    assert [(metric["metric"], metric["labels"]) for metric in measures["metrics"]] == [
        ("write_rate", ["operation"]),
        ("wait", []),
    ]
    assert measures["counters"] == ["write"]


def test_a_figure_gets_the_number_of_each_run(run: Run, get: Callable[..., Json]) -> None:
    (cell,) = get(f"/campaigns/{run.campaign_id}/measurements", metric="write_rate", workload="dd")["items"]
    assert (cell["id"], cell["target_names"], cell["options"]["file_size_bytes"]) == (run.cell_id, ["scratch"], 2048)
    assert cell["runs"] == [{"id": run.id, "repeat": 1, "started_at": "2026-11-21T10:00:00Z"}]
    (measured,) = cell["measurements"]
    assert (measured["labels"], measured["target_name"]) == ({"operation": "write"}, None)
    assert (measured["run_ids"], measured["values"], measured["tier"]) == ([run.id], [100.0], "one_run")


def test_a_figure_shows_the_mean_of_a_curve_as_a_number_of_its_run(run: Run, get: Callable[..., Json]) -> None:
    (cell,) = get(f"/campaigns/{run.campaign_id}/measurements", counter="write")["items"]
    (measured,) = cell["measurements"]
    assert (measured["run_ids"], measured["values"]) == ([run.id], [3.0])


@pytest.mark.parametrize("query", ["", "?metric=wait&counter=write"])
def test_a_figure_without_one_thing_to_show_is_refused(run: Run, client: TestClient, admin: Person, query: str) -> None:
    response = client.get(f"/api/v1/campaigns/{run.campaign_id}/measurements{query}", headers=admin.headers)
    assert (response.status_code, response.json()["error"]["code"]) == (422, "nothing_to_show")
    assert response.json()["error"]["remedy"]


def test_raw_output_is_a_download_byte_by_byte(
    run: Run, get: Callable[..., Json], client: TestClient, admin: Person
) -> None:
    (artefact,) = get(f"/runs/{run.id}/artefacts")["items"]
    assert (artefact["name"], artefact["size_bytes"]) == ("write.stdout", len(OUTPUT))
    response = client.get(f"/api/v1/artefacts/{artefact['id']}", headers=admin.headers)
    assert response.content == OUTPUT
    assert response.headers["content-disposition"] == 'attachment; filename="write.stdout"'
    assert response.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/series/999", "series_not_found"),
        ("/series/999/points", "series_not_found"),
        ("/runs/999/curves", "run_not_found"),
        ("/runs/999/counters", "run_not_found"),
        ("/runs/999/artefacts", "run_not_found"),
        ("/artefacts/999", "artefact_not_found"),
    ],
)
def test_unknown_ids_are_not_found(client: TestClient, admin: Person, path: str, code: str) -> None:
    response = client.get(f"/api/v1{path}", headers=admin.headers)
    assert (response.status_code, response.json()["error"]["code"]) == (404, code)


def test_results_of_another_cluster_do_not_exist_for_a_viewer(
    run: Run, get: Callable[..., Json], client: TestClient, database: Database, make_person: Callable[..., Person]
) -> None:
    with database.transaction() as session:
        elsewhere = Measured(session, NOW, name="elsewhere").cluster.id
    stranger = make_person("eve", Role.ADMIN, elsewhere)
    (series, _), (artefact,) = get("/series")["items"], get(f"/runs/{run.id}/artefacts")["items"]
    for path in ("/series", f"/series?cluster_id={run.cluster_id}", f"/samples?run_id={run.id}"):
        assert client.get(f"/api/v1{path}", headers=stranger.headers).json()["items"] == []
    for path in (
        f"/series/{series['id']}",
        f"/series/{series['id']}/points",
        f"/runs/{run.id}/curves",
        f"/runs/{run.id}/counters",
        f"/runs/{run.id}/artefacts",
        f"/artefacts/{artefact['id']}",
    ):
        assert client.get(f"/api/v1{path}", headers=stranger.headers).status_code == 404


@pytest.mark.parametrize("path", ["/series", "/samples", "/runs/1/curves", "/artefacts/1", "/series/1/points"])
def test_results_cannot_be_read_without_credentials(client: TestClient, path: str) -> None:
    assert client.get(f"/api/v1{path}").status_code == 401
