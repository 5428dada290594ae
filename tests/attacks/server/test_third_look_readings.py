"""An operator who reads a run again and again: what that stores is bounded."""

from typing import Final

import pytest
from factories.announced import NOW
from factories.measured import Measured, finish, sample
from sqlalchemy import text

from iotide_server.accounts.models import Role
from iotide_server.accounts.principal import Principal, PrincipalKind
from iotide_server.kit.db import Database
from iotide_server.results import rereading
from iotide_wire.reading import OrderReading, RunReading

EVE: Final = Principal(PrincipalKind.USER, None, "eve", grants={None: Role.OPERATOR})


@pytest.fixture
def run_id(database: Database) -> int:
    """Make a run with one number."""
    with database.transaction() as session:
        measured = Measured(session, NOW)
        measured.node.agent_version = "0.1.0"
        return measured.deliver(measured.cell(), finish(NOW, sample(100.0, operation="first"))).id


def stored(database: Database, statement: str) -> object:
    with database.transaction() as session:
        return session.scalar(text(statement))


def read_again(database: Database, run_id: int, version: int, *names: str) -> None:
    samples = tuple(sample(1.0 + version, operation=name) for name in names)
    order = {"order_id": stored(database, "SELECT max(order_id) FROM reading"), "samples": samples, "flags": ()}
    of_order = OrderReading.model_validate(order)
    said = RunReading(workload_revision=1, parser_version=f"0.{version}", orders=(of_order,))
    with database.transaction() as session:
        rereading.read_again(session, EVE, run_id, said, NOW)


def test_of_very_many_readings_of_an_order_the_nodes_own_and_the_newest_are_kept(
    database: Database, run_id: int
) -> None:
    for version in range(30):
        read_again(database, run_id, version, "a")
    assert stored(database, "SELECT array_agg(ordinal ORDER BY ordinal) FROM reading") == [1, *range(13, 32)]
    assert stored(database, "SELECT samples IS NULL FROM reading ORDER BY ordinal DESC LIMIT 1")
