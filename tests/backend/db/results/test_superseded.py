"""Results that an older agent measured with the wrong clock: kept with their run, and apart from right numbers."""

from datetime import UTC, datetime

import pytest
from factories.measured import Measured, finish, sample
from factories.people import ADMIN
from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.kit.pagination import PageRequest
from iotide_server.results import reading
from iotide_server.results.figures import measurements
from iotide_server.results.figures.measurements import MeasureChoice
from iotide_server.results.ingest import rereading
from iotide_server.results.models import Point, RunHeadline, Series
from iotide_server.results.schemas import SeriesFilter
from iotide_server.runs.models import Order, Run
from iotide_server.trends.points.service import recompute_points
from iotide_server.workloads.models import Workload
from iotide_wire.catalogue import MetricSpec
from iotide_wire.measured import SampleMessage
from iotide_wire.reading import OrderReading, RunReading
from iotide_wire.units import Unit

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


def metrics(*, primary: bool) -> list[dict[str, object]]:
    names = ("total_throughput", "throughput") if primary else ("throughput", "total_throughput")
    specs = [
        MetricSpec(
            name=name,
            title=name,
            unit=Unit.BYTES_PER_SECOND,
            better="higher",
            labels=("operation", "writer"),
            primary=primary,
        )
        for name in names
    ]
    waits = MetricSpec(name="wait", title="Wait", unit=Unit.SECONDS, better="lower", labels=())
    return [spec.model_dump(mode="json") for spec in (*specs, waits)]


@pytest.fixture
def measured(session: Session) -> Measured:
    """A node with an agent that has revision 1 of dd; the catalogue knows revision 2 too."""
    measured = Measured(session, NOW)
    measured.workload.metrics = metrics(primary=False)
    columns = {column.name: getattr(measured.workload, column.name) for column in Workload.__table__.columns}
    del columns["id"]
    session.add(Workload(**columns | {"revision": 2, "metrics": metrics(primary=True)}))
    session.flush()
    return measured


def rate(value: float, **labels: str | float) -> SampleMessage:
    return sample(value, "throughput", operation="write", **labels)


def total(value: float) -> SampleMessage:
    return sample(value, "total_throughput", operation="write")


def known_by(session: Session, run: Run) -> tuple[str, float]:
    statement = select(Series.metric, RunHeadline.value).join(RunHeadline, RunHeadline.series_id == Series.id)
    row = session.execute(statement.where(RunHeadline.run_id == run.id)).one()
    return row.metric, row.value


def points(session: Session) -> dict[str, float]:
    session.expire_all()
    rows = session.execute(select(Series.metric, Point.median).join(Point, Point.series_id == Series.id))
    return {row.metric: row.median for row in rows}


def test_a_total_by_the_wrong_clock_has_no_points_and_is_no_headline(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    run = measured.deliver(cell, finish(NOW, rate(1230.0), total(186.0)))
    recompute_points(session, cell.id)
    assert known_by(session, run) == ("throughput", 1230.0)
    assert points(session) == {"throughput": 1230.0}
    shown = {one.metric: one.superseded for one in reading.run_samples(session, run.id)}
    assert shown["throughput"] is None
    assert "node's clock" in str(shown["total_throughput"])
    listed = reading.list_series(session, ADMIN, SeriesFilter(), PageRequest(50, None)).rows
    assert [row.metric for row in listed] == ["throughput"]
    [of_total] = session.scalars(select(Series).where(Series.metric == "total_throughput"))
    assert "node's clock" in str(reading.series(session, ADMIN, of_total.id).superseded)


def test_a_right_total_begins_a_series_of_its_own(session: Session, measured: Measured) -> None:
    cell = measured.cell(writers=2)
    run = measured.deliver(cell, finish(NOW, rate(600.0, writer=1), rate(610.0, writer=2), total(186.0)))
    recompute_points(session, cell.id)
    order = session.scalars(select(Order).where(Order.run_id == run.id)).one()
    again = OrderReading(
        order_id=order.id, samples=(total(1190.0), rate(600.0, writer=1), rate(610.0, writer=2)), flags=()
    )
    rereading.read_again(
        session, ADMIN, run.id, RunReading(workload_revision=2, parser_version="0.4.0", orders=(again,)), NOW
    )
    recompute_points(session, cell.id)
    assert known_by(session, run) == ("total_throughput", 1190.0)
    assert points(session)["total_throughput"] == 1190.0
    marks = session.execute(
        select(Series.superseded).where(Series.metric == "total_throughput").order_by(Series.superseded)
    )
    assert [row.superseded for row in marks] == ["", "node_clock"]
    assert [one.superseded for one in reading.run_samples(session, run.id)] == [None] * 3


@pytest.mark.parametrize(("has_total", "expected"), [(True, ("total_throughput", 3.0)), (False, ("throughput", 1.0))])
def test_a_run_is_known_by_the_first_primary_metric_that_it_has(
    session: Session, measured: Measured, expected: tuple[str, float], *, has_total: bool
) -> None:
    measured.workload.revision, measured.workload.schema_sha256 = 3, "other"
    measured.workload.metrics = metrics(primary=True)
    cell = measured.cell()
    parts = [rate(1.0, writer=1), rate(1.0, writer=2)]
    run = measured.deliver(cell, finish(NOW, sample(5.0, "wait"), *parts, *([total(3.0)] if has_total else [])))
    recompute_points(session, cell.id)
    assert known_by(session, run) == expected


def test_a_campaign_lists_its_primary_metrics(session: Session, measured: Measured) -> None:
    measured.workload.metrics = metrics(primary=True)
    cell = measured.cell()
    measured.deliver(cell, finish(NOW, rate(1.0), sample(5.0, "wait")))
    recompute_points(session, cell.id)
    found = measurements.campaign_measures(session, cell.campaign_id).metrics
    assert {metric.metric: metric.is_primary for metric in found} == {"throughput": True, "wait": False}


def test_a_part_that_scatters_marks_no_run(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    for wait in (1.0, 1.0, 1.0, 9.0):
        run = measured.deliver(cell, finish(NOW, rate(100.0), sample(wait, "wait")))
    recompute_points(session, cell.id)
    session.refresh(run)
    assert run.flags == []


def test_a_figure_of_totals_has_the_rate_of_one_writer_too(session: Session, measured: Measured) -> None:
    measured.workload.revision = 3
    campaign = measured.campaign()
    one, two = measured.cell(campaign), measured.cell(campaign, writers=2)
    measured.deliver(one, finish(NOW, rate(10.0)))
    measured.deliver(two, finish(NOW, rate(9.0, writer=1), rate(9.0, writer=2), total(17.0)))
    choice, whole = MeasureChoice(metric="total_throughput"), PageRequest(50, None)
    shown = measurements.page_of_cells(session, campaign.id, choice, whole).items
    assert [[found.median for found in cell.measurements] for cell in shown] == [[10.0], [17.0]]
    compared = measurements.measured_cells(session, campaign.id, choice, whole).items
    assert [len(cell.measurements) for cell in compared] == [0, 1]
