from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from factories.measured import Measured
from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.kit.db import Database
from iotide_server.kit.errors import InvalidInputError
from iotide_server.results.ingest import service
from iotide_server.results.models import CurveChunk
from iotide_server.runs.models import Order
from iotide_wire.messages import CurvePiece

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


@pytest.fixture
def order(session: Session) -> Order:
    measured = Measured(session, NOW)
    return measured.order(measured.run(measured.cell()))


def piece(first: int, values: Sequence[float], counter: str = "write_bytes_per_second") -> CurvePiece:
    return CurvePiece(
        counter=counter, started_at=NOW + timedelta(seconds=first), step_seconds=1.0, values=tuple(values)
    )


def stored(session: Session, order: Order) -> dict[str, list[list[float]]]:
    session.expire_all()
    rows = session.scalars(select(CurveChunk).where(CurveChunk.order_id == order.id).order_by(CurveChunk.started_at))
    curves: dict[str, list[list[float]]] = {}
    for row in rows:
        curves.setdefault(row.counter, []).append(row.values)
    return curves


def test_a_heartbeat_each_second_fills_few_rows(session: Session, order: Order) -> None:
    for second in range(650):
        service.store_curves(session, order.id, [piece(second, [second]), piece(second, [0.5], "cpu_user_ratio")])
    curves = stored(session, order)
    assert curves["write_bytes_per_second"] == [list(range(600)), list(range(600, 650))]
    assert [len(values) for values in curves["cpu_user_ratio"]] == [600, 50]


def test_an_unacknowledged_piece_that_comes_again_with_more_is_stored_once(session: Session, order: Order) -> None:
    service.store_curves(session, order.id, [piece(0, [1, 2])])
    service.store_curves(session, order.id, [piece(0, [1, 2, 3]), piece(3, [4])])
    service.store_curves(session, order.id, [piece(3, [4])])
    assert stored(session, order) == {"write_bytes_per_second": [[1, 2, 3, 4]]}


def test_pieces_that_arrive_out_of_order_are_all_kept(session: Session, order: Order) -> None:
    service.store_curves(session, order.id, [piece(4, [5, 6])])
    service.store_curves(session, order.id, [piece(2, [3, 4])])
    service.store_curves(session, order.id, [piece(0, [1, 2])])
    rows = stored(session, order)["write_bytes_per_second"]
    assert [value for row in rows for value in row] == [1, 2, 3, 4, 5, 6]


def test_orders_do_not_share_rows(session: Session, order: Order) -> None:
    other = Order(attempt_id=order.attempt_id, run_id=order.run_id, node_id=order.node_id, role="observe")
    session.add(other)
    session.flush()
    service.store_curves(session, order.id, [piece(0, [1])])
    service.store_curves(session, other.id, [piece(0, [2])])
    assert stored(session, order) == {"write_bytes_per_second": [[1]]}
    assert stored(session, other) == {"write_bytes_per_second": [[2]]}


def test_nothing_is_stored_of_a_heartbeat_with_an_impossible_value(session: Session, order: Order) -> None:
    with pytest.raises(InvalidInputError):
        service.store_curves(session, order.id, [piece(0, [1]), piece(1, [float("nan")])])
    assert stored(session, order) == {}


def test_concurrent_heartbeats_store_each_second_once(database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        order = measured.order(measured.run(measured.cell()))

    def heartbeat(first: int) -> None:
        with database.transaction() as session:
            service.store_curves(session, order.id, [piece(first, range(first, first + 10))])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(heartbeat, [*range(0, 100, 5), *range(0, 100, 5)]))
    with database.transaction() as session:
        values = [value for row in stored(session, order)["write_bytes_per_second"] for value in row]
    assert sorted(values) == list(range(105))
