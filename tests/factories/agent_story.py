"""A cluster with one enrolled node, and what its agent and an admin send."""

from dataclasses import dataclass
from typing import Any

from factories.announced import hello, workload
from factories.clock import MovedClock
from factories.people import Person
from fastapi.testclient import TestClient
from httpx2 import Response

from iotide_server.kit.db import Database
from iotide_server.scheduling.queues import NodeQueues
from iotide_server.scheduling.starting import start_runs

API = "/api/v1"


@dataclass
class Story:
    """A cluster with one enrolled node, its target and an operator."""

    client: TestClient
    database: Database
    clock: MovedClock
    admin: Person
    node_headers: dict[str, str]

    def person(self, method: str, path: str, **more: Any) -> Any:  # noqa: ANN401 - any JSON
        response = self.client.request(method, f"{API}{path}", headers=self.admin.headers, **more)
        assert response.is_success, response.text
        return response.json() if response.content else None

    def agent(self, path: str, body: dict[str, Any]) -> Response:
        return self.client.post(f"{API}/agent{path}", json=body, headers=self.node_headers)

    def submit(self, **changes: object) -> int:
        plan = {
            "name": "nightly",
            "cluster": "blade",
            "nodes": ["n1"],
            "targets": ["scratch"],
            "workloads": [{"workload": "copy", "options": {"file_size_bytes": "1 MiB"}}],
            "repeats": 1,
        }
        campaign = self.person("POST", "/campaigns", json={**plan, **changes})
        return int(self.person("GET", f"/runs?campaign_id={campaign['id']}")["items"][0]["id"])

    def hello(self, *, instance: str = "instance-n1", revision: int = 1) -> Response:
        said = hello(instance).model_copy(update={"workloads": (workload("copy", revision=revision),)})
        return self.agent("/hello", said.model_dump(mode="json"))

    def offer(self) -> tuple[int, int]:
        ((offer,),) = start_runs(self.database, NodeQueues(), self.clock())
        return offer.order_id, offer.fence

    def claim(self, order_id: int, fence: int) -> Response:
        body = {"fence": fence, "agent_instance": "instance-n1", "boot_id": hello().boot_id}
        return self.agent(f"/orders/{order_id}/claim", body)

    def heartbeat(self, order_id: int, fence: int, state: str, progress: float | None = None) -> dict[str, Any]:
        order = {"order_id": order_id, "fence": fence, "state": state, "progress": progress, "phase": state}
        started = self.clock().isoformat() if state == "running" else None
        body = {
            "agent_instance": "instance-n1",
            "boot_id": hello().boot_id,
            "sent_at": self.clock().isoformat(),
            "orders": [{**order, "started_at": started}],
        }
        reply: dict[str, Any] = self.agent("/beat", body).json()
        return reply

    def result(self, fence: int, **changes: object) -> dict[str, Any]:
        return {
            "fence": fence,
            "agent_instance": "instance-n1",
            "digest": "0" * 64,
            "outcome": "finished",
            "reason_code": None,
            "reason": None,
            "started_at": self.clock().isoformat(),
            "ended_at": self.clock().isoformat(),
            "steps": [],
            "samples": [],
            "flags": [],
            "environment": {"kernel.release": "6.1"},
            "artefacts": [],
            "curves": [],
            **changes,
        }


def begin_story(client: TestClient, database: Database, clock: MovedClock, admin: Person) -> Story:
    begun = Story(client, database, clock, admin, {})
    cluster = begun.person("POST", "/clusters", json={"name": "blade"})
    token = begun.person("POST", f"/clusters/{cluster['id']}/join-tokens", json={"uses": 1, "expires_in_seconds": 60})[
        "token"
    ]
    identity = client.post(
        f"{API}/agent/enroll",
        json={"join_token": token, "node_name": "n1", "role": "compute", "agent_version": "1", "wire_version": 1},
    ).json()
    begun.node_headers = {"Authorization": f"Bearer {identity['node_token']}"}
    assert begun.hello().status_code == 200
    target = {"cluster_id": cluster["id"], "name": "scratch", "path": "/scratch", "scope": "node"}
    begun.person("POST", "/targets", json={**target, "nodes": [identity["node_id"]], "reserve_bytes": None})
    return begun
