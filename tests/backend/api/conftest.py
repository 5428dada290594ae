from collections.abc import Callable
from typing import Any

import pytest
from factories.ready_cluster import ReadyCluster

from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database


@pytest.fixture
def plan(database: Database, clock: Clock) -> Callable[..., dict[str, Any]]:
    """Plans for a cluster of two ready nodes on which fio is missing."""
    with database.transaction() as session:
        ready = ReadyCluster(session, clock(), node_count=2, absent_tools=("fio",))
    return ready.plan
