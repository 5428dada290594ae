from typing import cast

import pytest
from factories.announced import NOW
from factories.measured import Measured, finish, sample
from factories.people import Person
from fastapi.testclient import TestClient

from iotide_server.campaigns.models import CellTarget
from iotide_server.kit.db import Database, Json
from iotide_server.targets.models import Target
from iotide_server.trends.points.service import recompute_points

A = [100.0, 101.0, 99.0, 100.5, 98.5]
FASTER = [1.2 * value for value in A]


def campaign(
    measured: Measured, targets: dict[str, list[float]], size: int = 512, metrics: tuple[str, ...] = ("write_rate",)
) -> list[int]:
    """Make a cell on each target with a run for each value; return the ids of the campaign and its cells."""
    made = measured.campaign()
    ids = [made.id]
    for name, values in targets.items():
        cell = measured.cell(made, block_size_bytes=size)
        target = measured.session.query(Target).filter_by(cluster_id=measured.cluster.id, name=name).one_or_none()
        if target is None:
            target = Target(cluster_id=measured.cluster.id, name=name, path=f"/{name}", scope="node")
            measured.session.add(target)
            measured.session.flush()
        measured.session.query(CellTarget).filter_by(cell_id=cell.id).update({"target_id": target.id})
        for minutes, value in enumerate(values):
            samples = [sample(value, metric, operation="write") for metric in metrics]
            measured.deliver(cell, finish(NOW, *samples), minutes=minutes)
        recompute_points(measured.session, cell.id)
        ids.append(cell.id)
    return ids


@pytest.fixture
def three(database: Database) -> list[int]:
    """A campaign over three file systems: the second is 20 % faster, the third has only two runs."""
    with database.transaction() as session:
        return campaign(Measured(session, NOW), {"ext4": A, "xfs": FASTER, "btrfs": A[:2]})


def sides(client: TestClient, person: Person, **wanted: object) -> Json:
    answer = client.get("/api/v1/comparison/sides", params=cast("Json", wanted), headers=person.headers)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def test_file_systems_of_a_campaign_are_compared_with_the_first(
    client: TestClient, admin: Person, three: list[int]
) -> None:
    found = sides(client, admin, campaign=three[0])
    assert (found["by"], found["dimensions"], found["sides"]) == ("target", ["target"], ["ext4", "xfs", "btrfs"])
    (row,) = found["rows"]
    assert ([cell["cell_id"] for cell in row["cells"]], row["differences"]) == (three[1:], [])
    (metric,) = row["metrics"]
    assert [side["n"] for side in metric["numbers"]] == [5, 5, 2]
    baseline, faster, few = metric["verdicts"]
    assert baseline is None
    assert (faster["verdict"], faster["is_discovery"], faster["runs_missing"]) == ("higher", True, 0)
    assert faster["low"] < faster["ratio"] < faster["high"]
    assert not faster["words"].startswith("B ")
    assert (few["verdict"], few["ratio"], few["runs_missing"]) == ("few_runs", None, 2)


def test_numbers_are_in_the_order_of_the_announcement(client: TestClient, admin: Person, database: Database) -> None:
    with database.transaction() as session:
        made = campaign(Measured(session, NOW), {"ext4": A, "xfs": FASTER}, metrics=("wait", "write_rate"))
    (row,) = sides(client, admin, campaign=made[0])["rows"]
    assert [metric["metric"] for metric in row["metrics"]] == ["write_rate", "wait"]


def test_another_side_can_be_the_baseline(client: TestClient, admin: Person, three: list[int]) -> None:
    metric = sides(client, admin, campaign=three[0], against=1)["rows"][0]["metrics"][0]
    assert [verdict and verdict["verdict"] for verdict in metric["verdicts"]] == ["lower", None, "few_runs"]


def test_clusters_are_compared_by_campaigns_of_each_with_what_else_is_unlike(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        blade = campaign(Measured(session, NOW), {"ext4": A})
        grid = campaign(Measured(session, NOW, name="grid"), {"lustre": FASTER})
    found = sides(client, admin, campaign=[blade[0], grid[0]], by="cluster")
    assert (found["sides"], found["dimensions"]) == (["blade", "grid"], ["target", "cluster", "campaign"])
    (row,) = found["rows"]
    assert row["differences"] == [{"name": "target", "values": ["ext4", "lustre"]}]
    assert [cell["is_alike"] for cell in row["cells"]] == [True, True]


def test_named_cells_are_one_side_each_and_unlike_ones_are_marked(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        small, large = campaign(measured, {"ext4": A}), campaign(measured, {"ext4": FASTER}, size=1024)
    found = sides(client, admin, cell=[large[1], small[1]])
    assert (found["by"], found["sides"]) == ("cell", [large[1], small[1]])
    (row,) = found["rows"]
    assert row["differences"] == [{"name": "options.block_size_bytes", "values": [1024, 512]}]
    assert [cell["is_alike"] for cell in row["cells"]] == [True, False]


def test_nothing_to_compare_is_an_empty_answer(client: TestClient, admin: Person, database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        alone, bare = campaign(measured, {"ext4": A}), measured.campaign()
        cells = [measured.cell(bare).id, measured.cell(bare).id]
    assert sides(client, admin, campaign=alone[0])["rows"] == []
    assert sides(client, admin, cell=cells)["rows"] == []


@pytest.mark.parametrize(
    ("wanted", "status", "code"),
    [
        ({}, 422, "sides_wanted"),
        ({"campaign": 1, "cell": [1, 2]}, 422, "sides_wanted"),
        ({"campaign": 2**62}, 404, "campaign_not_found"),
        ({"cell": [2**62, 2**62 - 1]}, 404, "cell_not_found"),
        ({"cell": [1]}, 422, "invalid_input"),
    ],
)
def test_an_invalid_comparison_is_refused(
    client: TestClient, admin: Person, wanted: Json, status: int, code: str
) -> None:
    answer = client.get("/api/v1/comparison/sides", params=wanted, headers=admin.headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_an_option_that_does_not_vary_is_refused_with_those_that_do(
    client: TestClient, admin: Person, three: list[int]
) -> None:
    asked: Json = {"campaign": three[0], "by": "options.block_size_bytes"}
    answer = client.get("/api/v1/comparison/sides", params=asked, headers=admin.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["remedy"]) == (422, "dimension_unknown", "choose one of target")
