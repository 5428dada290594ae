"""Heartbeats of idle nodes over HTTP: stored together, answered as if they came one by one."""

import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from bring_up import wait_for
from factories.announced import hello
from factories.clock import MovedClock
from factories.clusters import make_cluster, make_node, node_token
from factories.slow_pages import locks_wanted
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import event, text
from starlette.datastructures import State

from iotide_server.agent_api import heartbeats_first, idle_heartbeats, idle_repository
from iotide_server.kit.db import Database
from iotide_wire.messages import HeartbeatReply

HEARTBEAT_PATH = "/api/v1/agent/beat"
NODES = 40


@pytest.fixture
def node_ids(database: Database) -> list[int]:
    with database.transaction() as session:
        cluster = make_cluster(session)
        names = (f"n{number}" for number in range(NODES))
        return [make_node(session, cluster, name, said=hello(f"instance-{name}")).id for name in names]


def heartbeat(client: TestClient, clock: MovedClock, number: int, **changes: object) -> Response:
    said: dict[str, Any] = {
        "agent_instance": f"instance-n{number}",
        "boot_id": "boot-1234",
        "sent_at": clock().isoformat(),
        "orders": [],
    }
    content = json.dumps(said | changes, separators=(",", ":"))
    headers = {"Authorization": f"Bearer {node_token(f'n{number}')}", "Content-Type": "application/json"}
    return client.post(HEARTBEAT_PATH, content=content, headers=headers)


def test_concurrent_heartbeats_are_one_transaction_and_each_is_answered(
    client: TestClient,
    clock: MovedClock,
    database: Database,
    node_ids: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(NODES):
        assert heartbeat(client, clock, number).status_code == 200, "the first of each is stored alone"
    clock.move(2)
    monkeypatch.setattr(idle_heartbeats, "GATHERING_SECONDS", 0.5)
    commits: list[object] = []
    note = commits.append
    event.listen(database.engine, "commit", note)
    with ThreadPoolExecutor(NODES) as pool:
        answers = list(pool.map(lambda number: heartbeat(client, clock, number), range(NODES)))
    event.remove(database.engine, "commit", note)
    assert {answer.status_code for answer in answers} == {200}
    assert {HeartbeatReply.model_validate_json(answer.content).server_time for answer in answers} == {clock()}
    assert len(commits) < NODES / 4
    with database.transaction() as session:
        seen = text("SELECT count(*) FROM node_beat WHERE seen_at = :now AND node_id = ANY(:ids)")
        assert session.scalar(seen, {"now": clock(), "ids": node_ids}) == NODES


def test_nodes_that_were_silent_are_published_when_they_are_back(
    client: TestClient, clock: MovedClock, database: Database, node_ids: list[int]
) -> None:
    for number in range(2):
        heartbeat(client, clock, number)
    clock.move(3600)
    with database.transaction() as session:
        session.execute(text("DELETE FROM change"))
    for _ in range(2):
        assert heartbeat(client, clock, 1).status_code == 200
    with database.transaction() as session:
        updates = session.execute(text("SELECT kind, subject_id FROM change")).all()
    assert [tuple(row) for row in updates] == [("node", node_ids[1])]


def test_a_locked_row_of_a_node_delays_no_other_node(
    client: TestClient, clock: MovedClock, database: Database, node_ids: list[int]
) -> None:
    with database.engine.connect() as holder, ThreadPoolExecutor(2) as pool:
        holder.execute(text("SELECT FROM node_beat WHERE node_id = :id FOR UPDATE"), {"id": node_ids[1]})
        waiting = pool.submit(heartbeat, client, clock, 1)
        try:
            wait_for("the first heartbeat", lambda: locks_wanted(database) or None)
            not_idle = pool.submit(heartbeat, client, clock, 2, problem="its disk is full")
            assert not_idle.result(timeout=10).status_code == 200
            assert not waiting.done()
        finally:
            holder.rollback()
        assert waiting.result(timeout=10).status_code == 200


@pytest.mark.usefixtures("node_ids")
def test_the_token_of_a_node_is_looked_up_once_while_its_heartbeats_are_answered(
    client: TestClient, clock: MovedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    is_of_node = heartbeats_first._is_of_node

    def ask(state: State, token_sha256: str) -> bool:
        asked.append(token_sha256)
        return is_of_node(state, token_sha256)

    monkeypatch.setattr(heartbeats_first, "_is_of_node", ask)
    monkeypatch.setattr(heartbeats_first, "time", SimpleNamespace(monotonic=lambda: clock().timestamp()))
    for _ in range(10):
        assert heartbeat(client, clock, 1).status_code == 200
        clock.move(10)
    assert len(asked) == 1


@pytest.mark.usefixtures("node_ids")
def test_the_answer_equals_that_to_a_single_heartbeat(client: TestClient, clock: MovedClock) -> None:
    first, together = (heartbeat(client, clock, 1).json() for _ in range(2))
    assert first == together


@pytest.mark.usefixtures("node_ids")
def test_a_superseded_or_unknown_agent_is_rejected(client: TestClient, clock: MovedClock, database: Database) -> None:
    assert heartbeat(client, clock, 1).status_code == 200
    superseded = heartbeat(client, clock, 1, agent_instance="a-second-copy")
    assert (superseded.status_code, superseded.json()["error"]["code"]) == (409, "agent_superseded")
    with database.transaction() as session:
        session.execute(text("UPDATE node SET revoked_at = now() WHERE name = 'n1'"))
    assert heartbeat(client, clock, 1).status_code == 401
    assert heartbeat(client, clock, NODES).status_code == 401, "an unknown token"


@pytest.mark.usefixtures("node_ids")
@pytest.mark.parametrize("changes", [{"spool_bytes": -1}, {"sent_at": "yesterday"}, {"boot_id": None}])
def test_an_invalid_heartbeat_is_rejected_with_its_field(
    client: TestClient, clock: MovedClock, changes: dict[str, object]
) -> None:
    refused = heartbeat(client, clock, 1, **changes)
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, next(iter(changes)))


@pytest.mark.usefixtures("node_ids")
@pytest.mark.parametrize("statement", [text("SELECT 1 / 0"), None], ids=["refused", "broken"])
def test_heartbeats_that_fail_together_are_stored_one_by_one(
    client: TestClient, clock: MovedClock, monkeypatch: pytest.MonkeyPatch, statement: object
) -> None:
    assert heartbeat(client, clock, 1).status_code == 200
    with monkeypatch.context() as patch:
        patch.setattr(idle_repository, "_STORE_IDLE_HEARTBEATS", statement)
        assert heartbeat(client, clock, 1).status_code == 200
    assert heartbeat(client, clock, 1).status_code == 200


def test_a_heartbeat_that_the_database_cannot_store_spoils_no_other() -> None:
    said = {"agent_instance": "instance-n1", "boot_id": "boot-1234", "sent_at": "2026-11-25T00:00:00Z", "orders": []}
    headers = {"authorization": f"Bearer {node_token('n1')}", "content-type": "application/json"}

    def taken(instance: str) -> bool:
        content = json.dumps(said | {"agent_instance": instance}, separators=(",", ":")).encode()
        return idle_heartbeats.idle_heartbeat(headers, content) is not None

    assert [taken(instance) for instance in ("instance-n1", "instance-\0n1")] == [True, False]
