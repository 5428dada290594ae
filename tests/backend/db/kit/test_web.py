from contextlib import asynccontextmanager
from threading import Event, Semaphore
from types import SimpleNamespace

import anyio
import httpx2
from anyio.lowlevel import checkpoint
from fastapi import FastAPI
from sqlalchemy import QueuePool, text
from starlette.requests import Request

from iotide_server.kit.db import CONNECTIONS, Database, open_engine
from iotide_server.kit.web import ONE_AT_A_TIME, NodeTx, Tx, transaction


def test_a_request_that_is_given_up_gives_its_connection_back(database_url: str) -> None:
    engine = open_engine(database_url, pool_size=1)
    app = SimpleNamespace(state=SimpleNamespace(database=Database(engine)))
    request = Request({"type": "http", "app": app})

    reported: list[BaseException] = []  # with the frames of its traceback, which are therefore not collected

    async def give_up() -> None:
        with anyio.CancelScope() as scope:
            try:
                async with asynccontextmanager(transaction)(request) as session:
                    session.execute(text("SELECT 1"))
                    scope.cancel()
                    await checkpoint()
            except BaseException as error:
                reported.append(error)
                raise

    anyio.run(give_up)
    assert reported
    assert isinstance(engine.pool, QueuePool)
    assert engine.pool.checkedout() == 0
    engine.dispose()


def client_of(app: FastAPI) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://x")


def test_pages_leave_a_connection_to_nodes(database_url: str) -> None:
    engine = open_engine(database_url)
    app = FastAPI()
    app.state.database = Database(engine)
    computing, may_end = Semaphore(0), Event()

    @app.get("/page")
    def page(session: Tx) -> int:
        session.execute(text("SELECT 1"))
        computing.release()
        may_end.wait()
        return 1

    @app.get("/node")
    def node(session: NodeTx) -> int:
        return int(session.scalars(text("SELECT 2")).one())

    async def ask() -> None:
        async with client_of(app) as client, anyio.create_task_group() as asking:
            for _ in range(CONNECTIONS + 1):
                asking.start_soon(client.get, "/page")
            for _ in range(CONNECTIONS - 1):
                await anyio.to_thread.run_sync(computing.acquire)
            assert (await client.get("/node")).json() == 2
            may_end.set()

    anyio.run(ask)
    engine.dispose()


def test_the_largest_responses_are_computed_one_at_a_time_while_other_pages_continue(database_url: str) -> None:
    engine = open_engine(database_url)
    app = FastAPI()
    app.state.database = Database(engine)
    computing, may_end = Semaphore(0), Event()
    begun: list[str] = []

    @app.get("/large/{name}", dependencies=[ONE_AT_A_TIME])
    @app.get("/large-too/{name}", dependencies=[ONE_AT_A_TIME])
    def large(session: Tx, name: str) -> int:
        begun.append(name)
        session.execute(text("SELECT 1"))
        computing.release()
        may_end.wait()
        return 1

    @app.get("/page")
    def page(session: Tx) -> int:
        return int(session.scalars(text("SELECT 2")).one())

    async def ask() -> None:
        async with client_of(app) as client, anyio.create_task_group() as asking:
            for path in ("/large/a", "/large-too/b", "/large/c"):
                asking.start_soon(client.get, path)
            await anyio.to_thread.run_sync(computing.acquire)
            assert [(await client.get("/page")).json() for _ in range(3)] == [2, 2, 2]
            assert len(begun) == 1
            may_end.set()

    anyio.run(ask)
    assert sorted(begun) == ["a", "b", "c"]
    engine.dispose()
