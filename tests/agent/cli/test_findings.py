"""`iotide trends` and `iotide incidents` against a fake server."""

import json

from factories.commands import Iotide
from factories.fake_server import FakeServer

from .responses import page

HPC = {"id": 1, "name": "hpc", "launcher": "direct"}
SERIES = {
    "id": 5,
    "cluster_id": 1,
    "workload": "dd",
    "metric": "throughput",
    "title": "Throughput",
    "labels": {"operation": "write"},
    "target_names": ["scratch"],
}
SLOWER = {
    "cluster_id": 1,
    "workload": "dd",
    "state": "slower",
    "since": "2026-09-07T02:00:00Z",
    "words": "20.1 % lower than before",
    "worst": SERIES,
    "last_at": "2026-11-28T02:00:00Z",
}
STALE = SLOWER | {"workload": "fio", "state": "no_baseline", "since": None, "words": ""}
INCIDENT = {
    "id": 8,
    "cluster_id": 1,
    "cluster_name": "hpc",
    "kind": "worse",
    "state": "acknowledged",
    "words": "scratch: dd write -20.1 % since 7 Sep 2026, kernel: 5.14.0-362 -> 5.14.0-427",
    "owner": "ada",
}
BETTER = INCIDENT | {
    "id": 9,
    "kind": "better",
    "state": "ended",
    "words": "home: fio +18 % since 1 Nov 2026",
    "owner": None,
}


def cells(line: str) -> list[str]:
    return [word.strip() for word in line.split("  ") if word.strip()]


def test_trends_have_a_row_for_each_cluster_and_workload(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /clusters?limit=200", page(HPC))
    server.on("GET /board?days=90", (200, {"cells": [SLOWER, STALE], "workloads": ["dd", "fio"]}))
    heading, slower, unknown = iotide("trends").out.splitlines()
    assert cells(heading) == ["cluster", "workload", "state", "since", "change", "worst series", "last point"]
    assert cells(slower) == [
        *("hpc", "dd", "slower", "2026-09-07 02:00 UTC", "20.1 % lower than before"),
        *("dd Throughput (Operation write) on scratch", "2026-11-28 02:00 UTC"),
    ]
    assert cells(unknown)[:3] == ["hpc", "fio", "no baseline"]
    only = json.loads(iotide("trends", "--workload", "dd", "--json").out)
    assert only == [SLOWER | {"cluster_name": "hpc"}]
    ended = iotide("trends", "--workload", "fyo")
    assert (ended.status, "workload = 'fyo'" in ended.err) == (2, True)
    assert "did you mean fio? measured: dd, fio" in ended.err


def test_incidents_are_one_list_of_the_server_in_the_words_of_the_page(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /incidents?limit=20", page(INCIDENT, BETTER))
    heading, first, second = iotide("incidents").out.splitlines()
    assert cells(heading) == ["id", "cluster", "incident", "state", "owner"]
    assert cells(first) == ["8", "hpc", INCIDENT["words"], "acknowledged", "ada"]
    assert cells(second) == ["9", "hpc", BETTER["words"], "better"]
    assert json.loads(iotide("incidents", "--json").out) == [INCIDENT, BETTER]
    assert {request.path for request in server.requests} == {"/api/v1/incidents?limit=20"}


def test_incidents_are_filtered_by_the_server_and_read_page_by_page(server: FakeServer, iotide: Iotide) -> None:
    wanted = "state=open&state=acknowledged&owner=ada&cluster_id=1"
    server.on("GET /clusters?limit=200", page(HPC))
    server.on(f"GET /incidents?{wanted}&limit=2", page(INCIDENT, cursor="next"))
    server.on(f"GET /incidents?{wanted}&limit=2&cursor=next", page(BETTER, INCIDENT))
    options = ("--state", "open", "--state", "acknowledged", "--owner", "ada", "--cluster", "hpc", "--limit", "2")
    assert json.loads(iotide("incidents", *options, "--json").out) == [INCIDENT, BETTER]


def test_an_unknown_state_ends_with_status_2_and_the_known_ones(iotide: Iotide) -> None:
    ended = iotide("incidents", "--state", "closed")
    assert ended.status == 2
    assert "'open', 'acknowledged', 'expected', 'ignored', 'ended'" in " ".join(ended.err.replace("│", " ").split())
