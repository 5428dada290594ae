"""Two clusters on one server, each with a node that announces iotide's own workloads and others of the test."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from factories.announced import NOW, mount
from factories.clusters import node_token
from factories.people import Person
from factories.ready_cluster import ReadyCluster, announced
from fastapi.testclient import TestClient

from iotide_server.kit.db import Database
from iotide_server.kit.digests import digest
from iotide_server.main import API
from iotide_wire.catalogue import WorkloadAnnouncement


@dataclass
class TwoClusters:
    """`alpha`, with a taken-over node, and `beta`; nodes have the names of their clusters."""

    client: TestClient
    database: Database
    admin: Person
    clusters: dict[str, ReadyCluster] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with self.database.transaction() as session:
            for name in ("alpha", "beta"):
                made = ReadyCluster(session, NOW, name=name)
                made.nodes[0].token_sha256 = digest(node_token(name))
                self.clusters[name] = made

    def say(self, name: str, *others: WorkloadAnnouncement) -> dict[str, dict[str, Any]]:
        """Announce these workloads and iotide's own with other names from a cluster's node.

        Returns:
            The workloads on the node's page, by name.
        """
        answer = self.greet(name, *others)
        assert answer.status_code == 200, answer.text
        node_id = self.clusters[name].nodes[0].id
        return by_name(self.get(f"/nodes/{node_id}")["workloads"])

    def greet(self, name: str, *others: WorkloadAnnouncement) -> Any:  # noqa: ANN401 - a response
        """Send the hello of `say`; return any answer."""
        names = {one.name for one in others}
        own = [one for one in announced(()) if one.name not in names]
        said = (
            self.clusters[name]
            .hello("n1")
            .model_copy(update={"workloads": (*own, *others), "mounts": (mount("/scratch"),)})
        )
        content = said.model_dump_json()
        headers = {"Authorization": f"Bearer {node_token(name)}", "Content-Type": "application/json"}
        return self.client.post(f"{API}/agent/hello", content=content, headers=headers)

    def get(self, path: str) -> Any:  # noqa: ANN401 - JSON
        answer = self.client.get(f"{API}{path}", headers=self.admin.headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def catalogue(self, name: str) -> dict[str, dict[str, Any]]:
        return by_name(self.get(f"/workloads?cluster_id={self.clusters[name].cluster.id}&limit=500")["items"])

    def preview(self, name: str, workload: str, **options: object) -> Any:  # noqa: ANN401 - a response
        plan = self.clusters[name].plan(workloads=[{"workload": workload, "options": options}])
        return self.client.post(f"{API}/campaigns/preview", json=plan, headers=self.admin.headers)


def by_name(items: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {item["name"]: item for item in items}
