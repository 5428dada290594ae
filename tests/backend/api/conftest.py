from collections.abc import Callable, Iterator
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from factories.ready_cluster import ReadyCluster
from fastapi import FastAPI
from fastapi.testclient import TestClient

from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database


@pytest.fixture
def plan(database: Database, clock: Clock) -> Callable[..., dict[str, Any]]:
    """Plans for a cluster of two ready nodes on which fio is missing."""
    with database.transaction() as session:
        ready = ReadyCluster(session, clock(), node_count=2, absent_tools=("fio",))
    return ready.plan


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    """Share one event loop among the clients of this process."""
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture
def client(prepared_app: FastAPI, portal: BlockingPortal) -> TestClient:
    """API client without credentials and without the thread and the listening connection that a process starts."""
    client = TestClient(prepared_app, raise_server_exceptions=False)
    client.portal = portal
    return client
