"""Limits of a stolen node token on each of the agents' routes: it reaches only that node's own orders."""

import hashlib
from dataclasses import dataclass
from typing import Any

import pytest
from factories.announced import NOW
from factories.clock import MovedClock
from factories.people import Person
from factories.site import Offered, Site
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import text

from iotide_server.accounts.roles.authentication import NODE_TOKEN_PREFIX
from iotide_server.kit.db import Database
from iotide_server.kit.digests import digest
from iotide_wire.messages import OrderState
from iotide_wire.versions import WIRE_VERSION

API = "/api/v1"
_TABLES = ("run", "attempt", "node_order", "lease", "sample", "artefact", "curve_chunk", "run_event", "node")


@dataclass
class Theft:
    """Node 1 has a running order; a thief has the token of node 2, which has an order of its own."""

    client: TestClient
    site: Site
    victim: Offered
    own: Offered

    def call(self, method: str, path: str, **more: Any) -> Response:  # noqa: ANN401 - any part of a request
        headers = {"Authorization": f"Bearer {token(2)}", **more.pop("headers", {})}
        return self.client.request(method, f"{API}/agent{path}", headers=headers, **more)

    def seen(self) -> dict[str, list[str]]:
        """Return every row through which the victim's order could be changed."""
        with self.site.database.transaction() as session:
            return {
                table: sorted(map(str, session.scalars(text(f"SELECT to_jsonb({table}) FROM {table}"))))  # noqa: S608
                for table in _TABLES
            }


def token(number: int) -> str:
    return f"{NODE_TOKEN_PREFIX}of-n{number}"


@pytest.fixture
def theft(client: TestClient, database: Database, clock: MovedClock) -> Theft:
    site = Site(database, clock)
    with database.transaction() as session:
        for number, node_id in enumerate(site.node_ids, start=1):
            values = {"id": node_id, "sha": digest(token(number))}
            session.execute(text("UPDATE node SET token_sha256 = :sha WHERE id = :id"), values)
    site.add_runs([1], [2])
    site.start()
    agent = site.agent(1)
    victim = agent.claim_offer()
    agent.say(victim, OrderState.READY)
    agent.say(victim, OrderState.RUNNING, 0.3, started_at=clock())
    return Theft(client, site, victim, site.agent(2).offer())


def identity(number: int) -> dict[str, Any]:
    return {"agent_instance": f"instance-n{number}", "boot_id": "boot-1234"}


def heartbeat_of(order_id: int, fence: int) -> dict[str, Any]:
    curve = {"counter": "write_bytes_per_second", "started_at": NOW.isoformat(), "step_seconds": 1.0, "values": [1.0]}
    order = {"order_id": order_id, "fence": fence, "state": "uploading", "progress": 1.0, "phase": "forged"}
    return {
        **identity(2),
        "sent_at": NOW.isoformat(),
        "orders": [{**order, "started_at": NOW.isoformat(), "curves": [curve]}],
    }


def result_of(fence: int) -> dict[str, Any]:
    empty: dict[str, Any] = {name: [] for name in ("steps", "samples", "flags", "artefacts", "curves")}
    sample = {"metric": "throughput", "value": 1e12, "labels": {}, "target_id": None}
    said = {"outcome": "finished", "reason_code": None, "reason": None, "started_at": NOW.isoformat()}
    more = {"ended_at": NOW.isoformat(), "environment": {}, "digest": "f" * 64, "fence": fence}
    return {**empty, **said, **more, "agent_instance": "instance-n1", "samples": [sample]}


def test_the_others_order_is_not_claimed_even_with_its_fence_and_its_agents_name(theft: Theft) -> None:
    before = theft.seen()
    body = {"fence": theft.victim.fence, **identity(1)}
    assert theft.call("POST", f"/orders/{theft.victim.order_id}/claim", json=body).status_code == 404
    assert theft.seen() == before


def test_a_heartbeat_changes_nothing_of_the_other_node_and_learns_nothing(theft: Theft) -> None:
    before = theft.seen()
    answer = theft.call("POST", "/beat", json=heartbeat_of(theft.victim.order_id, theft.victim.fence))
    assert [word["word"] for word in answer.json()["orders"]] == ["unknown"]
    assert theft.seen() == before


def test_a_heartbeat_in_the_name_of_the_others_agent_is_rejected(theft: Theft) -> None:
    before = theft.seen()
    body = heartbeat_of(theft.victim.order_id, theft.victim.fence) | identity(1)
    assert theft.call("POST", "/beat", json=body).status_code == 409
    assert theft.seen() == before


def test_a_result_for_the_other_is_not_taken(theft: Theft) -> None:
    before = theft.seen()
    path = f"/orders/{theft.victim.order_id}/finish"
    answer = theft.call("POST", path, json=result_of(theft.victim.fence))
    assert answer.json() == {"accepted": False, "duplicate": False}
    assert theft.seen() == before


def test_raw_output_of_the_other_is_neither_stored_nor_replaced(theft: Theft) -> None:
    before = theft.seen()
    content = b"forged"
    answer = theft.call(
        "PUT",
        f"/orders/{theft.victim.order_id}/artefacts/write.stdout",
        params={"sha256": hashlib.sha256(content).hexdigest()},
        headers={"X-Iotide-Fence": str(theft.victim.fence), "Content-Type": "application/octet-stream"},
        content=content,
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "order_not_found")
    assert theft.seen() == before


def test_a_compute_node_cannot_act_as_a_gateway(theft: Theft) -> None:
    before = theft.seen()
    job = {"run_id": theft.victim.run_id, "fence": theft.victim.fence, "job_id": "1", "state": "ended"}
    report = {
        "agent_instance": "instance-n2",
        "system": "slurm",
        "problem": None,
        "jobs": [{**job, "end": "failed", "words": "forged"}],
        "hosts": [{"name": "n1", "is_up": False, "words": "forged"}],
        "refused": [],
    }
    assert theft.call("POST", "/batch", json=report).status_code == 409
    assert theft.seen() == before


def test_a_hello_that_names_the_others_order_takes_nothing_over(theft: Theft) -> None:
    hello = {
        **identity(2),
        "previous_instance": None,
        "agent_version": "1",
        "wire_version": WIRE_VERSION,
        "sent_at": NOW.isoformat(),
        "facts": {},
        "mounts": [],
        "approved_directories": [],
        "workloads": [],
        "holds": [{"order_id": theft.victim.order_id, "fence": theft.victim.fence}],
    }
    before = theft.seen()
    assert theft.call("POST", "/hello", json=hello).status_code == 200
    after = theft.seen()
    victim = str(theft.site.node_ids[0])
    assert [row for row in after["node"] if f"'id': {victim}," in row] == [
        row for row in before["node"] if f"'id': {victim}," in row
    ]
    assert {table: after[table] for table in _TABLES if table != "node"} == {
        table: before[table] for table in _TABLES if table != "node"
    }


def test_a_rotation_without_a_request_is_refused(theft: Theft) -> None:
    answer = theft.call("POST", "/rotation", json={"agent_instance": "instance-n2"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "rotation_not_wanted")


@pytest.mark.parametrize("fence", [1, 2**62])
def test_a_forged_wake_up_and_a_replayed_one_change_nothing(theft: Theft, fence: int) -> None:
    before = theft.seen()
    body = {"fence": fence, **identity(2)}
    forged = theft.call("POST", f"/orders/{theft.own.order_id}/claim", json=body)
    assert (forged.status_code, forged.json()["error"]["code"]) == (409, "stale_fence")
    assert theft.seen() == before

    real = {"fence": theft.own.fence, **identity(2)}
    assert theft.call("POST", f"/orders/{theft.own.order_id}/claim", json=real).status_code == 200
    claimed = theft.seen()
    replayed = theft.call("POST", f"/orders/{theft.own.order_id}/claim", json=real | {"agent_instance": "a-second-one"})
    assert (replayed.status_code, replayed.json()["error"]["code"]) == (409, "order_taken")
    assert theft.seen() == claimed


def test_the_token_opens_nothing_beyond_the_agents_routes(theft: Theft, admin: Person) -> None:
    del admin
    headers = {"Authorization": f"Bearer {token(2)}"}
    for method, path in (
        ("GET", "/nodes"),
        ("POST", f"/nodes/{theft.site.node_ids[0]}/revoke"),
        ("POST", f"/nodes/{theft.site.node_ids[1]}/join-token"),
        ("GET", f"/clusters/{theft.site.cluster_id}/pending-nodes"),
    ):
        assert theft.client.request(method, f"{API}{path}", headers=headers, json={}).status_code == 401


def test_a_token_that_was_revoked_opens_no_agents_route(theft: Theft, admin: Person) -> None:
    revoked = theft.client.post(f"{API}/nodes/{theft.site.node_ids[1]}/revoke", headers=admin.headers)
    assert (revoked.status_code, revoked.json()["state"]) == (200, "revoked")
    before = theft.seen()
    statuses = {
        theft.call("POST", "/beat", json=heartbeat_of(theft.own.order_id, theft.own.fence)).status_code,
        theft.call(
            "POST", f"/orders/{theft.own.order_id}/claim", json={"fence": theft.own.fence, **identity(2)}
        ).status_code,
        theft.call("POST", f"/orders/{theft.own.order_id}/finish", json=result_of(theft.own.fence)).status_code,
        theft.call("GET", "/standing").status_code,
        theft.call("POST", "/rotation", json={"agent_instance": "instance-n2"}).status_code,
        theft.call("POST", "/rotation/confirm").status_code,
    }
    assert statuses == {401}
    assert theft.seen() == before
