"""The change feed over a real socket of the ASGI application, with a real NOTIFY."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from backend.fixtures import settings_of
from factories.announced import NOW
from factories.clusters import make_cluster
from factories.people import Person
from fastapi import FastAPI
from fastapi.testclient import TestClient
from httpx2 import ASGITransport, AsyncClient
from sqlalchemy import event, text
from starlette.types import Message

from iotide_server.accounts.models import Role
from iotide_server.change_feed import feed, routes, service
from iotide_server.change_feed.models import Change
from iotide_server.kit.db import Database
from iotide_server.main import create_app

WAIT_SECONDS = 60.0
"""Ends what hangs. A busy database may not respond for ten seconds."""


class Stream:
    """An open stream, read event by event."""

    def __init__(self) -> None:
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self._text = ""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            assert message["status"] == 200
        else:
            self._pieces.put_nowait(message.get("body", b""))

    async def event(self) -> dict[str, str]:
        """Return the next event with its fields; skip comments."""
        while True:
            while "\n\n" not in self._text:
                self._text += (await asyncio.wait_for(self._pieces.get(), WAIT_SECONDS)).decode()
            block, _, self._text = self._text.partition("\n\n")
            fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
            if fields:
                return fields

    async def change(self) -> tuple[str, int]:
        event = await self.event()
        assert event["event"] == "change", event
        data = json.loads(event["data"])
        return data["kind"], data["id"]


@asynccontextmanager
async def opened(
    app: FastAPI, person: Person, query: str = "", last_event_id: str | None = None
) -> AsyncIterator[Stream]:
    headers = [(b"authorization", person.headers["Authorization"].encode())]
    if last_event_id is not None:
        headers.append((b"last-event-id", last_event_id.encode()))
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": "/api/v1/events",
        "raw_path": b"/api/v1/events",
        "root_path": "",
        "scheme": "http",
        "query_string": query.encode(),
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    left = asyncio.Event()
    requested = False

    async def receive() -> Message:
        nonlocal requested
        if not requested:
            requested = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await left.wait()
        return {"type": "http.disconnect"}

    stream = Stream()
    serving = asyncio.create_task(app(scope, receive, stream.send))
    try:
        yield stream
    finally:
        left.set()
        await asyncio.wait_for(serving, WAIT_SECONDS)


@pytest.fixture(scope="module")
def listening_app(migrated_url: str) -> FastAPI:
    """Share one application on its own connections: each new one would build all routes again."""
    return create_app(settings_of(migrated_url))


@pytest.fixture
def app(listening_app: FastAPI, database_url: str) -> FastAPI:
    del database_url  # emptied after the test
    return listening_app


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[None]:
    app.state.feed.is_listening = asyncio.Event()  # of this event loop; the previous one stays set forever
    async with app.router.lifespan_context(app):
        await asyncio.wait_for(app.state.feed.is_listening.wait(), WAIT_SECONDS)
        yield


def publish(database: Database, *updates: tuple[str, int, int | None]) -> None:
    with database.transaction() as session:
        service.publish_all(session, updates)


def test_a_change_reaches_an_open_stream(app: FastAPI, database: Database, admin: Person) -> None:
    async def listen() -> list[Any]:
        async with running(app), opened(app, admin) as stream:
            beginning = await stream.event()
            await asyncio.to_thread(publish, database, ("run", 7, 1))
            return [beginning, await stream.event()]

    beginning, event = asyncio.run(listen())
    assert beginning["id"] == "0"
    assert event["event"] == "change"
    data = json.loads(event["data"])
    assert data == {"kind": "run", "id": 7, "version": int(event["id"]), "cluster_id": 1}


def test_a_stream_without_topics_reports_every_kind_of_row(app: FastAPI, database: Database, admin: Person) -> None:
    kinds = ["campaign", "run", "series", "node", "target", "cluster"]

    async def listen() -> list[tuple[str, int]]:
        async with running(app), opened(app, admin) as stream:
            await stream.event()
            await asyncio.to_thread(publish, database, *((kind, 7, None) for kind in kinds))
            return [await stream.change() for _ in kinds]

    assert asyncio.run(listen()) == [(kind, 7) for kind in kinds]


def test_a_rolled_back_change_is_not_published(app: FastAPI, database: Database, admin: Person) -> None:
    def fail() -> None:
        with database.transaction() as session:
            service.publish(session, "run", 1, None)
            raise LookupError

    async def listen() -> tuple[str, int]:
        async with running(app), opened(app, admin) as stream:
            await stream.event()
            with pytest.raises(LookupError):
                await asyncio.to_thread(fail)
            await asyncio.to_thread(publish, database, ("run", 2, None))
            return await stream.change()

    assert asyncio.run(listen()) == ("run", 2)


def test_a_stream_has_only_requested_changes_that_the_caller_may_see(
    app: FastAPI, database: Database, make_person: Callable[..., Person]
) -> None:
    with database.transaction() as session:
        here, there = make_cluster(session), make_cluster(session, "lake")
    viewer = make_person("grace", Role.VIEWER, here.id)
    updates = [("run", 1, there.id), ("node", 2, here.id), ("run", 3, here.id), ("campaign", 4, None)]

    async def listen() -> list[tuple[str, int]]:
        async with running(app), opened(app, viewer, "topics=run,campaign") as stream:
            await stream.event()
            await asyncio.to_thread(publish, database, *updates)
            return [await stream.change(), await stream.change()]

    assert asyncio.run(listen()) == [("run", 3), ("campaign", 4)]


def test_a_stream_goes_on_after_the_last_event(app: FastAPI, database: Database, admin: Person) -> None:
    async def listen() -> list[tuple[str, int]]:
        async with running(app):
            async with opened(app, admin) as stream:
                await stream.event()
                await asyncio.to_thread(publish, database, ("run", 1, None))
                last = (await stream.event())["id"]
            await asyncio.to_thread(publish, database, ("run", 2, None))
            async with opened(app, admin, last_event_id=last) as stream:
                await stream.event()
                received = [await stream.change()]
                await asyncio.to_thread(publish, database, ("run", 3, None))
                return [*received, await stream.change()]

    assert asyncio.run(listen()) == [("run", 2), ("run", 3)]


@pytest.mark.parametrize("last_event_id", ["1", "x", "99999999999999999999"])
def test_a_stream_that_cannot_continue_sends_reset_and_its_position(
    app: FastAPI, database: Database, admin: Person, last_event_id: str
) -> None:
    with database.transaction() as session:
        change = Change(at=NOW, kind="run", subject_id=1, cluster_id=None)
        session.add(change)
        session.flush()
        latest_id = change.id + 1
    with database.transaction() as session:
        session.delete(session.get_one(Change, change.id))
        session.add(Change(id=latest_id, at=NOW, kind="run", subject_id=2, cluster_id=None))
    gone = str(change.id) if last_event_id == "1" else last_event_id

    async def listen() -> dict[str, str]:
        async with running(app), opened(app, admin, last_event_id=gone) as stream:
            await stream.event()
            return await stream.event()

    assert asyncio.run(listen()) == {"event": "reset", "data": "{}", "id": str(latest_id)}


def test_a_stream_reports_a_lost_connection_to_the_database(app: FastAPI, database: Database, admin: Person) -> None:
    def cut() -> None:
        with database.transaction() as session:
            session.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE starts_with(query, 'LISTEN') AND datname = current_database()"
                )
            )

    async def listen() -> list[Any]:
        async with running(app), opened(app, admin) as stream:
            await stream.event()
            await asyncio.to_thread(cut)
            lost = await stream.event()
            await asyncio.to_thread(publish, database, ("run", 1, None))
            return [lost["event"], await stream.change()]

    assert asyncio.run(listen()) == ["reset", ("run", 1)]


def test_a_stream_ends_so_that_its_reader_proves_again_who_it_is(
    client: TestClient, admin: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "STREAM_SECONDS", 0.05)
    response = client.get("/api/v1/events", headers=admin.headers)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-cache"
    assert "content-encoding" not in response.headers
    assert "retry: 500" in response.text


def test_streams_beyond_the_limit_of_a_person_are_rejected_without_a_query(
    app: FastAPI, make_person: Callable[..., Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "MOST_STREAMS", 2)
    greedy, other = make_person("grace", Role.VIEWER), make_person("ada", Role.VIEWER)
    transactions: list[object] = []

    async def listen() -> list[int]:
        transport = ASGITransport(app)
        async with running(app), AsyncClient(transport=transport, base_url="http://test") as client:
            async with opened(app, greedy) as first, opened(app, greedy) as second, opened(app, other) as third:
                for stream in (first, second, third):
                    await stream.event()
                event.listen(app.state.database.engine, "begin", transactions.append)
                refused = await client.get("/api/v1/events", headers=greedy.headers)
                assert transactions == []
                assert refused.json()["error"]["code"] == "too_many_streams"
            async with opened(app, greedy) as again:
                await again.event()
            return [refused.status_code]

    assert asyncio.run(listen()) == [429]


def test_an_unknown_topic_is_refused_before_the_stream_opens(client: TestClient, admin: Person) -> None:
    response = client.get("/api/v1/events?topics=run,nodes", headers=admin.headers)
    assert response.status_code == 422
    assert response.json()["error"]["remedy"] == "did you mean node?"
