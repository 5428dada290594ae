"""Separation of nodes and users: neither may use the other's routes."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import httpx2
import psycopg
import pytest
from local_stack import LocalStack
from rig import FIO_SMALL, Rig, held_order

from iotide_agent.runner.processes import boot_id

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
    """Return method and path of every route that needs a principal, with parameters set to 1."""
    document = rig.stack.api.get(f"{rig.stack.url}/openapi.json")
    if document.is_error:
        document = rig.stack.api.get("/openapi.json")
    for path, methods in document.json()["paths"].items():
        short = path.removeprefix("/api/v1")
        for method in methods:
            if (method, short) not in PUBLIC:
                yield method, re.sub(r"\{[^}]+\}", "1", short)


def token_of(home: Path) -> str:
    token: str = json.loads((home / "state/identity.json").read_text())["node_token"]
    return token


def bearer_of(home: Path) -> dict[str, str]:
    return {"Authorization": f"Bearer {token_of(home)}"}


@pytest.fixture
def node_token(rig: Rig) -> str:
    return token_of(rig.agent.directory)


def answers(rig: Rig, token: str | None, asked: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Return the status with which each route answers the holder of a token."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with httpx2.Client(base_url=f"{rig.stack.url}/api/v1", headers=headers) as client:
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
def test_a_wrong_token_is_rejected(rig: Rig, token: str | None) -> None:
    admitted = {route for route, status in answers(rig, token, routes(rig)).items() if status not in {401, 403}}
    assert admitted == set()


def test_a_node_cannot_claim_the_order_of_another(rig: Rig, stack: LocalStack) -> None:
    """The attacker knows all that the other node sends, except its token."""
    thief = stack.enrol(stack.add_cluster("thieves"), "thief", [stack.directory / "targets" / "thieves"])
    run_id = rig.submit_one("fio", {**FIO_SMALL, "runtime_seconds": 5})
    rig.wait_running(run_id)
    order_id, fence = held_order(rig)
    with psycopg.connect(stack.settings["IOTIDE_DATABASE_URL"]) as database:
        instance = database.execute("SELECT agent_instance FROM node WHERE id = %s", (rig.agent.node_id,)).fetchone()
    assert instance
    claim = {"fence": fence, "agent_instance": instance[0], "boot_id": boot_id()}
    own, stolen = (
        httpx2.post(f"{stack.url}/api/v1/agent/orders/{order_id}/claim", json=claim, headers=bearer_of(home))
        for home in (rig.agent.directory, thief)
    )
    assert (own.status_code, own.json()["order_id"]) == (200, order_id), "so there is something to steal"
    assert (stolen.status_code, stolen.json()["error"]["code"]) == (404, "order_not_found")
    assert rig.wait_ended(run_id)["attempts_made"] == 1
