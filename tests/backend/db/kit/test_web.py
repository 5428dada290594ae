from contextlib import asynccontextmanager
from types import SimpleNamespace

import anyio
from anyio.lowlevel import checkpoint
from sqlalchemy import QueuePool, text
from starlette.requests import Request

from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.web import transaction


def test_a_request_that_is_given_up_gives_its_connection_back(database_url: str) -> None:
    engine = open_engine(database_url, pool_size=1)
    app = SimpleNamespace(state=SimpleNamespace(database=Database(engine)))
    request = Request({"type": "http", "app": app})

    reported: list[BaseException] = []  # with the frames that it came through, which are therefore not collected

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
