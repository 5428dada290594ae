"""Nodes and people are kept apart: what one may ask, the other may not."""

import json
import re
from collections.abc import Iterable, Iterator

import httpx
import pytest
from rig import Rig

PUBLIC = {
    ("get", "/health"),
    ("get", "/ready"),
    ("get", "/alive"),
    ("get", "/session/ways"),
    ("get", "/session/provider"),
    ("get", "/session/provider/callback"),
    ("post", "/session/link"),
    ("post", "/session"),
    ("get", "/session"),
    ("delete", "/session"),
    ("post", "/agent/enroll"),
}


def routes(rig: Rig) -> Iterator[tuple[str, str]]:
    """Method and path of every route that needs somebody, parameters filled with 1."""
    document = rig.stack.api.get(f"{rig.stack.url}/openapi.json")
    if document.is_error:
        document = rig.stack.api.get("/openapi.json")
    for path, methods in document.json()["paths"].items():
        short = path.removeprefix("/api/v1")
        for method in methods:
            if (method, short) not in PUBLIC:
                yield method, re.sub(r"\{[^}]+\}", "1", short)


@pytest.fixture
def node_token(rig: Rig) -> str:
    token: str = json.loads((rig.agent.directory / "state/identity.json").read_text())["node_token"]
    return token


def answers(rig: Rig, token: str | None, asked: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """The status with which each route answers the holder of a token."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with httpx.Client(base_url=f"{rig.stack.url}/api/v1", headers=headers) as client:
        return {(method, path): client.request(method, path, json={}).status_code for method, path in asked}


def test_a_node_token_opens_no_route_of_a_user(rig: Rig, node_token: str) -> None:
    of_users = [(method, path) for method, path in routes(rig) if not path.startswith("/agent/")]
    assert len(of_users) > 30
    assert set(answers(rig, node_token, of_users).values()) <= {401, 403}


def test_a_user_token_opens_no_route_of_a_node(rig: Rig) -> None:
    of_nodes = [(method, path) for method, path in routes(rig) if path.startswith("/agent/")]
    assert len(of_nodes) >= 5
    assert set(answers(rig, rig.stack.token, of_nodes).values()) <= {401, 403}


@pytest.mark.parametrize("token", [None, "iot_wrong", "ion_wrong", "nonsense"])
def test_nobody_gets_in_with_a_wrong_token(rig: Rig, token: str | None) -> None:
    let_in = {route for route, status in answers(rig, token, routes(rig)).items() if status not in {401, 403}}
    assert let_in == set()


def test_a_node_cannot_claim_the_order_of_another(rig: Rig, node_token: str) -> None:
    claim = {"fence": 1, "agent_instance": "another-instance", "boot_id": "another-boot"}
    headers = {"Authorization": f"Bearer {node_token}"}
    response = httpx.post(f"{rig.stack.url}/api/v1/agent/orders/999999/claim", json=claim, headers=headers)
    assert response.status_code in {404, 409}
