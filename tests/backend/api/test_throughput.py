"""A metric of all clusters over time."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from factories.announced import NOW
from factories.histories import history
from factories.measured import Measured
from factories.people import Person
from fastapi.testclient import TestClient

from iotide_server.accounts.models import Role
from iotide_server.kit.db import Database
from iotide_server.overview import throughput as service
from iotide_server.targets.models import TargetMount


def shown(client: TestClient, person: Person, **wanted: str | int) -> dict[str, Any]:
    answer = client.get("/api/v1/board/throughput", params=wanted, headers=person.headers)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def measured_site(database: Database, name: str, *medians: list[float], fstype: str = "xfs") -> int:
    """Measure the operations op0, op1, ... daily, the last time yesterday; return the cluster's id."""
    with database.transaction() as session:
        measured = Measured(session, NOW, name=name)
        for number, daily in enumerate(medians):
            history(measured, daily, first_day=-len(daily), operation=f"op{number}")
        session.add(
            TargetMount(
                target_id=measured.target.id,
                node_id=measured.node.id,
                path="/scratch",
                fstype=fstype,
                source="/dev/sda1",
                mount_options="rw",
                seen_at=NOW,
            )
        )
        return measured.cluster.id


def test_each_cluster_is_a_line_of_daily_medians(client: TestClient, admin: Person, database: Database) -> None:
    fast = measured_site(database, "fast", [400.0, 400.0, 200.0])
    slow = measured_site(database, "slow", [100.0, 100.0], fstype="nfs4")
    found = shown(client, admin)
    assert (found["drawn"]["workload"], found["drawn"]["metric"], found["drawn"]["operation"]) == (
        "dd",
        "write_rate",
        "op0",
    )
    assert [(line["cluster_id"], line["medians"]) for line in found["clusters"]] == [
        (fast, [400.0, 400.0, 200.0]),
        (slow, [100.0, 100.0]),
    ]
    assert found["clusters"][1]["days"] == [f"{NOW - timedelta(days=days):%Y-%m-%d}" for days in (2, 1)]
    assert found["clusters"][1]["series"] == [1, 1]
    assert (found["target_kinds"], found["clusters_left_out"], found["series_left_out"]) == (["nfs4", "xfs"], 0, 0)
    of_kind = shown(client, admin, kind="nfs4")
    assert [line["cluster_id"] for line in of_kind["clusters"]] == [slow]
    assert of_kind["target_kinds"] == ["nfs4", "xfs"]


def test_the_choice_selects_the_operation_and_an_unknown_one_falls_back(
    client: TestClient, admin: Person, database: Database
) -> None:
    measured_site(database, "one", [100.0, 100.0], [900.0, 900.0])
    (line,) = shown(client, admin, workload="dd", metric="write_rate", operation="op1")["clusters"]
    assert line["medians"] == [900.0, 900.0]
    assert {measure["operation"] for measure in shown(client, admin)["measures"]} == {"op0", "op1"}
    assert shown(client, admin, workload="gone")["drawn"]["workload"] == "dd"


def test_points_before_the_period_are_left_out(client: TestClient, admin: Person, database: Database) -> None:
    measured_site(database, "one", [100.0] * 12)
    (line,) = shown(client, admin, days=7)["clusters"]
    assert len(line["days"]) == 7


def test_a_long_period_has_spans_of_several_days_with_the_day_of_their_newest_points(
    client: TestClient, admin: Person, database: Database
) -> None:
    measured_site(database, "one", [100.0] * 40)
    (line,) = shown(client, admin, days=365)["clusters"]
    assert 10 <= len(line["days"]) <= 11
    assert line["days"][-1] == f"{NOW - timedelta(days=1):%Y-%m-%d}"


def test_a_dense_day_counts_by_its_five_newest_points(client: TestClient, admin: Person, database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW, name="one")
        history(measured, [100.0] * 3, first_day=-3)
        for minute, value in enumerate([100.0] * 5 + [50.0] * 3, start=1):
            measured.now = NOW + timedelta(minutes=minute)
            history(measured, [value], first_day=-1)
    (line,) = shown(client, admin)["clusters"]
    assert line["medians"] == [100.0, 100.0, 50.0]


def test_without_measurements_nothing_is_drawn(client: TestClient, admin: Person) -> None:
    found = shown(client, admin)
    assert (found["drawn"], found["clusters"], found["measures"]) == (None, [], [])


def test_clusters_that_one_may_not_see_and_those_beyond_the_limit_are_not_drawn(
    client: TestClient,
    admin: Person,
    database: Database,
    make_person: Callable[..., Person],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = measured_site(database, "own", [100.0])
    measured_site(database, "secret", [100.0])
    found = shown(client, make_person("eve", Role.VIEWER, own))
    assert [line["name"] for line in found["clusters"]] == ["own"]
    assert found["drawn"]["clusters"] == 1
    monkeypatch.setattr(service, "MOST_CLUSTERS", 1)
    cut = shown(client, admin)
    assert (len(cut["clusters"]), cut["clusters_left_out"]) == (1, 1)


@pytest.mark.parametrize("days", ["6", "366", "x"])
def test_a_period_out_of_range_is_rejected_with_its_field(client: TestClient, admin: Person, days: str) -> None:
    answer = client.get("/api/v1/board/throughput", params={"days": days}, headers=admin.headers)
    assert answer.status_code == 422
    assert answer.json()["error"]["field"] == "days"
