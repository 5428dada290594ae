import pytest
from factories.clock import MovedClock
from factories.plans import operator

from iotide_server.accounts.roles.principal import Principal
from iotide_server.kit.db import Database


@pytest.fixture
def owner(database: Database, clock: MovedClock) -> Principal:
    return operator(database, clock())
