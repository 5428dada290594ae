"""Values of observing nodes, stored next to those of the loading nodes and never mixed with them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from factories.measured import Measured, finish, sample
from sqlalchemy.orm import Session

from iotide_server.kit.pagination import PageRequest
from iotide_server.results import queries, reading
from iotide_server.results.figures.measurements import MeasureChoice, measured_cells
from iotide_server.results.ingest import service
from iotide_server.results.schemas import Measurement
from iotide_server.runs import repository as run_repository
from iotide_server.runs.models import Order, Run
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.messages import CurvePiece, FinishRequest

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
BUSY = "cpu_user_ratio"


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


def with_curve(result: FinishRequest, values: Sequence[float], *, seconds: float = 0.0) -> FinishRequest:
    piece = CurvePiece(
        counter=BUSY, started_at=NOW + timedelta(seconds=seconds), step_seconds=1.0, values=tuple(values)
    )
    return result.model_copy(update={"curves": (piece,)})


def delivered(measured: Measured) -> Run:
    """A run of four seconds with a load that kept its node half busy."""
    run = measured.deliver(measured.cell(), with_curve(finish(NOW, sample(1.0)), [0.5] * 4))
    run.started_at, run.ended_at = NOW, NOW + timedelta(seconds=4)
    measured.session.flush()
    return run


def measurements(session: Session, run: Run) -> list[Measurement]:
    wanted = MeasureChoice(counter=BUSY)
    (cell,) = measured_cells(session, run.campaign_id, wanted, PageRequest(10, None)).items
    return cell.measurements


def test_the_mean_of_a_counter_is_of_the_loads_and_each_observer_has_its_own(
    session: Session, measured: Measured
) -> None:
    run = delivered(measured)
    measured.observe(run, "server1", with_curve(finish(NOW), [1.0] * 4))
    measured.observe(run, "server2", with_curve(finish(NOW), [0.25] * 4))
    found = {str(one.labels): one.median for one in measurements(session, run)}
    assert found == {"{}": 0.5, "{'observer': 'server1'}": 1.0, "{'observer': 'server2'}": 0.25}


def test_the_mean_of_an_observer_is_that_of_the_time_of_the_load(session: Session, measured: Measured) -> None:
    run = delivered(measured)
    measured.observe(
        run, "server1", with_curve(finish(NOW), [0.0] * 60 + [1.0, 0.5, 0.5, 1.0] + [0.0] * 9, seconds=-60)
    )
    (_, of_server) = measurements(session, run)
    assert (of_server.labels, of_server.median) == ({"observer": "server1"}, 0.75)


def test_an_observer_that_saw_nothing_of_the_load_has_no_mean(session: Session, measured: Measured) -> None:
    run = delivered(measured)
    measured.observe(run, "server1", with_curve(finish(NOW), [1.0] * 4, seconds=60))
    assert [one.labels for one in measurements(session, run)] == [{}]


def test_curves_of_observers_are_among_those_of_the_run(session: Session, measured: Measured) -> None:
    run = delivered(measured)
    observer = measured.observe(run, "server1", with_curve(finish(NOW), [1.0] * 4))
    curves = {curve.order_id: curve.values for curve in reading.thinned_curves(session, run.id, 100, None)}
    assert curves.pop(observer.id) == [1.0] * 4
    assert list(curves.values()) == [[0.5] * 4]


def test_facts_of_an_observer_are_not_the_environment_of_the_run(session: Session, measured: Measured) -> None:
    run = delivered(measured)
    before = run.environment_sha256
    observer = measured.observe(run, "server1", finish(NOW, environment={"kernel.release": "5.10"}))
    (said,) = queries.observations(session, run.id)
    assert (said.order_id, said.node_name, said.environment) == (observer.id, "server1", {"kernel.release": "5.10"})
    assert run.environment_sha256 == before
    assert dict(queries.environment(session, run.environment_sha256)) == {"kernel.release": "6.1.0"}


def test_flags_of_an_earlier_attempt_go_though_an_observer_delivered_first(
    session: Session, measured: Measured
) -> None:
    run = measured.run(measured.cell())
    order = measured.order(run)
    run.flags = [Flag(code=FlagCode.STEADY, effect=FlagEffect.MARKED, measured="1", limit="2").model_dump(mode="json")]
    measured.observe(run, "server1", finish(NOW))
    service.ingest(session, order, finish(NOW, sample(1.0)), NOW)
    assert run.flags == []


def test_only_orders_that_loaded_are_read_again(session: Session, measured: Measured) -> None:
    run = delivered(measured)
    measured.observe(run, "server1", finish(NOW))
    (loading,) = run_repository.last_orders(session, run.id)
    assert (loading.role, session.query(Order).filter_by(run_id=run.id).count()) == ("load", 2)
