"""The route that Prometheus scrapes: access, formats, and the counters of the process."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from bring_up import free_port
from factories.announced import NOW, hello
from factories.clusters import make_cluster, make_node, node_token
from factories.metrics import OPENMETRICS, Scraped
from factories.people import Person
from fastapi.testclient import TestClient
from prometheus_client import CollectorRegistry, Counter
from structlog.testing import capture_logs

from iotide_server.accounts.models import Role
from iotide_server.kit.db import Database
from iotide_server.monitoring.exposition import serve_metrics

NODE = {"Authorization": f"Bearer {node_token('n1')}"}


@pytest.fixture
def node_id(database: Database) -> int:
    with database.transaction() as session:
        return make_node(session, make_cluster(session)).id


@pytest.fixture
def scrape(client: TestClient, admin: Person) -> Callable[..., Scraped]:
    def read(*, path: str = "/metrics", accept: str = "text/plain") -> Scraped:
        response = client.get(path, headers={**admin.headers, "Accept": accept})
        assert response.status_code == 200
        assert response.headers["content-type"].startswith(accept.partition(";")[0])
        assert response.headers["cache-control"] == "no-store"
        return Scraped(response.text, response.headers["content-type"])

    return read


def heartbeat() -> dict[str, Any]:
    said = hello()
    return {
        "agent_instance": said.agent_instance,
        "boot_id": said.boot_id,
        "sent_at": NOW.isoformat(),
        "orders": [],
        "spool_bytes": 17,
    }


@pytest.mark.parametrize("accept", ["text/plain", OPENMETRICS])
def test_both_forms_are_what_prometheus_parses(
    client: TestClient, scrape: Callable[..., Scraped], accept: str, node_id: int
) -> None:
    assert client.post("/api/v1/agent/beat", json=heartbeat(), headers=NODE).status_code == 200, node_id
    scraped = scrape(accept=accept)
    assert scraped.value("iotide_nodes", cluster="blade", state="online") == 1
    assert scraped.value("iotide_spool_bytes", cluster="blade") == 17
    assert scraped.labels("iotide_build_info")["part"] == "api"
    assert scraped.by("state", "iotide_database_connections").keys() == {"in_use", "idle"}


def test_only_a_viewer_of_all_clusters_may_read(
    client: TestClient, database: Database, make_person: Callable[..., Person]
) -> None:
    with database.transaction() as session:
        cluster_id = make_cluster(session).id
    assert client.get("/metrics").status_code == 401
    here = make_person("here", Role.ADMIN, cluster_id)
    assert client.get("/metrics", headers=here.headers).json()["error"]["code"] == "not_allowed"
    everywhere = make_person("prometheus", Role.VIEWER)
    assert client.get("/metrics", headers=everywhere.headers).status_code == 200


def test_nodes_have_series_of_their_own_only_when_asked_for(
    client: TestClient, scrape: Callable[..., Scraped], node_id: int
) -> None:
    del node_id
    client.post("/api/v1/agent/beat", json=heartbeat(), headers=NODE)
    assert "iotide_node_spool_bytes" not in scrape().names
    assert scrape(path="/metrics?nodes=true").value("iotide_node_spool_bytes", cluster="blade", node="n1") == 17


def test_requests_are_counted_by_template_and_what_is_no_route_under_one_name(
    client: TestClient, scrape: Callable[..., Scraped], admin: Person
) -> None:
    def counted(route: str, status: str) -> float:
        return scraped.by("status", "iotide_http_requests_total", method="GET", route=route).get(status, 0)

    scraped = scrape()
    before = counted("/api/v1/runs/{run_id}", "404"), counted("other", "404")
    for number in (7, 8):
        client.get(f"/api/v1/runs/{number}", headers=admin.headers)
        client.get(f"/api/v1/guess-{number}", headers=admin.headers)
    scraped = scrape()
    assert (counted("/api/v1/runs/{run_id}", "404"), counted("other", "404")) == (before[0] + 2, before[1] + 2)
    assert counted("/metrics", "200") >= 1
    assert scraped.value("iotide_http_request_duration_seconds_count", method="GET", route="/api/v1/runs/{run_id}") >= 2
    assert not [name for family in scraped.families for name in family.name if "guess" in name]


def test_heartbeats_count_for_their_route_even_if_answered_before_it(
    client: TestClient, scrape: Callable[..., Scraped], node_id: int
) -> None:
    del node_id

    def counted() -> float:
        found = scrape().by("status", "iotide_http_requests_total", method="POST", route="/api/v1/agent/beat")
        return found.get("200", 0)

    before = counted()
    for _ in range(3):
        client.post("/api/v1/agent/beat", json=heartbeat(), headers=NODE)
    assert counted() == before + 3


def test_heartbeats_and_claims_are_counted_when_they_are_committed(
    client: TestClient, scrape: Callable[..., Scraped], node_id: int
) -> None:
    del node_id
    before = scrape()
    client.post("/api/v1/agent/beat", json=heartbeat(), headers=NODE)
    client.post("/api/v1/agent/beat", json=heartbeat() | {"agent_instance": "another-one"}, headers=NODE)
    said = hello()
    claim = {"fence": 1, "agent_instance": said.agent_instance, "boot_id": said.boot_id}
    assert client.post("/api/v1/agent/orders/7/claim", json=claim, headers=NODE).status_code == 404
    after = scrape()
    assert after.value("iotide_heartbeats_total") == before.value("iotide_heartbeats_total") + 1
    refused = {"outcome": "refused"}
    assert after.value("iotide_claims_total", **refused) == before.value("iotide_claims_total", **refused) + 1


@pytest.fixture
def registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    Counter("iotide_heartbeats", "Beats.", registry=registry).inc(3)
    return registry


def test_a_part_answers_on_a_port_of_its_own(registry: CollectorRegistry) -> None:
    port = free_port()
    serve_metrics(registry, ("127.0.0.1", port - 2), 2)
    answer = httpx2.get(f"http://127.0.0.1:{port}/metrics", headers={"Accept": OPENMETRICS}, trust_env=False)
    assert Scraped(answer.text, answer.headers["content-type"]).value("iotide_heartbeats_total") == 3


def test_a_taken_port_is_reported_and_ends_nothing(registry: CollectorRegistry) -> None:
    port = free_port()
    serve_metrics(registry, ("127.0.0.1", port), 0)
    with capture_logs() as logs:
        serve_metrics(registry, ("127.0.0.1", port), 0)
    assert [(line["event"], line["port"]) for line in logs] == [("metrics_not_served", port)]
