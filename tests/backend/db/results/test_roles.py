"""Results measured between two nodes: each node's own numbers, labelled by sender, and no sum of both ends."""

from datetime import UTC, datetime, timedelta

import pytest
from factories.measured import Measured, finish, sample, step
from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Cell
from iotide_server.clusters.models import Node
from iotide_server.results.models import Point, Series
from iotide_server.trends.points.service import recompute_points
from iotide_wire.messages import FinishRequest

NOW = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


def between(measured: Measured) -> tuple[Cell, Node, Node]:
    """A cell in which the first node sends and the second receives."""
    cell = measured.cell()
    receiver = measured.add_node(f"node{cell.id}", cell)
    measured.send_from(measured.node, cell)
    return cell, measured.node, receiver


def result(rate: float, operation: str, *, late: float = 0.0, seconds: float = 100.0) -> FinishRequest:
    ran = step(operation, "stream", NOW, seconds)
    one = finish(NOW, sample(rate, operation=operation))
    return one.model_copy(update={"started_at": NOW + timedelta(seconds=late), "steps": (ran,)})


def labels(session: Session) -> list[dict[str, object]]:
    return [dict(one) for one in session.scalars(select(Series.labels).order_by(Series.id))]


def test_both_ends_have_numbers_of_their_own_with_the_name_of_the_sender(session: Session, measured: Measured) -> None:
    cell, sender, receiver = between(measured)
    measured.deliver_together(cell, {sender.id: result(100, "send"), receiver.id: result(90, "record")})
    recompute_points(session, cell.id)
    assert labels(session) == [
        {"operation": "send", "sender": "node1"},
        {"operation": "record", "sender": "node1"},
    ]
    assert sorted(session.scalars(select(Point.median))) == [90, 100]


def test_sent_and_received_values_are_never_added_up(session: Session, measured: Measured) -> None:
    cell, sender, receiver = between(measured)
    measured.deliver_together(cell, {sender.id: result(100, "copy"), receiver.id: result(90, "copy")})
    recompute_points(session, cell.id)
    assert all("nodes" not in one for one in labels(session))


def test_there_and_back_are_two_series(session: Session, measured: Measured) -> None:
    cell, sender, receiver = between(measured)
    measured.deliver_together(cell, {sender.id: result(100, "send"), receiver.id: result(90, "record")})
    measured.send_from(receiver, cell)
    measured.deliver_together(cell, {receiver.id: result(50, "send"), sender.id: result(40, "record")})
    found = labels(session)
    assert len(found) == 4
    assert {one["sender"] for one in found} == {sender.name, receiver.name}


def test_a_receiver_that_starts_late_or_reads_back_for_long_is_no_straggler(
    session: Session, measured: Measured
) -> None:
    cell, sender, receiver = between(measured)
    late = result(90, "record", late=5.0, seconds=900.0)
    run = measured.deliver_together(cell, {sender.id: result(100, "send"), receiver.id: late})
    session.refresh(run)
    assert run.flags == []
