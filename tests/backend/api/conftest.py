from collections.abc import Callable
from typing import Any

import pytest
from factories.ready_cluster import ReadyCluster
from schemathesis.pytest.plugin import SchemathesisFunction

from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives the test of each operation an id of its own, of which pytest-xdist runs one test.

    Since pytest 9.2 an id is made of the function's name, and what Schemathesis puts behind that is lost.
    """
    for item in items:
        if isinstance(item, SchemathesisFunction) and item.parent is not None:
            item._id = item.parent.id.child(item.name)


@pytest.fixture
def plan(database: Database, clock: Clock) -> Callable[..., dict[str, Any]]:
    """Plans for a cluster of two ready nodes on which fio is missing."""
    with database.transaction() as session:
        ready = ReadyCluster(session, clock(), node_count=2, absent_tools=("fio",))
    return ready.plan
