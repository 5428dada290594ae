"""`iotide nodes` and `iotide targets` against a fake server."""

import json

from factories.commands import Iotide
from factories.fake_server import FakeServer

from .responses import page

HPC, LAB = {"id": 1, "name": "hpc", "launcher": "direct"}, {"id": 2, "name": "lab", "launcher": "direct"}
NODE = {
    "id": 33,
    "name": "c03",
    "role": "compute",
    "state": "online",
    "last_seen_at": "2026-11-21T10:00:00Z",
    "agent_version": "0.3.0",
    "facts": {"cpu.count": 64, "memory.total_bytes": 274_877_906_944, "kernel.release": "6.1.0-30"},
    "problem": None,
    "stuck": [],
    "drain": None,
    "active_orders": [{"run_id": 12, "progress": 0.25, "phase": "write"}],
}
TARGET = {
    "id": 5,
    "name": "scratch",
    "path": "/scratch",
    "scope": "shared",
    "drain": None,
    "mounts": [
        {"node_name": "c03", "fstype": "lustre", "free_bytes": 2**40, "problem": None},
        {"node_name": "c04", "fstype": "lustre", "free_bytes": 2**41, "problem": "not mounted"},
    ],
}


def test_nodes_of_all_clusters_are_listed_with_their_activity_and_system(server: FakeServer, iotide: Iotide) -> None:
    silent = NODE | {"id": 34, "name": "l1", "state": "silent", "active_orders": [], "problem": "no heartbeat"}
    server.on("GET /clusters?limit=200", page(HPC, LAB))
    server.on("GET /clusters/1/nodes?limit=200", page(NODE))
    server.on("GET /clusters/2/nodes?limit=200", page(silent))
    heading, first, second = (line.split("  ") for line in iotide("nodes").out.splitlines())
    assert [word.strip() for word in heading if word] == [
        *("id", "node", "cluster", "state", "last seen", "activity", "agent", "system")
    ]
    assert [word.strip() for word in first if word.strip()] == [
        *("33", "c03", "hpc", "online", "2026-11-21 10:00 UTC", "run 12 25 %", "0.3.0"),
        "64 CPUs, 256 GiB, Linux 6.1.0-30",
    ]
    assert [word.strip() for word in second if word.strip()][1:5] == [
        *("l1", "lab", "silent; no heartbeat", "2026-11-21 10:00 UTC")
    ]


def test_clusters_of_published_results_have_nothing_to_measure(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /clusters?limit=200", page(HPC, LAB | {"origin": "published"}))
    server.on("GET /targets?cluster_id=1&limit=200", page(TARGET))
    assert [one["cluster_name"] for one in json.loads(iotide("targets", "--json").out)] == ["hpc"]


def test_nodes_of_one_cluster_are_asked_for_only_there(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /clusters?limit=200", page(HPC, LAB))
    server.on("GET /clusters/1/nodes?limit=200", page(NODE))
    ended = iotide("nodes", "--cluster", "hpc", "--json")
    assert json.loads(ended.out) == [NODE | {"cluster_name": "hpc"}]


def test_an_unknown_cluster_ends_with_status_2_and_the_command_that_lists_them(
    server: FakeServer, iotide: Iotide
) -> None:
    server.on("GET /clusters?limit=200", page(HPC))
    for command in ("nodes", "targets", "trends", "incidents"):
        ended = iotide(command, "--cluster", "hpx")
        assert ended.status == 2
        assert "cluster = 'hpx': no such cluster" in ended.err
        assert "did you mean hpc? see `iotide cluster list`" in ended.err


def test_targets_have_the_least_free_space_and_the_problems_of_their_nodes(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /clusters?limit=200", page(HPC))
    server.on("GET /targets?cluster_id=1&limit=200", page(TARGET))
    row = iotide("targets").out.splitlines()[1]
    assert [word.strip() for word in row.split("  ") if word.strip()] == [
        *("5", "scratch", "hpc", "/scratch", "lustre (shared)", "c03, c04", "1 TiB", "c04: not mounted")
    ]
    assert json.loads(iotide("targets", "--json").out)[0]["mounts"] == TARGET["mounts"]
