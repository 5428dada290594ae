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
CHANGE = {"id": 8, "at": "2026-09-07T02:00:00Z", "ended_at": None, "words": "20.1 % lower, worse"}
KERNEL = {"text": "kernel: 5.14.0-362 -> 5.14.0-427"}
ALERT = {"id": 2, "cluster_id": 1, "series": SERIES, "change": CHANGE, "state": "acknowledged", "owner": "ada"}
SILENT = {
    "id": 3,
    "cluster_id": 1,
    "series": SERIES | {"workload": "iozone"},
    "change": None,
    "at": "2026-10-25T02:00:00Z",
    "words": "no data since 25 Oct 2026",
    "state": "untriaged",
    "owner": None,
}


def cells(line: str) -> list[str]:
    return [word.strip() for word in line.split("  ") if word.strip()]


def test_trends_have_a_row_for_each_cluster_and_workload(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /clusters?limit=200", page(HPC))
    server.on("GET /board?days=90", (200, {"cells": [SLOWER, STALE]}))
    heading, slower, unknown = iotide("trends").out.splitlines()
    assert cells(heading) == ["cluster", "workload", "state", "since", "change", "worst series", "last point"]
    assert cells(slower) == [
        *("hpc", "dd", "slower", "2026-09-07 02:00 UTC", "20.1 % lower than before"),
        *("dd Throughput (Operation write) on scratch", "2026-11-28 02:00 UTC"),
    ]
    assert cells(unknown)[:3] == ["hpc", "fio", "no baseline"]
    only = json.loads(iotide("trends", "--workload", "dd", "--json").out)
    assert only == [SLOWER | {"cluster_name": "hpc"}]


def incidents(server: FakeServer, *alerts: object) -> None:
    changes = [
        {"series": SERIES, "change": CHANGE, "events": [KERNEL]},
        {
            "series": SERIES,
            "change": CHANGE | {"id": 9, "at": "2026-08-11T02:00:00Z", "ended_at": "2026-09-20T02:00:00Z"},
            "events": [],
        },
    ]
    server.on("GET /clusters?limit=200", page(HPC))
    server.on("GET /alerts?limit=20", page(*alerts))
    server.on("GET /changes?direction=worse&limit=20", page(*changes))


def test_incidents_are_changes_for_the_worse_newest_first_with_near_events(server: FakeServer, iotide: Iotide) -> None:
    incidents(server)
    heading, first, second = iotide("incidents").out.splitlines()
    assert cells(heading) == ["began", "ended", "cluster", "series", "change", "near events", "state", "owner"]
    assert cells(first) == [
        *("2026-09-07 02:00 UTC", "hpc", "dd Throughput (Operation write) on scratch"),
        *("20.1 % lower, worse", KERNEL["text"], "open"),
    ]
    assert cells(second)[:2] == ["2026-08-11 02:00 UTC", "2026-09-20 02:00 UTC"]
    assert cells(second)[-1] == "ended"


def test_an_alert_gives_its_change_state_and_owner_and_one_without_a_change_is_an_incident(
    server: FakeServer, iotide: Iotide
) -> None:
    incidents(server, ALERT, SILENT, SILENT | {"state": "closed"})
    found = json.loads(iotide("incidents", "--json").out)
    assert [(one["change_id"], one["alert_id"], one["state"], one["owner"]) for one in found] == [
        (None, 3, "untriaged", None),
        (8, 2, "acknowledged", "ada"),
        (9, None, "ended", None),
    ]
