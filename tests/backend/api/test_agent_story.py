"""An agent's life over HTTP: enrolment, hello, and an order from its offer to its result."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from factories.agent_story import API, Story, begin_story
from factories.announced import hello
from factories.clock import MovedClock
from factories.people import Person
from fastapi.testclient import TestClient

from iotide_server.accounts.models import Role
from iotide_server.agent_api import heartbeats_first
from iotide_server.kit.db import Database


@pytest.fixture
def story(client: TestClient, database: Database, clock: MovedClock, admin: Person) -> Story:
    return begin_story(client, database, clock, admin)


def test_a_run_from_its_submission_to_its_result(story: Story) -> None:
    run_id = story.submit()
    assert story.person("GET", f"/runs/{run_id}")["waiting_because"] == "About to start"
    order_id, fence = story.offer()
    order = story.claim(order_id, fence).json()
    assert (order["run_id"], order["workload"], order["options"]["file_size_bytes"]) == (run_id, "copy", 1024**2)
    assert order["targets"][0]["path"] == "/scratch"
    assert story.heartbeat(order_id, fence, "preflight")["orders"][0]["word"] == "continue"
    assert story.heartbeat(order_id, fence, "ready")["orders"][0]["word"] == "go"
    assert story.heartbeat(order_id, fence, "running", 0.5)["beat_seconds"] == 1.0
    shown = story.person("GET", f"/runs/{run_id}")
    assert (shown["state"], shown["progress"], shown["phase"]) == ("active", 0.5, "running")
    assert shown["started_at"] is not None

    raw = b"262144 bytes copied"
    digest = hashlib.sha256(raw).hexdigest()
    artefact = {"name": "write.stderr", "sha256": digest, "size_bytes": len(raw)}
    put = story.client.put(
        f"{API}/agent/orders/{order_id}/artefacts/write.stderr",
        params={"sha256": digest},
        content=raw,
        headers={**story.node_headers, "X-Iotide-Fence": str(fence), "Content-Type": "application/octet-stream"},
    )
    assert put.status_code == 204, put.text
    step = {
        "name": "write",
        "phase": "writing",
        "argv": ["dd", "if=/dev/zero"],
        "role": "client",
        "target_id": order["targets"][0]["target_id"],
        "writer": None,
        "started_at": "2026-11-21T10:00:00Z",
        "wall_seconds": 1.0,
        "user_seconds": 0.1,
        "system_seconds": 0.2,
        "max_rss_bytes": 1024,
        "exit_status": 0,
        "signal": None,
        "before_done": "drop",
    }
    result = story.result(fence, artefacts=[artefact], steps=[step])
    assert story.agent(f"/orders/{order_id}/finish", result).json() == {"accepted": True, "duplicate": False}
    assert story.agent(f"/orders/{order_id}/finish", result).json() == {"accepted": True, "duplicate": True}

    ended = story.person("GET", f"/runs/{run_id}")
    assert (ended["state"], ended["validity"], ended["progress"]) == ("finished", "valid", 1.0)
    (attempt,) = ended["attempts"]
    assert (attempt["state"], attempt["orders"][0]["steps"]) == ("finished", [step])
    assert ended["environment"] == {"kernel.release": "6.1"}
    log = story.person("GET", f"/runs/{run_id}/events")["items"]
    assert [line["kind"] for line in log] == [
        "offered",
        *("claimed", "preflight", "ready", "running", "finished"),
    ]


@pytest.mark.parametrize(
    ("path", "refused_with"),
    [("/orders/{order_id}/claim", 409), ("/orders/999999/claim", 404), ("/orders/0/claim", 422)],
)
def test_a_wrong_claim_is_refused_with_a_code_and_a_remedy(story: Story, path: str, refused_with: int) -> None:
    story.submit()
    order_id, fence = story.offer()
    body = {"fence": fence ^ 1 or 1, "agent_instance": "instance-n1", "boot_id": hello().boot_id}
    answer = story.agent(path.format(order_id=order_id), body)
    assert answer.status_code == refused_with
    assert answer.json()["error"]["code"] in {"stale_fence", "order_not_found", "invalid_input"}


def test_a_second_agent_of_the_node_is_refused(story: Story) -> None:
    answer = story.hello(instance="another-instance")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "agent_already_running")
    heartbeat = {"agent_instance": "another-instance", "boot_id": hello().boot_id, "orders": []}
    answer = story.agent("/beat", {**heartbeat, "sent_at": story.clock().isoformat()})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "agent_superseded")


def test_a_workload_that_changed_since_ends_the_run_although_the_claim_is_refused(story: Story) -> None:
    run_id = story.submit()
    order_id, fence = story.offer()
    assert story.hello(revision=2).status_code == 200
    answer = story.claim(order_id, fence)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "schema_changed")
    assert story.person("GET", f"/runs/{run_id}")["reason_code"] == "schema_changed"


def test_only_node_tokens_may_use_the_routes_of_agents(story: Story) -> None:
    body = {"agent_instance": "instance-n1", "boot_id": hello().boot_id, "orders": []}
    answer = story.client.post(f"{API}/agent/beat", json=body, headers=story.admin.headers)
    assert answer.status_code == 403
    assert story.client.post(f"{API}/agent/beat", json=body).status_code == 401


def test_a_waiting_run_has_a_queue_reason(story: Story) -> None:
    first, second = story.submit(), story.submit()
    order_id, fence = story.offer()
    story.claim(order_id, fence)
    because = story.person("GET", f"/runs/{second}")["waiting_because"]
    assert because == f"Waiting for node n1 (run {first}, exclusive)"
    story.agent(
        f"/orders/{order_id}/finish",
        story.result(fence, outcome="declined", reason_code="no_space", reason="no space left"),
    )
    because = story.person("GET", f"/runs/{first}")["waiting_because"]
    assert because == "Next attempt not before 2026-11-21 10:00:05 UTC (last attempt: no space left)"
    assert story.person("GET", f"/runs/{second}")["waiting_because"] == "1 run ahead"


def test_a_waiting_run_has_an_expected_start_or_a_reason_why_it_is_unknown(story: Story) -> None:
    first, second, third = (story.submit(time_limit_seconds=600) for _ in range(3))
    order_id, fence = story.offer()
    story.claim(order_id, fence)
    detail = story.person("GET", f"/runs/{second}")
    assert (detail["expected_start_at"], detail["expected_start_unknown_because"]) == ("2026-11-21T10:10:00Z", None)
    assert story.person("GET", f"/runs/{third}")["expected_start_at"] == "2026-11-21T10:20:00Z"
    assert story.person("GET", f"/runs/{first}")["expected_start_at"] is None
    story.clock.move(31)
    detail = story.person("GET", f"/runs/{second}")
    assert (detail["expected_start_at"], detail["expected_start_unknown_because"]) == (None, "node n1: silent")


def test_a_run_is_cancelled_and_retried_over_http(story: Story) -> None:
    run_id = story.submit()
    assert story.person("POST", f"/runs/{run_id}/cancel")["state"] == "cancelled"
    assert story.person("POST", f"/runs/{run_id}/cancel")["state"] == "cancelled"
    assert story.person("POST", f"/runs/{run_id}/retry")["state"] == "waiting"
    answer = story.client.post(f"{API}/runs/{run_id}/retry", headers=story.admin.headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "run_not_retriable")


def test_runs_are_filtered(story: Story, make_person: Callable[..., Person]) -> None:
    done, waiting = story.submit(), story.submit(name="later")
    order_id, fence = story.offer()
    story.claim(order_id, fence)
    story.agent(f"/orders/{order_id}/finish", story.result(fence))
    found = story.person("GET", f"/runs/{waiting}")
    node = story.person("GET", "/nodes")["items"][0]["id"]

    def ids(query: str) -> list[int]:
        return [run["id"] for run in story.person("GET", f"/runs?{query}")["items"]]

    assert ids("") == [waiting, done]
    assert ids("state=finished") == [done]
    assert ids(f"campaign_id={found['campaign_id']}") == [waiting]
    assert ids(f"node_id={node}&workload=copy") == [waiting, done]
    assert ids(f"node_id={node + 1}") == ids("workload=fio") == ids("target_id=999") == ids("series_id=1") == []
    page = story.person("GET", "/runs?limit=1")
    assert ids(f"limit=1&cursor={page['next_cursor']}") == [done]
    other = story.person("POST", "/clusters", json={"name": "other"})
    with_nothing = make_person("eve", Role.VIEWER, other["id"]).headers
    assert story.client.get(f"{API}/runs", headers=with_nothing).json()["items"] == []


def test_a_heartbeat_with_an_order_is_answered_before_the_routes_and_like_by_them(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.hello()
    story.submit()
    order_id, fence = story.offer()
    story.claim(order_id, fence)
    answered: list[bool] = []
    taken = heartbeats_first._taken_alone

    def noted(*given: Any) -> Any:  # noqa: ANN401 - as it is
        answer = taken(*given)
        answered.append(answer is not None)
        return answer

    monkeypatch.setattr(heartbeats_first, "_taken_alone", noted)
    before_the_routes = story.heartbeat(order_id, fence, "preflight")
    story.node_headers["Content-Type"] = "application/json; charset=utf-8"
    assert story.heartbeat(order_id, fence, "preflight") == before_the_routes
    assert answered == [True]
    story.node_headers["Content-Type"] = "application/json"
    story.node_headers["Authorization"] = "Bearer ion_nobody"
    assert story.agent("/beat", {"orders": []}).status_code == 401
    assert answered == [True], "unauthenticated bodies are not even read there"
