from datetime import UTC, datetime, timedelta

import pytest
from factories.measured import Measured, finish, sample, step
from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Cell
from iotide_server.clusters.models import Node
from iotide_server.kit.pagination import PageRequest
from iotide_server.results.figures.measurements import MeasureChoice, measured_cells
from iotide_server.results.models import Environment, Point, RunHeadline, Series
from iotide_server.runs.models import Run
from iotide_server.trends.points.service import recompute_points
from iotide_wire.measured import SampleMessage
from iotide_wire.messages import FinishRequest

NOW = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


@pytest.fixture
def gang(measured: Measured) -> tuple[Cell, Node, Node]:
    """A cell of two nodes."""
    cell = measured.cell()
    return cell, measured.node, measured.add_node("node2", cell)


def points(session: Session, metric: str = "write_rate") -> dict[str, tuple[float, int]]:
    """Return median and number of runs of each point, by the labels of its series."""
    rows = session.execute(
        select(Series.labels, Point).join(Point, Point.series_id == Series.id).where(Series.metric == metric)
    )
    return {str(labels): (point.median, point.run_count) for labels, point in rows}


def result(*samples: SampleMessage, late: float = 0.0, seconds: float = 100.0, kernel: str = "6.1.0") -> FinishRequest:
    one = finish(NOW, *samples, environment={"kernel.release": kernel})
    return one.model_copy(
        update={"started_at": NOW + timedelta(seconds=late), "steps": (step("write", "dd", NOW, seconds),)}
    )


def test_the_rates_of_the_nodes_have_their_sum_in_a_series_of_its_own(
    session: Session, measured: Measured, gang: tuple[Cell, Node, Node]
) -> None:
    cell, one, two = gang
    for minutes, (first, second) in enumerate([(100.0, 60.0), (104.0, 62.0)]):
        both = {
            one.id: result(sample(first, operation="write")),
            two.id: result(sample(second, operation="write")),
        }
        measured.deliver_together(cell, both, minutes=minutes)
    recompute_points(session, cell.id)
    assert points(session) == {
        "{'operation': 'write'}": (81.5, 2),
        "{'nodes': 'all', 'operation': 'write'}": (163.0, 2),
    }
    recompute_points(session, cell.id)
    assert len(points(session)) == 2


def test_only_rates_of_all_writers_have_a_sum(
    session: Session, measured: Measured, gang: tuple[Cell, Node, Node]
) -> None:
    cell, one, two = gang
    own = (sample(3.0, metric="wait", operation="write"), sample(50.0, operation="write", writer="1"))
    measured.deliver_together(cell, {one.id: result(*own), two.id: result(*own)})
    recompute_points(session, cell.id)
    assert points(session, "wait") == {"{'operation': 'write'}": (3.0, 1)}
    assert list(points(session)) == ["{'writer': '1', 'operation': 'write'}"]


def test_a_run_has_no_sum_if_a_node_lacks_the_number(
    session: Session, measured: Measured, gang: tuple[Cell, Node, Node]
) -> None:
    cell, one, two = gang
    measured.deliver_together(
        cell, {one.id: result(sample(100.0, operation="write")), two.id: result(sample(9.0, operation="read"))}
    )
    recompute_points(session, cell.id)
    assert not any("nodes" in labels for labels in points(session))


def test_a_figure_shows_the_sum_and_the_nodes_own_rates(
    session: Session, measured: Measured, gang: tuple[Cell, Node, Node]
) -> None:
    cell, one, two = gang
    measured.deliver_together(cell, {one.id: result(sample(100.0)), two.id: result(sample(60.0))})
    wanted = MeasureChoice(metric="write_rate")
    (shown,) = measured_cells(session, cell.campaign_id, wanted, PageRequest(10, None)).items
    assert {str(one.labels): one.median for one in shown.measurements} == {"{}": 80.0, "{'nodes': 'all'}": 160.0}


def environment(session: Session, run: Run) -> dict[str, object]:
    return dict(session.scalars(select(Environment.facts).where(Environment.sha256 == run.environment_sha256)).one())


def test_the_environment_of_a_gang_is_that_of_each_node_in_whatever_order_they_deliver(
    session: Session, measured: Measured, gang: tuple[Cell, Node, Node]
) -> None:
    cell, one, two = gang
    old, new = result(sample(1.0), kernel="5.14.0"), result(sample(1.0), kernel="6.1.0")
    first = measured.deliver_together(cell, {one.id: old, two.id: new})
    second = measured.deliver_together(cell, {two.id: new, one.id: old}, minutes=1)
    assert environment(session, first) == {"node1/kernel.release": "5.14.0", "node2/kernel.release": "6.1.0"}
    assert first.environment_sha256 == second.environment_sha256


def test_nodes_that_did_not_load_at_the_same_time_are_reported(
    measured: Measured, gang: tuple[Cell, Node, Node]
) -> None:
    cell, one, two = gang
    run = measured.deliver_together(cell, {one.id: result(sample(9.0)), two.id: result(sample(5.0), late=3.0)})
    assert [flag["measured"] for flag in run.flags] == ["node2 started 3 s after node1"]
    run = measured.deliver_together(
        cell, {two.id: result(sample(5.0), seconds=200.0), one.id: result(sample(9.0))}, minutes=1
    )
    assert [(flag["code"], flag["measured"]) for flag in run.flags] == [
        ("STRAGGLER", "node2 took 200 s, the others 100 s")
    ]


def test_a_run_over_several_nodes_is_known_by_the_sum_of_its_nodes(
    session: Session, measured: Measured, gang: tuple[Cell, Node, Node]
) -> None:
    cell, one, two = gang
    run = measured.deliver_together(
        cell, {one.id: result(sample(100.0, operation="write")), two.id: result(sample(60.0, operation="write"))}
    )
    for _ in range(2):
        recompute_points(session, cell.id)
        labels, value = session.execute(
            select(Series.labels, RunHeadline.value).join(Series, Series.id == RunHeadline.series_id)
        ).one()
        assert (labels, value) == ({"operation": "write", "nodes": "all"}, 160.0)
    assert run.state == "finished"


def test_a_run_without_a_sum_of_its_nodes_has_their_median(
    session: Session, measured: Measured, gang: tuple[Cell, Node, Node]
) -> None:
    cell, one, two = gang
    own = {one.id: result(sample(3.0, metric="wait")), two.id: result(sample(5.0, metric="wait"))}
    measured.deliver_together(cell, own)
    recompute_points(session, cell.id)
    assert session.scalars(select(RunHeadline.value)).one() == 4.0
