"""Nodes and people are kept apart: what one may ask, the other may not."""

import json
import re
from collections.abc import Iterator

import httpx
import pytest
from rig import Rig

PUBLIC = {
    ("get", "/health"),
    ("get", "/ready"),
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


def ask(rig: Rig, method: str, path: str, token: str | None) -> int:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with httpx.Client(base_url=f"{rig.stack.url}/api/v1", headers=headers) as client:
        body: dict[str, object] | None = {} if method in {"post", "put", "patch"} else None
        return client.request(method, path, json=body).status_code


def test_a_node_token_opens_no_route_of_a_user(rig: Rig, node_token: str) -> None:
    answers = {
        (method, path): ask(rig, method, path, node_token)
        for method, path in routes(rig)
        if not path.startswith("/agent/")
    }
    assert len(answers) > 30
    assert set(answers.values()) <= {401, 403}, answers


def test_a_user_token_opens_no_route_of_a_node(rig: Rig) -> None:
    answers = {
        (method, path): ask(rig, method, path, rig.stack.token)
        for method, path in routes(rig)
        if path.startswith("/agent/")
    }
    assert len(answers) >= 5
    assert set(answers.values()) <= {401, 403}, answers


@pytest.mark.parametrize("token", [None, "iot_wrong", "ion_wrong", "nonsense"])
def test_nobody_gets_in_with_a_wrong_token(rig: Rig, token: str | None) -> None:
    answers = {(method, path): ask(rig, method, path, token) for method, path in routes(rig)}
    assert set(answers.values()) == {401}, answers


def test_a_node_cannot_claim_the_order_of_another(rig: Rig, node_token: str) -> None:
    claim = {"fence": 1, "agent_instance": "another-instance", "boot_id": "another-boot"}
    headers = {"Authorization": f"Bearer {node_token}"}
    response = httpx.post(f"{rig.stack.url}/api/v1/agent/orders/999999/claim", json=claim, headers=headers)
    assert response.status_code in {404, 409}
