"""A plan's policies on caches, cool-downs and other load."""

from collections.abc import Callable
from typing import Any

import pytest
from factories.people import Person
from fastapi.testclient import TestClient
from sqlalchemy import text

from iotide_server.kit.db import Database

CAMPAIGNS = "/api/v1/campaigns"
ONE_MIB = {"workloads": [{"workload": "dd", "options": {"file_size_bytes": "1 MiB"}}]}


@pytest.mark.parametrize(("policy", "code"), [("none", "reads_warm"), ("remount", "remount_by_node")])
def test_a_preview_explains_the_cache_policy_for_reads(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]], policy: str, code: str
) -> None:
    body = plan(**ONE_MIB, cache=policy)
    warnings = client.post(f"{CAMPAIGNS}/preview", json=body, headers=admin.headers).json()["warnings"]
    assert (code, "cache") in {(warning["code"], warning["field"]) for warning in warnings}


@pytest.mark.parametrize(
    ("room", "remedy"),
    [
        (100 * 1024**3, "use larger sizes (`auto` is twice the memory), or the cache policy"),
        (8 * 1024**3, "larger sizes do not fit: use the cache policy drop or remount"),
    ],
)
def test_data_that_memory_could_hold_is_refused_where_the_cache_policy_relies_on_its_size(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]], database: Database, room: int, remedy: str
) -> None:
    with database.transaction() as session:
        session.execute(text("UPDATE target_mount SET free_bytes = :room"), {"room": room})
    body = plan(**ONE_MIB, cache="larger_than_memory")
    answer = client.post(f"{CAMPAIGNS}/preview", json=body, headers=admin.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["field"]) == (409, "data_fits_in_memory", "workloads[0].options")
    assert "a run needs 32 GiB of data on n1 (twice its memory), but has 1 MiB" in error["message"]
    assert error["remedy"].startswith(remedy)
    fits = plan(workloads=[{"workload": "dd", "options": {"file_size_bytes": "auto"}}], cache="larger_than_memory")
    previewed = client.post(f"{CAMPAIGNS}/preview", json=fits, headers=admin.headers)
    assert previewed.json().get("error", {}).get("code") != "data_fits_in_memory"


def test_a_cool_down_is_part_of_the_expected_time_and_of_each_run(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]], database: Database
) -> None:
    body = plan(**ONE_MIB, nodes=["n1"], repeats=3, cool_down="2 min")
    answer = client.post(CAMPAIGNS, json=body, headers=admin.headers)
    assert answer.json()["plan"]["cool_down_seconds"] == 120.0
    with database.transaction() as session:
        assert session.scalars(text("SELECT DISTINCT cool_down_seconds FROM run")).all() == [120.0]


@pytest.mark.parametrize("policy", ["ignore", "flag", "wait", "refuse"])
def test_the_plan_decides_about_runs_on_busy_nodes_and_the_preview_shows_it(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]], policy: str
) -> None:
    body = plan(**ONE_MIB, quiet=policy, quiet_wait="5 min")
    stored = client.post(CAMPAIGNS, json=body, headers=admin.headers).json()["plan"]
    assert (stored["quiet"], stored["quiet_wait_seconds"]) == (policy, 300.0)
    warnings = client.post(f"{CAMPAIGNS}/preview", json=body, headers=admin.headers).json()["warnings"]
    said = [warning["message"] for warning in warnings if warning["field"] == "quiet"]
    assert len(said) == (0 if policy == "flag" else 1)
    assert ("for up to 300 s" in "".join(said)) is (policy == "wait")


def test_runs_on_busy_nodes_are_flagged_by_default(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]]
) -> None:
    stored = client.post(CAMPAIGNS, json=plan(), headers=admin.headers).json()["plan"]
    assert (stored["quiet"], stored["quiet_wait_seconds"]) == ("flag", 60.0)


@pytest.mark.parametrize("policy", ["wait", "refuse"])
def test_a_plan_that_shares_its_node_cannot_require_an_idle_one(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]], policy: str
) -> None:
    answer = client.post(CAMPAIGNS, json=plan(exclusive="none", quiet=policy), headers=admin.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["field"]) == (422, "quiet_beside_runs", "quiet")
    assert "choose another value for exclusive" in error["remedy"]


@pytest.mark.parametrize("wrong", [{"quiet": "hush"}, {"quiet_wait": "2 h"}, {"quiet_wait": 0}])
def test_a_policy_that_there_is_not_is_refused(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]], wrong: dict[str, Any]
) -> None:
    answer = client.post(CAMPAIGNS, json=plan(**wrong), headers=admin.headers)
    assert answer.status_code == 422
    assert answer.json()["error"]["field"] in {"quiet", "quiet_wait", "quiet_wait_seconds"}


def test_a_preview_shows_how_much_is_written_to_each_target(
    client: TestClient, admin: Person, plan: Callable[..., dict[str, Any]]
) -> None:
    body = plan(**ONE_MIB, nodes=["n1"], repeats=3)
    wear = client.post(f"{CAMPAIGNS}/preview", json=body, headers=admin.headers).json()["wear"]
    assert wear == [{"target_name": "scratch", "bytes_least": 3 * 1024**2, "bytes_most": 6 * 1024**2}]
