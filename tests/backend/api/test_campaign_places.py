"""Nodes and targets that a plan's runs load together, and their observers."""

import pytest
from factories.people import Person
from factories.ready_cluster import ReadyCluster
from factories.rows import count
from fastapi.testclient import TestClient
from sqlalchemy import text

from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database
from iotide_server.targets.models import TargetMount

CAMPAIGNS = "/api/v1/campaigns"


def test_targets_at_once_are_loaded_by_each_run_together(
    client: TestClient, admin: Person, database: Database, clock: Clock
) -> None:
    with database.transaction() as session:
        ready = ReadyCluster(session, clock(), node_count=2)
        ready.add_target("second")
    plan = ready.plan(targets=["scratch", "second"], targets_at_once=True)
    preview = client.post(f"{CAMPAIGNS}/preview", json=plan, headers=admin.headers).json()
    assert [cell["target_names"] for cell in preview["cells"]] == [["scratch", "second"]] * 2
    alone = client.post(f"{CAMPAIGNS}/preview", json=plan | {"targets_at_once": False}, headers=admin.headers).json()
    assert (preview["bytes_peak"], preview["bytes_moved"]) == (alone["bytes_peak"], alone["bytes_moved"])

    campaign = client.post(CAMPAIGNS, json=plan, headers=admin.headers).json()
    cells = client.get(f"{CAMPAIGNS}/{campaign['id']}/cells", headers=admin.headers).json()["items"]
    assert [cell["target_names"] for cell in cells] == [["scratch", "second"]] * 2


def test_nodes_at_once_are_one_run_each_with_an_order_for_every_node(
    client: TestClient, admin: Person, database: Database, clock: Clock
) -> None:
    with database.transaction() as session:
        ready = ReadyCluster(session, clock(), node_count=3)
        ready.add_target("nfs", scope="shared")
    plan = ready.plan(targets=["nfs"], nodes_at_once=[1, 2, 3], repeats=2)
    preview = client.post(f"{CAMPAIGNS}/preview", json=plan, headers=admin.headers).json()
    assert [cell["node_names"] for cell in preview["cells"]] == [["n1"], ["n1", "n2"], ["n1", "n2", "n3"]]

    campaign = client.post(CAMPAIGNS, json=plan, headers=admin.headers).json()
    assert campaign["counts"]["waiting"] == 6
    assert campaign["plan"]["nodes_at_once"] == [1, 2, 3]
    cells = client.get(f"{CAMPAIGNS}/{campaign['id']}/cells", headers=admin.headers).json()["items"]
    assert [cell["node_names"] for cell in cells] == [["n1"], ["n1", "n2"], ["n1", "n2", "n3"]]
    assert [cell["target_names"] for cell in cells] == [["nfs"]] * 3
    assert count(database, "line_place") == 2 * (1 + 2 + 3)


def test_observers_are_previewed_and_stored_with_each_cell_in_which_they_do_not_load(
    client: TestClient, admin: Person, database: Database, clock: Clock
) -> None:
    with database.transaction() as session:
        ready = ReadyCluster(session, clock(), node_count=2)
        ready.add_node("server")  # no target is on it
    plan = ready.plan(nodes=["n1", "n2"], observers=["server", "n2"])
    preview = client.post(f"{CAMPAIGNS}/preview", json=plan, headers=admin.headers).json()
    observed = [(cell["node_names"], cell["observer_names"]) for cell in preview["cells"]]
    assert observed == [(["n1"], ["server", "n2"]), (["n2"], ["server"])]

    campaign = client.post(CAMPAIGNS, json=plan, headers=admin.headers).json()
    assert campaign["plan"]["observers"] == ["server", "n2"]
    assert count(database, "cell_observer") == 3
    assert count(database, "cell_node") == 2


@pytest.mark.parametrize(
    ("changes", "status", "code", "field"),
    [
        ({"observers": ["nobody"]}, 404, "node_not_found", "observers[0]"),
        ({"observers": ["n1"]}, 422, "observer_loads", "observers[0]"),
        (
            {"workloads": [{"workload": "dd", "observers": ["n1"]}]},
            422,
            "observer_not_in_plan",
            "workloads[0].observers[0]",
        ),
    ],
)
def test_an_observer_that_cannot_observe_is_refused_by_name(
    client: TestClient,
    admin: Person,
    database: Database,
    clock: Clock,
    changes: dict[str, object],
    status: int,
    code: str,
    field: str,
) -> None:
    with database.transaction() as session:
        ready = ReadyCluster(session, clock())
    refused = client.post(CAMPAIGNS, json=ready.plan(**changes), headers=admin.headers)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["field"]) == (status, code, field)
    assert error["remedy"]


@pytest.mark.parametrize(
    ("launcher", "role", "status"),
    [
        ("direct", "compute", 201),
        ("slurm", "storage", 201),
        ("slurm", "compute", 422),
        ("slurm", "gateway", 422),
    ],
)
def test_a_node_with_an_agent_only_in_its_jobs_cannot_observe_runs_of_others(
    client: TestClient, admin: Person, database: Database, clock: Clock, launcher: str, role: str, status: int
) -> None:
    with database.transaction() as session:
        ready = ReadyCluster(session, clock())
        ready.add_node("watcher")
        session.execute(text("UPDATE cluster SET launcher = :launcher"), {"launcher": launcher})
        session.execute(text("UPDATE node SET role = :role WHERE name = 'watcher'"), {"role": role})
    answer = client.post(CAMPAIGNS, json=ready.plan(observers=["watcher"]), headers=admin.headers)
    assert answer.status_code == status
    if status == 422:
        error = answer.json()["error"]
        assert (error["code"], error["field"], error["value"]) == ("observer_has_no_agent", "observers[0]", "watcher")


def test_nodes_at_once_need_their_room_together_on_a_shared_target_and_each_its_own_elsewhere(
    client: TestClient, admin: Person, database: Database, clock: Clock
) -> None:
    with database.transaction() as session:
        ready = ReadyCluster(session, clock(), node_count=2)
        ready.add_target("nfs", scope="shared")
    mib = 1024**2
    written = [{"workload": "dd", "options": {"file_size_bytes": 64 * mib, "operations": ["write"]}}]
    peaks = {
        (target, at_once): client.post(
            f"{CAMPAIGNS}/preview",
            json=ready.plan(targets=[target], nodes_at_once=at_once, workloads=written),
            headers=admin.headers,
        ).json()["bytes_peak"]
        for target in ("scratch", "nfs")
        for at_once in (False, True)
    }
    assert peaks["nfs", True] == 2 * peaks["nfs", False]
    assert peaks["scratch", True] == peaks["scratch", False] == peaks["nfs", False]


def test_a_workload_names_the_nodes_and_targets_that_go_together(
    client: TestClient, admin: Person, database: Database, clock: Clock
) -> None:
    with database.transaction() as session:
        ready = ReadyCluster(session, clock(), node_count=2)
        san = ready.add_target("san")
        session.delete(session.get_one(TargetMount, (ready.target.id, ready.nodes[1].id)))
        session.delete(session.get_one(TargetMount, (san.id, ready.nodes[0].id)))
    plan = ready.plan(targets=["scratch", "san"])
    refused = client.post(CAMPAIGNS, json=plan, headers=admin.headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "target_not_on_node")

    paired = [
        {**plan["workloads"][0], "nodes": [node], "targets": [target]}
        for node, target in (("n1", "scratch"), ("n2", "san"))
    ]
    answer = client.post(CAMPAIGNS, json=plan | {"workloads": paired}, headers=admin.headers)
    assert answer.status_code == 201
    assert [choice["nodes"] for choice in answer.json()["plan"]["workloads"]] == [["n1"], ["n2"]]
    cells = client.get(f"{CAMPAIGNS}/{answer.json()['id']}/cells", headers=admin.headers).json()["items"]
    assert [(cell["node_names"], cell["target_names"]) for cell in cells] == [(["n1"], ["scratch"]), (["n2"], ["san"])]


def test_stream_over_targets_at_once_needs_a_share_of_its_data_on_each(
    client: TestClient, admin: Person, database: Database, clock: Clock
) -> None:
    with database.transaction() as session:
        ready = ReadyCluster(session, clock(), node_count=1)
        names = ["scratch", *(ready.add_target(f"disk{number}").name for number in range(2, 4))]
    recorded = {"rate_bytes_per_second": "1000 Mbit/s", "duration_seconds": 40, "files": "split"}
    plan = ready.plan(targets=names, workloads=[{"workload": "stream", "options": recorded}])
    for at_once, share in ((False, 1.0), (True, 0.5)):
        asked = plan | {"targets_at_once": at_once}
        preview = client.post(f"{CAMPAIGNS}/preview", json=asked, headers=admin.headers).json()
        assert preview["bytes_peak"] == share * 5_000_000_000 + 32 * 1024**2
