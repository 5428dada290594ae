"""Attacks have the fixtures of the server's tests, and nodes at work."""

from collections.abc import Callable, Iterator

import pytest
from backend.fixtures import *
from factories.clock import MovedClock
from factories.invariants import violations
from factories.site import Site

from iotide_server.kit.db import Database


@pytest.fixture
def make_plant(database: Database, clock: MovedClock) -> Iterator[Callable[..., Site]]:
    """Makes nodes at work; after the test, its rows are held against the rules that always hold."""
    yield lambda **wanted: Site(database, clock, **wanted)
    with database.transaction() as session:
        assert violations(session) == {}


@pytest.fixture
def plant(make_plant: Callable[..., Site]) -> Site:
    """Two nodes."""
    return make_plant()
