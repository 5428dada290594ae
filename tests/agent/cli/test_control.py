"""Operator commands against a fake server."""

import json
from typing import Any

import pytest
from factories.commands import Iotide
from factories.fake_server import FakeServer

CLUSTERS = [{"id": 1, "name": "blade"}, {"id": 2, "name": "lake"}]
NODES = [
    {"id": 4, "cluster_id": 1, "name": "n1", "state": "online"},
    {"id": 5, "cluster_id": 2, "name": "n1", "state": "silent"},
    {"id": 6, "cluster_id": 1, "name": "n2", "state": "silent"},
    {"id": 7, "cluster_id": 1, "name": "n2", "state": "retired"},
]
DRAIN = {
    "kind": "node",
    "subject_id": 6,
    "cluster_id": 1,
    "reason": "its disk is replaced",
    "by": "ada",
    "since": "2026-11-21T10:00:00Z",
    "until": None,
}
DEATH = {
    "node_id": 6,
    "node_name": "n2",
    "last_seen_at": "2026-11-21T10:00:00Z",
    "runs": [
        {
            "run_id": 7,
            "campaign_id": 1,
            "campaign_name": "nightly",
            "workload": "dd",
            "orders": [],
            "becomes": "waiting",
            "ends": "order 12, running by its last word, ends as lost",
            "risk": "If n2 is only cut off, its load may run there.",
        }
    ],
    "waiting_count": 3,
    "statement_sha256": "a" * 64,
}


@pytest.fixture
def server(server: FakeServer) -> FakeServer:
    """Return the server with clusters, nodes and a target."""
    server.on("GET /clusters?limit=200", page(*CLUSTERS))
    server.on("GET /nodes?limit=200", page(*NODES))
    server.on("GET /targets?limit=200", page({"id": 9, "cluster_id": 2, "name": "nfs", "retired_at": None}))
    return server


def page(*items: object) -> tuple[int, dict[str, Any]]:
    return 200, {"items": list(items), "next_cursor": None}


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        (("node", "n2"), "/nodes/6/drain"),
        (("node", "n1", "--cluster", "lake"), "/nodes/5/drain"),
        (("target", "nfs"), "/targets/9/drain"),
        (("cluster", "blade"), "/clusters/1/drain"),
        (("all",), "/drain"),
    ],
)
def test_named_nodes_are_drained_and_resumed(
    server: FakeServer, iotide: Iotide, arguments: tuple[str, ...], path: str
) -> None:
    server.on(f"PUT {path}", (200, DRAIN))
    server.on(f"DELETE {path}", (204, ""))
    drained = iotide("drain", *arguments, "--reason", "its disk is replaced")
    assert drained.status == 0, drained.err
    assert "is drained until it is resumed: its disk is replaced" in drained.out
    [request] = server.asked(f"PUT {path}")
    assert request.body == {"reason": "its disk is replaced", "until": None}
    assert iotide("resume", *arguments).status == 0
    assert len(server.asked(f"DELETE {path}")) == 1


@pytest.mark.parametrize("given", ["2026-12-01T07:00:00+01:00", "2026-12-01T06:00:00Z"])
def test_an_end_is_sent_with_its_zone(server: FakeServer, iotide: Iotide, given: str) -> None:
    server.on("PUT /drain", (200, DRAIN | {"until": "2026-12-01T06:00:00Z"}))
    drained = iotide("drain", "all", "--reason", "x", "--until", given)
    assert drained.out == "everything is drained until 2026-12-01 06:00 UTC: its disk is replaced\n"
    [request] = server.asked("PUT /drain")
    assert request.body["until"].endswith(("+00:00", "+01:00"))
    iotide("drain", "all", "--reason", "x", "--until", "2026-12-01 06:00")
    local = server.asked("PUT /drain")[-1].body["until"]
    assert local.startswith("2026-12-01T06:00:00")
    assert local[-6] in "+-"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("drain", "node", "--reason", "x"), "every kind except `all` needs a name"),
        (("drain", "all", "n1", "--reason", "x"), "every kind except `all` needs a name"),
        (("drain", "node", "n1", "--reason", "x"), "use --cluster with one of blade, lake"),
        (("resume", "target", "nfs", "--cluster", "blade"), "no such target"),
        (("resume", "cluster", "pond"), "no such cluster"),
        (("node", "dead", "n9"), "no such node"),
        (("drain", "node", "n2"), "--reason"),
    ],
)
def test_ambiguous_names_are_rejected_with_status_2(
    server: FakeServer, iotide: Iotide, arguments: tuple[str, ...], words: str
) -> None:
    ended = iotide(*arguments)
    assert ended.status == 2
    assert words in ended.err
    assert {request.method for request in server.requests} <= {"GET"}


def test_drains_are_listed(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /drains", (200, [DRAIN | {"name": "n2"}]))
    listed = iotide("drains").out
    assert all(word in listed for word in ("node", "n2", "its disk is replaced", "ada", "until it is resumed"))
    assert json.loads(iotide("drains", "--json").out) == [DRAIN | {"name": "n2"}]


def test_a_node_is_marked_dead_with_the_digest_of_the_preview(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /nodes/6/dead", (200, DEATH))
    server.on("POST /nodes/6/dead", (200, {"id": 6, "problem": "ada called n2 dead"}))
    done = iotide("node", "dead", "n2", "--yes")
    assert done.out.splitlines() == [
        "last heartbeat of n2: 2026-11-21 10:00:00 UTC",
        "run 7 (nightly, dd): order 12, running by its last word, ends as lost",
        "  If n2 is only cut off, its load may run there.",
        "3 runs wait for this node and keep waiting until its agent is back and idle",
        "n2: ada called n2 dead",
    ]
    [request] = server.asked("POST /nodes/6/dead")
    assert request.body == {"statement_sha256": "a" * 64}


def test_a_stuck_node_is_freed_with_the_digest_of_what_was_shown(server: FakeServer, iotide: Iotide) -> None:
    held = {
        "run_id": 7,
        "campaign_id": 2,
        "campaign_name": "nightly",
        "workload": "dd",
        "process": "dd (pid 41) in state D, waiting in rpc_wait",
        "since": "2026-11-21T10:00:00Z",
        "frees": "target nfs and node n2 are free at once",
        "risk": "dd (pid 41) may continue writing.",
    }
    then = "n2 itself is offered nothing until its agent reports that nothing is left."
    stated = {"node_id": 6, "node_name": "n2", "runs": [held], "afterwards": then, "statement_sha256": "b" * 64}
    server.on("GET /nodes/6/stuck", (200, stated))
    server.on("POST /nodes/6/stuck", (200, {"id": 6}))
    refused = iotide("node", "free", "n2")
    assert (refused.status, server.asked("POST /nodes/6/stuck")) == (2, [])
    assert iotide("node", "free", "n2", "--yes").out.splitlines() == [
        "run 7 (nightly, dd): target nfs and node n2 are free at once",
        "  dd (pid 41) may continue writing.",
        then,
        f"n2: freed. {then}",
    ]
    [request] = server.asked("POST /nodes/6/stuck")
    assert request.body == {"statement_sha256": "b" * 64}


def test_without_a_terminal_and_yes_nothing_is_freed(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /nodes/6/dead", (200, DEATH))
    ended = iotide("node", "dead", "n2")
    assert ended.status == 2
    assert "read the effects above, then use --yes" in ended.err
    assert server.asked("POST /nodes/6/dead") == []


def test_a_campaign_gets_another_priority(server: FakeServer, iotide: Iotide) -> None:
    counts = {"waiting": 3, "active": 0, "finished": 0, "failed": 0, "cancelled": 0}
    campaign = {
        "id": 7,
        "name": "nightly",
        "cluster_name": "blade",
        "state": "waiting",
        "created_at": "2026-11-21T10:00:00Z",
        "stages": [],
        "counts": counts,
        "progress": 0.0,
        "seconds_remaining_estimated": None,
    }
    server.on("PATCH /campaigns/7", (200, campaign))
    assert iotide("campaign", "priority", "7", "5").out == "campaign 7 (nightly) has priority 5; 3 runs are waiting\n"
    [request] = server.asked("PATCH /campaigns/7")
    assert request.body == {"priority": 5}
    assert iotide("campaign", "priority", "7", "10").status == 2
