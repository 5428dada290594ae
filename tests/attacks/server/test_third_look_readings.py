"""An operator who reparses a run again and again: the stored bytes count to a node's day and are limited."""

from typing import Final

import pytest
from factories.announced import NOW
from factories.measured import Measured, finish, sample
from factories.raised import raised
from sqlalchemy import text

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.clusters.models import NodeHeartbeat
from iotide_server.kit.db import Database
from iotide_server.results.errors import DAY_FULL, REPORT_TOO_LARGE
from iotide_server.results.ingest import rereading
from iotide_server.results.ingest.limits import ReportLimits
from iotide_wire.reading import OrderReading, RunReading

EVE: Final = Principal(PrincipalKind.USER, None, "eve", grants={None: Role.OPERATOR})
FEW: Final = ReportLimits(new_series_a_day=5)


@pytest.fixture
def run_id(database: Database) -> int:
    """Make a run with one number."""
    with database.transaction() as session:
        measured = Measured(session, NOW)
        measured.node.agent_version = "0.1.0"
        session.add(NodeHeartbeat(node_id=measured.node.id, seen_at=NOW))
        return measured.deliver(measured.cell(), finish(NOW, sample(100.0, operation="first"))).id


def stored(database: Database, statement: str) -> object:
    with database.transaction() as session:
        return session.scalar(text(statement))


def read_again(database: Database, run_id: int, version: int, *names: str, limits: ReportLimits = FEW) -> None:
    samples = tuple(sample(1.0 + version, operation=name) for name in names)
    order = {"order_id": stored(database, "SELECT max(order_id) FROM reading"), "samples": samples, "flags": ()}
    of_order = OrderReading.model_validate(order)
    said = RunReading(workload_revision=1, parser_version=f"0.{version}", orders=(of_order,))
    with database.transaction() as session:
        rereading.read_again(session, EVE, run_id, said, NOW, limits=limits)


def test_series_that_readings_begin_count_to_the_day_of_the_node(database: Database, run_id: int) -> None:
    read_again(database, run_id, 1, "first", "a", "b")
    read_again(database, run_id, 2, "a", "b", "c")
    read_again(database, run_id, 3, "a", "b", "c")
    with raised(REPORT_TOO_LARGE) as refusal:
        read_again(database, run_id, 4, "c", "d", "e", "f")
    assert (refusal.value.field, refusal.value.value) == ("orders[0].samples", 6)
    assert stored(database, "SELECT count(*) FROM series") == 1 + 3
    read_again(database, run_id, 5, "d", "e")


def test_bytes_of_readings_count_to_the_day_of_the_node(database: Database, run_id: int) -> None:
    few_bytes = ReportLimits(raw_bytes_a_day=1_000)

    def read_often() -> None:
        for version in range(2, 12):
            read_again(database, run_id, version, "a", "b", limits=few_bytes)

    read_again(database, run_id, 1, "a", "b", limits=few_bytes)
    with raised(DAY_FULL) as refusal:
        read_often()
    assert refusal.value.field == "orders[0]"
    assert str(refusal.value.remedy).startswith("wait until tomorrow (UTC)")


def test_of_very_many_readings_of_an_order_the_nodes_own_and_the_newest_are_kept(
    database: Database, run_id: int
) -> None:
    for version in range(30):
        read_again(database, run_id, version, "a")
    assert stored(database, "SELECT array_agg(ordinal ORDER BY ordinal) FROM reading") == [1, *range(13, 32)]
    assert stored(database, "SELECT samples IS NULL FROM reading ORDER BY ordinal DESC LIMIT 1")
