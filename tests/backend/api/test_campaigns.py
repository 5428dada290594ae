import json
from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest
from factories.people import Person
from factories.ready_cluster import ReadyCluster
from factories.rows import count
from fastapi.testclient import TestClient
from sqlalchemy import text

from iotide_server.accounts.models import Role
from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database

CAMPAIGNS = "/api/v1/campaigns"


def dd(**options: object) -> dict[str, Any]:
    return {"workloads": [{"workload": "dd", "options": options}]}


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_a_plan_becomes_runs_that_wait_in_the_order_a_b_b_a(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]], database: Database
) -> None:
    sweep = [{"workload": "dd", "sweep": {"file_size_bytes": ["64 MiB", "128 MiB"]}}]
    answer = client.post(CAMPAIGNS, json=plan(workloads=sweep), headers=admin.headers)
    assert answer.status_code == 201
    campaign = answer.json()
    assert campaign["state"] == "waiting"
    assert campaign["counts"] == {"waiting": 8, "active": 0, "finished": 0, "failed": 0, "cancelled": 0}
    runs = client.get("/api/v1/runs", params={"campaign_id": campaign["id"]}, headers=admin.headers).json()["items"]
    oldest_first = [(run["repeat"], run["node_names"], run["options"]["file_size_bytes"]) for run in reversed(runs)]
    mib = 1024**2
    matrix = [(["n1"], 64 * mib), (["n1"], 128 * mib), (["n2"], 64 * mib), (["n2"], 128 * mib)]
    assert oldest_first == [*((1, *cell) for cell in matrix), *((2, *cell) for cell in reversed(matrix))]
    assert count(database, "line_place") == 8


def test_fill_leaves_free_what_the_target_keeps_free(
    client: TestClient, admin: Person, database: Database, clock: Clock
) -> None:
    with database.transaction() as session:
        ready = ReadyCluster(session, clock(), node_count=1)
        ready.target.reserve_bytes = 6 * 1024**3
    filled = [{"workload": "fill", "options": {"file_count": 1000, "fill_percent": 95, "file_size_bytes": "64 MiB"}}]
    answer = client.post(f"{CAMPAIGNS}/preview", json=ready.plan(workloads=filled), headers=admin.headers)
    assert answer.status_code == 200
    assert 1.9 * 1024**3 < answer.json()["bytes_peak"] < 2 * 1024**3


def test_the_cells_show_the_matrix_with_their_runs(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]]
) -> None:
    campaign = client.post(CAMPAIGNS, json=plan(), headers=admin.headers).json()
    cells = client.get(f"{CAMPAIGNS}/{campaign['id']}/cells", headers=admin.headers).json()["items"]
    assert [(cell["ordinal"], cell["node_names"], len(cell["runs"])) for cell in cells] == [
        (1, ["n1"], 2),
        (2, ["n2"], 2),
    ]
    assert [cell["results"] for cell in cells] == [[], []]


def test_a_repeated_request_with_its_key_makes_one_campaign(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]], database: Database
) -> None:
    headers = admin.headers | {"Idempotency-Key": "k1"}
    first = client.post(CAMPAIGNS, json=plan(), headers=headers)
    again = client.post(CAMPAIGNS, json=plan(), headers=headers)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    other = client.post(CAMPAIGNS, json=plan(repeats=3), headers=headers)
    assert (other.status_code, other.json()["error"]["code"]) == (409, "idempotency_key_reused")
    assert count(database, "campaign") == 1


@pytest.mark.parametrize(
    ("change", "status", "code", "field"),
    [
        ({"nodes": ["n9"]}, 404, "node_not_found", "nodes[0]"),
        ({"targets": ["scratch", "scrtch"]}, 404, "target_not_found", "targets[1]"),
        ({"cluster": "bladed"}, 404, "cluster_not_found", "cluster"),
        ({"nodes": ["n1", "n1"]}, 422, "repeated_entry", "nodes[1]"),
        ({"workloads": [{"workload": "ddd"}]}, 404, "workload_not_found", "workloads[0].workload"),
        ({"workloads": [{"workload": "fio"}]}, 409, "workload_unavailable", "workloads[0].workload"),
        ({"repeats": 100_000}, 422, "invalid_input", "repeats"),
        ({"speed": 1}, 422, "invalid_input", "speed"),
        (
            {"workloads": [{"workload": "dd", "sweep": {"file_size_bytes": [4096] * 1000}}], "repeats": 1000},
            422,
            "campaign_too_large",
            "repeats",
        ),
        (
            {"workloads": [{"workload": "dd", "options": {"file_size": "1 GiB"}}]},
            422,
            "invalid_input",
            "workloads[0].options.file_size",
        ),
        (
            {"workloads": [{"workload": "dd", "options": {"file_size_bytes": "1 GiBB"}}]},
            422,
            "invalid_input",
            "workloads[0].options.file_size_bytes",
        ),
        (
            {"workloads": [{"workload": "dd", "options": {"file_size_bytes": 0}}]},
            422,
            "invalid_input",
            "workloads[0].options.file_size_bytes",
        ),
        (
            {"workloads": [{"workload": "dd", "options": {"file_size_bytes": -1}}]},
            422,
            "invalid_input",
            "workloads[0].options.file_size_bytes",
        ),
        (
            {"workloads": [{"workload": "dd", "options": {"file_size_bytes": "8 GiB"}}]},
            409,
            "not_enough_space",
            "workloads[0].options",
        ),
        (dd(file_size_bytes=nested(17)), 422, "invalid_input", f"workloads[0].options.file_size_bytes{'[0]' * 15}"),
        (dd(file_size_bytes=nested(600)), 422, "invalid_input", f"workloads[0].options.file_size_bytes{'[0]' * 15}"),
        (dd(file_size_bytes=nan), 422, "invalid_input", "workloads[0].options.file_size_bytes"),
        (
            {"workloads": [{"workload": "dd", "sweep": {"file_size_bytes": [4096, inf]}}]},
            422,
            "invalid_input",
            "workloads[0].sweep.file_size_bytes[1]",
        ),
        (dd(file_size_bytes=10**400), 422, "invalid_input", "workloads[0].options.file_size_bytes"),
        (dd(file_size_bytes="9" * 5000), 422, "invalid_input", "workloads[0].options.file_size_bytes"),
        (dd(file_size_bytes="1\0"), 422, "invalid_input", "workloads[0].options.file_size_bytes"),
        ({"note": "rack\0"}, 422, "invalid_input", "note"),
    ],
)
def test_a_wrong_plan_is_refused_by_name_and_nothing_is_stored(
    client: TestClient,
    admin: Person,
    plan: Callable[..., dict[str, Any]],
    database: Database,
    *,
    change: dict[str, Any],
    status: int,
    code: str,
    field: str,
) -> None:
    for path in (CAMPAIGNS, f"{CAMPAIGNS}/preview"):
        # As Python writes it: NaN and Infinity are no JSON, but Python's parser accepts them.
        headers = admin.headers | {"Content-Type": "application/json"}
        answer = client.post(path, content=json.dumps(plan(**change)), headers=headers)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"], error["field"]) == (status, code, field)
        assert error["remedy"]
    assert count(database, "campaign") == count(database, "run") == 0


def test_a_plan_for_a_target_that_is_wrongly_mounted_is_refused_with_what_to_do(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]], database: Database
) -> None:
    with database.transaction() as session:
        session.execute(
            text(
                "UPDATE target_mount SET problem = 'nothing is mounted there any more; mount it again'"
                " WHERE node_id = (SELECT id FROM node WHERE name = 'n2')"
            )
        )
    for path in (CAMPAIGNS, f"{CAMPAIGNS}/preview"):
        answer = client.post(path, json=plan(), headers=admin.headers)
        error = answer.json()["error"]
        assert (answer.status_code, error) == (
            409,
            {
                "request_id": error["request_id"],
                "code": "mount_changed",
                "field": "targets[0]",
                "value": "scratch",
                "message": "target scratch on node n2: nothing is mounted there any more",
                "remedy": "mount it again; or remove n2 or scratch",
            },
        )
    assert client.post(CAMPAIGNS, json=plan(nodes=["n1"]), headers=admin.headers).status_code == 201
    paused, begun = {"variant": "xfs", "pause": "format it and mount it"}, {"variant": "again"}
    for stages, status in (([paused], 201), ([paused, begun], 201), ([begun, paused], 409)):
        assert client.post(CAMPAIGNS, json=plan(stages=stages), headers=admin.headers).status_code == status


def test_free_space_is_checked_only_before_a_pause_that_may_recreate_the_target(
    client: TestClient, admin: Person, database: Database, clock: Clock
) -> None:
    with database.transaction() as session:
        ready = ReadyCluster(session, clock(), node_count=1)
        ready.add_target("stripe")
    small, large = ({"workload": "dd", "options": {"file_size_bytes": size}} for size in ("1 GiB", "8 GiB"))
    first, paused, last = {"variant": "first"}, {"variant": "paused", "pause": "make stripe"}, {"variant": "last"}
    scratch, stripe = {**small, "targets": ["scratch"]}, {**large, "targets": ["stripe"]}

    def answered(*workloads: dict[str, Any]) -> int:
        plan = ready.plan(targets=["scratch", "stripe"], workloads=workloads, stages=[first, paused, last])
        return client.post(f"{CAMPAIGNS}/preview", json=plan, headers=admin.headers).status_code

    assert answered(scratch, {**stripe, "variants": ["paused", "last"]}) == 200
    assert answered(scratch, stripe) == 409
    # The pause concerns only scratch.
    assert answered(scratch, {**stripe, "variants": ["last"]}) == 409


def test_a_preview_forecasts_space_and_explains_an_unknown_time(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]], database: Database
) -> None:
    preview = client.post(f"{CAMPAIGNS}/preview", json=plan(), headers=admin.headers).json()
    assert (preview["cell_count"], preview["run_count"]) == (2, 4)
    assert preview["bytes_peak"] == 1024**3
    assert preview["bytes_moved"] >= 4 * 1024**3
    assert preview["seconds_estimated"] is None
    assert "scratch" in preview["seconds_unknown_because"]
    assert [row["difference_ratio"] for row in preview["power"]["workloads"][0]["rows"]] == [None] * 3
    assert {warning["code"] for warning in preview["warnings"]} == {"few_repeats", "cache_measured"}
    assert count(database, "campaign") == 0


def test_cancelling_a_waiting_campaign_empties_the_queues(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]], database: Database
) -> None:
    campaign = client.post(CAMPAIGNS, json=plan(), headers=admin.headers).json()
    for _ in range(2):
        cancelled = client.post(f"{CAMPAIGNS}/{campaign['id']}/cancel", headers=admin.headers).json()
        assert (cancelled["state"], cancelled["counts"]["cancelled"]) == ("cancelled", 4)
    assert count(database, "line_place") == 0


def test_the_audit_has_a_row_for_each_cancel_that_cancelled_anything(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]]
) -> None:
    campaign = client.post(CAMPAIGNS, json=plan(), headers=admin.headers).json()
    url = f"{CAMPAIGNS}/{campaign['id']}"
    for _ in range(2):
        client.post(f"{url}/cancel", headers=admin.headers)
    run = client.get("/api/v1/runs", params={"campaign_id": campaign["id"]}, headers=admin.headers).json()["items"][0]
    client.post(f"/api/v1/runs/{run['id']}/retry", headers=admin.headers)
    client.post(f"{url}/cancel", headers=admin.headers)
    entries = client.get("/api/v1/audit", headers=admin.headers).json()["items"]
    cancelled = [entry["after"] for entry in entries if entry["action"] == "campaign_cancelled"]
    assert [entry["runs_ended"] for entry in cancelled] == [1, 4]


def test_a_viewer_sees_campaigns_and_may_not_submit(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]], make_person: Callable[..., Person]
) -> None:
    campaign = client.post(CAMPAIGNS, json=plan(), headers=admin.headers).json()
    vera = make_person("vera", Role.VIEWER)
    assert client.get(f"{CAMPAIGNS}/{campaign['id']}", headers=vera.headers).status_code == 200
    assert client.post(CAMPAIGNS, json=plan(), headers=vera.headers).status_code == 403


def test_campaigns_of_other_clusters_look_like_none(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]], make_person: Callable[..., Person]
) -> None:
    campaign = client.post(CAMPAIGNS, json=plan(), headers=admin.headers).json()
    other = client.post("/api/v1/clusters", json={"name": "other"}, headers=admin.headers).json()
    olaf = make_person("olaf", Role.OPERATOR, other["id"])
    assert client.get(CAMPAIGNS, headers=olaf.headers).json()["items"] == []
    assert client.get(f"{CAMPAIGNS}/{campaign['id']}", headers=olaf.headers).status_code == 404
    assert client.post(f"{CAMPAIGNS}/{campaign['id']}/cancel", headers=olaf.headers).status_code == 404
    assert client.post(CAMPAIGNS, json=plan(), headers=olaf.headers).status_code == 404


def test_ten_thousand_runs_are_submitted_in_one_request(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]], database: Database
) -> None:
    sizes = [512 * (number + 1) for number in range(100)]
    large = plan(workloads=[{"workload": "dd", "sweep": {"file_size_bytes": sizes}}], repeats=50)
    assert client.post(CAMPAIGNS, json=large, headers=admin.headers).status_code == 201
    assert count(database, "run") == 10_000
