"""Finding 2: each route authenticates the caller before it reads the body, and holds no connection while it arrives."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import pytest
from access.table import head_of
from factories.announced import NOW
from factories.clusters import make_cluster, make_node, node_token
from factories.people import person
from factories.routes import DeclaredRoute, declared_routes
from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from fastapi.testclient import TestClient
from sqlalchemy import text
from starlette.types import Message

from iotide_server.accounts.roles.authentication import API_TOKEN_PREFIX, NODE_TOKEN_PREFIX
from iotide_server.accounts.roles.rules import HasRole, Public
from iotide_server.accounts.sessions import service as sessions
from iotide_server.accounts.sessions.cookies import SESSION_COOKIE
from iotide_server.clusters.agents.rules import IsNode
from iotide_server.kit.bodies import LARGE_BYTES
from iotide_server.kit.db import Database
from iotide_server.kit.digests import digest
from iotide_server.main import API, create_app
from iotide_server.settings import Settings

LARGE: Final = 1024**2
FINISH: Final = f"{API}/agent/orders/1/finish"
STRANGERS: Final = {
    "nobody": {},
    "an unknown API token": {"authorization": f"Bearer {API_TOKEN_PREFIX}wrong"},
    "an unknown node token": {"authorization": f"Bearer {NODE_TOKEN_PREFIX}wrong"},
    "an unknown cookie": {"cookie": f"{SESSION_COOKIE}=wrong", "x-iotide-csrf": "1"},
    "odd bytes": {"authorization": "Bearer \x80", "cookie": "=;="},
}
Receive = Callable[[], Awaitable[Message]]


def routes_with_bodies(app: FastAPI) -> list[DeclaredRoute]:
    """Return the routes that read a body."""
    reading = {
        f"{method} {context.path}"
        for context in iter_route_contexts(app.routes)
        if isinstance(context.original_route, APIRoute) and context.original_route.body_field is not None
        for method in context.methods or ()
    }
    return [route for route in declared_routes(app) if str(route) in reading]


async def status_of(app: FastAPI, method: str, path: str, headers: Mapping[str, str], receive: Receive) -> int:
    """Return the status of the answer to a request head."""
    statuses: list[int] = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await app(head_of(method, path, f"sha256={'0' * 64}", headers), receive, send)
    return statuses[0]


async def unread() -> Message:
    raise AssertionError("the body was asked for")


def of_json(length: int) -> dict[str, str]:
    return {"content-type": "application/json", "content-length": str(length), "x-iotide-fence": "1"}


def answers_unread(app: FastAPI, headers: Mapping[str, str], routes: list[DeclaredRoute]) -> dict[str, int]:
    async def probe() -> dict[str, int]:
        return {
            str(route): await status_of(app, route.method, route.url(), {**of_json(1000), **headers}, unread)
            for route in routes
        }

    return asyncio.run(probe())


@pytest.mark.parametrize("headers", STRANGERS.values(), ids=STRANGERS)
@pytest.mark.usefixtures("client")
def test_no_route_reads_the_body_of_an_unknown_caller(shared_app: FastAPI, headers: dict[str, str]) -> None:
    asked = [route for route in routes_with_bodies(shared_app) if not isinstance(route.rules[0], Public)]
    assert len(asked) > 40
    assert {
        route: got for route, got in answers_unread(shared_app, headers, asked).items() if got not in {401, 403}
    } == {}


@pytest.mark.usefixtures("client")
def test_no_route_reads_the_body_of_a_caller_without_the_role(shared_app: FastAPI, database: Database) -> None:
    with database.transaction() as session:
        headers = person(session, "nobody-yet", now=NOW).headers
    asked = [route for route in routes_with_bodies(shared_app) if isinstance(route.rules[0], HasRole | IsNode)]
    assert len(asked) > 30
    lowered = {name.lower(): value for name, value in headers.items()}
    assert set(answers_unread(shared_app, lowered, asked).values()) == {403}


def test_a_change_by_cookie_alone_is_not_read(client: TestClient, shared_app: FastAPI, database: Database) -> None:
    with database.transaction() as session:
        url = sessions.admin_link(session, "http://127.0.0.1", NOW)
    assert client.post(f"{API}/session/link", json={"token": url.partition("token=")[2]}).is_success
    headers = {**of_json(1000), "cookie": f"{SESSION_COOKIE}={client.cookies[SESSION_COOKIE]}"}
    assert asyncio.run(status_of(shared_app, "PUT", f"{API}/session/password", headers, unread)) == 403


@pytest.mark.usefixtures("client")
def test_requests_without_a_token_are_short(shared_app: FastAPI) -> None:
    asked = [route for route in routes_with_bodies(shared_app) if isinstance(route.rules[0], Public)]
    assert sorted(map(str, asked)) == [
        f"POST {API}/agent/enroll",
        f"POST {API}/session",
        f"POST {API}/session/link",
    ]

    async def probe() -> set[int]:
        headers = of_json(64 * 1024 + 1)
        return {await status_of(shared_app, route.method, route.url(), headers, unread) for route in asked}

    assert asyncio.run(probe()) == {413}


def arriving(body: bytes, looks: Callable[[], object]) -> Receive:
    """Send a body in two parts; call `looks` before the second one, and wait after it."""
    parts = [body[: len(body) // 2], body[len(body) // 2 :]]

    async def receive() -> Message:
        if not parts:
            await asyncio.Event().wait()
        if len(parts) == 1:
            looks()
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    return receive


@pytest.mark.parametrize("size_bytes", [1000, LARGE_BYTES + 1000])
def test_no_connection_is_held_while_a_body_arrives(settings: Settings, database: Database, size_bytes: int) -> None:
    with database.transaction() as session:
        make_node(session, make_cluster(session))
    app = create_app(settings)
    held: list[int] = []
    engines = (app.state.database.engine, app.state.database.heartbeats.engine)

    def look() -> None:
        held.append(sum(engine.pool.checkedout() for engine in engines))
        held.append(app.state.one_node_each.count(digest(node_token("n1"))))

    body = json.dumps({"fence": 1, "agent_instance": ["x" * 1000] * (size_bytes // 1000)}).encode()
    headers = {**of_json(len(body)), "authorization": f"Bearer {node_token('n1')}"}
    assert asyncio.run(status_of(app, "POST", FINISH, headers, arriving(body, look))) == 422
    assert held == [0, 0]
    for engine in engines:
        engine.dispose()


@pytest.mark.usefixtures("client")
def test_a_token_that_is_revoked_while_its_body_arrives_opens_nothing(shared_app: FastAPI, database: Database) -> None:
    with database.transaction() as session:
        node_id = make_node(session, make_cluster(session)).id

    def revoke() -> None:
        with database.transaction() as session:
            session.execute(text("UPDATE node SET revoked_at = now() WHERE id = :id"), {"id": node_id})

    said = {"fence": 1, "agent_instance": "instance-1", "boot_id": "boot-12345"}
    body = json.dumps(said).encode()
    headers = {**of_json(len(body)), "authorization": f"Bearer {node_token('n1')}"}
    path = f"{API}/agent/orders/1/claim"
    assert asyncio.run(status_of(shared_app, "POST", path, headers, arriving(body, revoke))) == 401
